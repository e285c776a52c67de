# SPDX-License-Identifier: Apache-2.0
"""The numbers of constants, in every encoding."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.project.sampled import one_in

from onnx_lint import lint
from onnx_lint.inference.shapes import attribute_values
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.columns.tensor_encodings import may_be_nan, may_hold_nan
from onnx_lint.ir.parts import Tensor
from onnx_lint.ir.tensors import wire_values
from onnx_lint.ir.tensors.numbers import Constants, in_words, small_constant
from onnx_lint.loader import load
from onnx_lint.loader.binary import strip_payloads
from onnx_lint.model import ROOT

KINDS = {"float": 1, "half": 10, "double": 11, "brain": 16}
NUMBERS = [1.0, -0.5, math.inf, -math.inf, 0.0]


def _tensors(kind: int, numbers: list[float]) -> list[TensorProto]:
    typed = helper.make_tensor("t", kind, [len(numbers)], numbers)
    array = np.asarray(numbers, helper.tensor_dtype_to_np_dtype(kind))
    return [typed, numpy_helper.from_array(array, "t")]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_each_encoding_is_read_and_a_nan_is_never_overlooked(kind: int) -> None:
    graph = load(BytesSource(onnx.ModelProto(ir_version=10).SerializeToString())).main_graph
    for numbers in (NUMBERS, [*NUMBERS, math.nan], [-math.nan]):
        for tensor in _tensors(kind, numbers):
            found = small_constant(Tensor(tensor, ROOT, graph, ()), BytesSource(b""), "t")
            assert found is not None
            assert found.has_nan == any(map(math.isnan, numbers))
            assert [each for each in found.read() if each == each] == [each for each in numbers if each == each]
            for data in (tensor.SerializeToString(), tensor.raw_data):
                assert not found.has_nan or not data or may_hold_nan(kind, data)
            assert may_be_nan(tensor, tensor.raw_data) >= found.has_nan


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_what_the_loader_leaves_in_a_large_file_is_read_as_well(kind: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    for tensor in _tensors(kind, [1.0] * 7_000 + [math.nan]):
        node = helper.make_node("Add", ["x", "t"], ["y"])
        values = [helper.make_tensor_value_info(name, kind, [7_001]) for name in "xy"]
        model = helper.make_model(helper.make_graph([node], "g", values[:1], values[1:], [tensor]), producer_name="us")
        [found] = lint(model.SerializeToString()).of_rule("impossible-number")
        assert found.message == "element 7,000 of tensor 't' of main graph 'g' is NaN"


@pytest.mark.parametrize("kind", [2, 3, 4, 5, 6, 7, 12, 13])
def test_integers_are_read_in_each_encoding(kind: int, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = np.iinfo(helper.tensor_dtype_to_np_dtype(kind))
    numbers = np.array([limits.min, *[7] * 7_000, limits.max], limits.dtype)
    raw = numpy_helper.from_array(numbers, "c")
    for tensor in (raw, helper.make_tensor("c", kind, numbers.shape, numbers.tolist())):
        for least in (strip_payloads.WHOLE_BYTES, 0):  # with 0 the loader leaves the values in the file
            monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", least)
            graph = helper.make_graph([helper.make_node("Identity", ["c"], ["y"])], "g", [], [], [tensor])
            model = load(BytesSource(helper.make_model(graph).SerializeToString()))
            found = Constants(model.source, model.payloads).of(model.main_graph, "c")
            assert found is not None
            assert (found.least, found.greatest, [*found.read()]) == (limits.min, limits.max, numbers.tolist())


@one_in(2)
def test_long_lists_in_attributes_are_not_copied(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """A list may be as long as the file, and a float of Python takes eight times as many bytes."""
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    monkeypatch.setattr(wire_values, "PIECE_BYTES", 1 << 16)
    monkeypatch.setattr(attribute_values, "_MAX_LISTED", 1_000)
    count = 500_000 // step
    values = [0.5] * count
    for last, messages in ((0.5, []), (math.nan, [f"element {count - 1:,} of attribute 'value_floats'"])):
        values[-1] = last
        nodes = [
            helper.make_node("Constant", [], ["s"], value_floats=values),
            helper.make_node("QuantizeLinear", ["x", "s"], ["y"]),
        ]
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [count])
        taken = helper.make_tensor_value_info("y", TensorProto.UINT8, [count])
        graph = helper.make_graph(nodes, "g", [given], [taken])
        data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()
        lint(data)  # imports what it needs
        tracemalloc.start()
        try:
            found = lint(data).of_rule("impossible-number")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert [each.message.partition(" of unnamed")[0] for each in found] == messages
        assert peak < 2_000_000 + 16 * count


def test_numbers_that_are_not_finite_have_words() -> None:
    assert [*map(in_words, (1e-12, math.inf, -math.inf, math.nan))] == ["1e-12", "+infinity", "-infinity", "NaN"]
