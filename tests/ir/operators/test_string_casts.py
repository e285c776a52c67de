# SPDX-License-Identifier: Apache-2.0
"""Constant strings that a Cast reads as numbers; what float() of Python or strtod of C read is a number."""

from __future__ import annotations

import onnx
import pytest
from onnx import helper
from support.models.loader_samples import loaded

from onnx_lint.ir.operators.string_casts import string_casts


def _faults(strings: list[bytes], to: int, *nodes: onnx.NodeProto, **constant: object) -> list[tuple[int, bytes]]:
    nodes = nodes or (helper.make_node("Cast", ["x"], ["y"], to=to),)
    if constant:
        nodes = (helper.make_node("Constant", [], ["x"], **constant), *nodes)
    tensor = helper.make_tensor("x", onnx.TensorProto.STRING, [len(strings)], strings)
    output = helper.make_tensor_value_info("y", to, [len(strings)])
    like = helper.make_tensor_value_info("like", to, [1])
    model = helper.make_model(helper.make_graph(nodes, "g", [like], [output], [] if constant else [tensor]))
    read = loaded(model.SerializeToString())
    found = string_casts(read.operators, lambda name, graph: read.value_flow.fact_of(name, graph).kind)
    return [(each.index, each.string) for each in found]


@pytest.mark.parametrize("text", ["3.14", "-1e-5", "1E8", "+INF", "nan", " 7 ", "0x1p3", ".5", "100.5", "Infinity"])
def test_a_number_has_no_fault(text: str):
    assert _faults([text.encode()], onnx.TensorProto.FLOAT) == []


@pytest.mark.parametrize("text", ["Hello World!", "", "1,5", "1.2.3", "--1", "\udcff"])
def test_a_text_has_a_fault(text: str):
    data = text.encode("utf-8", "surrogateescape")
    assert _faults([b"1", data], onnx.TensorProto.INT64) == [(1, data)]


def test_a_string_may_be_any_text():
    assert _faults([b"a"], onnx.TensorProto.STRING) == []


def test_a_text_is_no_boolean():
    assert _faults([b"1", b"true"], onnx.TensorProto.BOOL) == [(1, b"true")]


@pytest.mark.parametrize(("to", "found"), [(onnx.TensorProto.FLOAT, [(0, b"a")]), (onnx.TensorProto.STRING, [])])
def test_castlike_has_the_type_of_its_second_input(to: int, found: list[tuple[int, bytes]]):
    assert _faults([b"a"], to, helper.make_node("CastLike", ["x", "like"], ["y"])) == found


def test_a_long_list_is_read_to_its_end():
    strings = [b"1"] * 100_000 + [b"a"]
    assert _faults(strings, onnx.TensorProto.FLOAT) == [(100_000, b"a")]
    assert _faults(strings, onnx.TensorProto.FLOAT, value_strings=strings) == [(100_000, b"a")]


def test_a_constant_is_followed_through_nodes_that_keep_its_elements():
    cast = helper.make_node("Cast", ["b"], ["y"], to=onnx.TensorProto.FLOAT)
    nodes = [helper.make_node("Identity", ["x"], ["a"]), helper.make_node("Flatten", ["a"], ["b"]), cast]
    assert _faults([b"a"], onnx.TensorProto.FLOAT, *nodes, value_string="a") == [(0, b"a")]
    changed = [helper.make_node("StringNormalizer", ["x"], ["b"]), cast]
    assert _faults([b"a"], onnx.TensorProto.FLOAT, *changed, value_string="a") == []
