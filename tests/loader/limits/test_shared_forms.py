# SPDX-License-Identifier: Apache-2.0
"""The parts that nodes share are known before they are parsed."""

from __future__ import annotations

import pytest
from support.wire.wire_bytes import length

from onnx_lint import schema
from onnx_lint.loader.limits.shared_forms import NotSharedError, SharedForms


def _node(output: str, **fields: str) -> bytes:
    return schema.message("NodeProto")(input=["x"], output=[output], op_type="Relu", **fields).SerializeToString()


def test_the_second_node_of_a_form_shares_it():
    forms = SharedForms()
    first = forms.split(_node("a"))
    assert (first.own, first.is_shared) == (_node("a"), False)
    second = forms.split(_node("b", name="n"))
    assert second.is_shared
    assert second.saved_bytes > 0
    assert second.own == schema.message("NodeProto")(input=["x"], output=["b"], name="n").SerializeToString()
    assert not forms.split(_node("c", domain="d")).is_shared


def test_a_type_is_new_once():
    forms = SharedForms()
    assert sorted(forms.new_types([b"a", b"b", b"a", b""])) == [b"a", b"b"]
    assert forms.new_types([b"b", b"c"]) == [b"c"]


@pytest.mark.parametrize(
    "node",
    [
        pytest.param(length(4, "Relu") + length(1, "x"), id="order"),
        pytest.param(b"\x0a\x81\x00x", id="a length that is too long"),
        pytest.param(b"\x0a\x05x", id="cut"),
        pytest.param(length(99, "x"), id="unknown field"),
    ],
)
def test_other_encodings_are_not_shared(node: bytes):
    with pytest.raises(NotSharedError):
        SharedForms().split(node)
