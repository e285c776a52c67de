# SPDX-License-Identifier: Apache-2.0
"""Equal initializers are found wherever their values are: in the message, left in the source, or in another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnx_lint import schema
from onnx_lint.common.record import replace
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.tensors.equal import find_equal_initializers
from onnx_lint.loader import load

LENGTH = 40_000
"""More bytes than the first piece that is compared."""

ZEROS = b"\0" * LENGTH
VALUES = {"a": ZEROS, "b": ZEROS, "c": ZEROS[1:] + b"\1", "d": ZEROS[1:] + b"\1"}


def _proto(directory: Path | None):
    model = schema.message("ModelProto")(ir_version=10)
    offset, whole = 0, b""
    for name, values in VALUES.items():
        tensor = model.graph.initializer.add(name=name, data_type=2, dims=[LENGTH])
        if directory is None:
            tensor.raw_data = values
            continue
        tensor.data_location = 1
        entries = {"location": "weights", "offset": str(offset), "length": str(LENGTH)}
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=value)
        whole += values
        offset += LENGTH
    if directory is not None:
        (directory / "weights").write_bytes(whole)
    return model


def _found(directory: Path | None, least: int = 1, limits=DEFAULT_LIMITS, uses: str = "") -> list[tuple[int, int, int]]:
    proto = _proto(directory)
    proto.graph.node.add(op_type="Sum", input=uses)
    source = BytesSource(proto.SerializeToString())
    model = load(source, "model.onnx", directory=str(directory) if directory else None, limits=limits)
    found = find_equal_initializers(model.graphs, model.source, model.payloads, model.data_folder, least)
    return [(each.first, each.index, each.bytes) for each in found]


@pytest.mark.parametrize("is_outside", [False, True])
def test_values_are_compared_to_the_end(tmp_path, is_outside):
    assert _found(tmp_path if is_outside else None) == [(0, 1, LENGTH), (2, 3, LENGTH)]


def test_the_one_that_is_used_first_stays_whatever_the_order_of_initializers():
    assert _found(None, uses="bacd") == [(1, 0, LENGTH), (2, 3, LENGTH)]


def test_small_ones_are_left_out():
    assert _found(None, LENGTH) == [(0, 1, LENGTH), (2, 3, LENGTH)]
    assert _found(None, LENGTH + 1) == []


def test_a_file_is_read_up_to_the_limit(tmp_path):
    assert _found(tmp_path, limits=replace(DEFAULT_LIMITS, external_bytes=LENGTH)) == []
