# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ATTRIBUTE_TYPE_NAMES, VALUE_FIELD_OF_TYPE, AttributeKind, Model, has_unusual_attributes
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote

_VISIBLE_TYPES = frozenset({"TENSOR", "GRAPH", "SPARSE_TENSOR", "TYPE_PROTO"})
"""The types whose values are messages; even an empty message leaves a trace in the file."""


@rule(clause="ATT-5", since="0.1.0", about=has_unusual_attributes, needs="attribute")
def missing_attribute_value(model: Model) -> Iterator[Finding]:
    """An attribute has neither a value nor a reference to a parameter.

    ### How to fix

    Give the value, or leave the attribute out where the operator has a default.

    ### Example

    ```
    node { op_type: "Constant" output: "y" attribute { name: "value" type: TENSOR } }
    ```

    Corrected:

    ```
    node {
      op_type: "Constant" output: "y"
      attribute { name: "value" type: TENSOR t { data_type: 1 dims: 2 float_data: [1, 2] } }
    }
    ```

    ### Why it matters

    There is no default for a tensor, a graph or a type, so the node cannot be run.

    ### Details

    A value in the field of the type, or in a function body `ref_attr_name`. Writers of the proto3 form leave out
    numbers that are 0 and strings that are empty, and an empty list is never written, so only the types `TENSOR`,
    `GRAPH`, `SPARSE_TENSOR` and `TYPE_PROTO` are judged.
    """
    for attribute in model.attributes(_is_missing):
        kind = attribute.proto.type
        yield Finding(
            attribute.place,
            f"{attribute.describe()} is of type {ATTRIBUTE_TYPE_NAMES[kind]}, but has no value",
            allowed=f"a value in field {quote(VALUE_FIELD_OF_TYPE[kind])}",
            subject=attribute.proto.name,
        )


def _is_missing(kind: AttributeKind) -> bool:
    if kind.fields or kind.is_reference:
        return False
    return ATTRIBUTE_TYPE_NAMES.get(kind.type) in _VISIBLE_TYPES
