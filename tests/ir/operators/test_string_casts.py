# SPDX-License-Identifier: Apache-2.0
"""Constant strings that a Cast reads as numbers; what float() of Python or strtod of C read is a number."""

from __future__ import annotations

import onnx
import pytest
from onnx import helper
from support.models.loader_samples import loaded

from onnx_lint.ir.operators.string_casts import string_casts


def _faults(strings: list[bytes], to: int) -> list[tuple[int, bytes]]:
    node = helper.make_node("Cast", ["x"], ["y"], to=to)
    tensor = helper.make_tensor("x", onnx.TensorProto.STRING, [len(strings)], strings)
    output = helper.make_tensor_value_info("y", to, [len(strings)])
    model = helper.make_model(helper.make_graph([node], "g", [], [output], [tensor]))
    return [(each.index, each.string) for each in string_casts(loaded(model.SerializeToString()).operators)]


@pytest.mark.parametrize("text", ["3.14", "-1e-5", "1E8", "+INF", "nan", " 7 ", "0x1p3", ".5", "100.5", "Infinity"])
def test_a_number_has_no_fault(text: str):
    assert _faults([text.encode()], onnx.TensorProto.FLOAT) == []


@pytest.mark.parametrize("text", ["Hello World!", "", "1,5", "1.2.3", "--1", "\udcff"])
def test_a_text_has_a_fault(text: str):
    data = text.encode("utf-8", "surrogateescape")
    assert _faults([b"1", data], onnx.TensorProto.INT64) == [(1, data)]


def test_strings_and_booleans_are_no_numbers():
    assert _faults([b"a"], onnx.TensorProto.STRING) == _faults([b"a"], onnx.TensorProto.BOOL) == []
