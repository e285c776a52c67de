# SPDX-License-Identifier: Apache-2.0
"""The first of many tensors are kept, and the others are made again at each use, with the same content."""

from __future__ import annotations

import pytest

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.tensors import suspects
from onnx_lint.loader import load
from onnx_lint.model import Model

COUNT = 6


def external_tensors(most_kept: int, monkeypatch: pytest.MonkeyPatch) -> Model:
    monkeypatch.setattr(suspects, "MAX_KEPT", most_kept)
    model = schema.message("ModelProto")(ir_version=10)
    for index in range(COUNT):
        tensor = model.graph.initializer.add(name=f"w{index}", data_type=1, dims=[1], data_location=1)
        tensor.external_data.add(key="location", value=f"{index}.bin")
    node = model.graph.node.add(op_type="Constant", output=["y"])
    node.attribute.add(name="value", type="TENSOR").t.MergeFrom(model.graph.initializer[0])
    return load(BytesSource(model.SerializeToString()))


@pytest.mark.parametrize("most_kept", [0, 2, 100])
def test_tensors_are_the_same_whether_they_are_kept_or_not(most_kept: int, monkeypatch: pytest.MonkeyPatch):
    found = external_tensors(most_kept, monkeypatch).tensors.external
    expected = [*(f"graph.initializer[{index}]" for index in range(COUNT)), "graph.node[0].attribute[0].t"]
    assert [str(tensor.place) for tensor in found] == expected
    assert [tensor.proto.name for tensor in found] == [*(f"w{index}" for index in range(COUNT)), "w0"]
    assert len(found) == len(expected)


def test_only_the_first_ones_are_kept(monkeypatch: pytest.MonkeyPatch):
    found = external_tensors(2, monkeypatch).tensors.external
    again = zip(found, found, strict=True)
    assert [one is other for one, other in again] == [True] * 2 + [False] * (COUNT - 1)


@pytest.mark.parametrize("most_kept", [0, 100])
def test_external_data_says_the_same_of_tensors_that_are_made_again(most_kept: int, monkeypatch: pytest.MonkeyPatch):
    found = external_tensors(most_kept, monkeypatch).external_data
    assert [data.location for data in found] == [*(f"{index}.bin" for index in range(COUNT)), "0.bin"]
    assert [data.get("location") for data in found] == [data.location for data in found]
    assert {data.get("offset") for data in found} == {None}
    assert str(found[3].entry_place("location")) == "graph.initializer[3].external_data[0]"
