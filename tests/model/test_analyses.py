# SPDX-License-Identifier: Apache-2.0
"""What follows from the parts of a model."""

from __future__ import annotations

import pytest
from onnx import FunctionProto, GraphProto, NodeProto
from support.models.model_samples import from_text

from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load

RELU = 'node { op_type: "Relu" input: "x" output: "y" }'
INPUT = (
    'input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_param: "N" } } } } }'
)


def test_shapes_are_followed_when_somebody_asks():
    model = from_text(f"opset_import {{ version: 21 }} graph {{ {RELU} {INPUT} }}")
    assert model.shape_knowledge is None
    assert (model.shape_of("y"), model.shape_of("nothing")) == ((2, "N"), None)
    assert model.shape_knowledge is not None
    assert model.shape_knowledge.unknown == 0


@pytest.mark.parametrize(
    ("document", "stated", "versions"),
    [
        (GraphProto(name="g"), {}, {}),
        (GraphProto(name="g"), {"": 21}, {"": 21}),
        (NodeProto(op_type="Relu"), {"com.example": 3}, {"com.example": 3}),
        # A function says itself what it imports, and its domain is one in which it may stand.
        (FunctionProto(name="F", domain="com.example"), {"": 21}, {"com.example": 1}),
    ],
)
def test_what_is_imported_outside_of_functions(document, stated: dict[str, int], versions: dict[str, int]):
    data = document.SerializeToString()
    model = load(BytesSource(data), proto=document.DESCRIPTOR.name, opset_imports=stated)
    assert model.imports.versions(None) == versions


def test_an_operator_set_imports_itself():
    text = 'domain: "com.example" opset_version: 3 ir_version: 10 functions { name: "F" domain: "com.other" }'
    model = load(BytesSource(text.encode()), "set.textproto", proto="OperatorSetProto")
    assert model.imports.versions(None) == {"com.example": 3, "com.other": 3}
