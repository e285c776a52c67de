# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.columns.attribute_kinds import VALUE_FIELD_OF_TYPE
from onnx_lint.model import ATTRIBUTE_TYPE_NAMES, AttributeKind, Model, has_unusual_attributes
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote

_VISIBLE_TYPES = frozenset({"TENSOR", "GRAPH", "SPARSE_TENSOR", "TYPE_PROTO"})
"""The types whose values are messages; even an empty message leaves a trace in the file."""


@rule(clause="ATT-5", since="0.1.0", about=has_unusual_attributes, needs="attribute")
def missing_attribute_value(model: Model) -> Iterator[Finding]:
    """An attribute has neither a value nor a reference to a parameter.

    ### How to fix

    Write the value. If the operator has a default, you can delete the attribute instead.

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

    A tensor, a graph or a type has no default value, and the node cannot run.

    ### Details

    - An attribute must have a value in the field of its type, or `ref_attr_name` in a function body.
    - Only the types `TENSOR`, `GRAPH`, `SPARSE_TENSOR` and `TYPE_PROTO` are checked: writers of proto3 omit a 0 and
      an empty string, and an empty list is never written.
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
