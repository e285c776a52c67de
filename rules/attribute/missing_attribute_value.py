# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.columns.attribute_kinds import VALUE_FIELD_OF_TYPE
from onnx_lint.model import (
    ATTRIBUTE_TYPE_NAMES,
    AttributeKind,
    Model,
    attribute_parameters,
    has_unusual_attributes,
)
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote

_VISIBLE_TYPES = frozenset({"TENSOR", "GRAPH", "SPARSE_TENSOR", "TYPE_PROTO"})
"""The types whose values are messages; even an empty message leaves a trace in the file."""


_NUMBERS_AND_TEXTS = frozenset({"FLOAT", "INT", "STRING"})
"""The types whose values writers of proto3 leave out if they are 0 or empty."""

_LISTS = frozenset({"FLOATS", "INTS", "STRINGS"})
"""The types whose values leave no trace if they are empty."""


@rule(clause=("ATT-5", "ATT-5a"), since="0.1.0", about=has_unusual_attributes, needs="attribute")
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
    - In a function with a parameter that no node reads, a `FLOAT`, `INT` or `STRING` without a value is a warning: the
      reference to the parameter may have been lost. So is an empty list if the parameter has the attribute's name.
    - Otherwise only the types `TENSOR`, `GRAPH`, `SPARSE_TENSOR` and `TYPE_PROTO` are checked: writers of
      proto3 omit a 0 and an empty string, and an empty list is never written.
    """
    for attribute in model.attributes(_is_missing):
        kind = attribute.proto.type
        yield Finding(
            attribute.place,
            f"{attribute.describe()} is of type {ATTRIBUTE_TYPE_NAMES[kind]}, but has no value",
            clause="ATT-5",
            allowed=f"a value in field {quote(VALUE_FIELD_OF_TYPE[kind])}",
            subject=attribute.proto.name,
        )
    if model.parametric_functions:
        yield from _of_unread_parameters(model)


def _of_unread_parameters(model: Model) -> Iterator[Finding]:
    """Yield the attributes without a value in functions with a parameter that no node reads."""
    read: dict[int, set[str]] = {}
    for attribute in model.attributes(lambda kind: kind.is_reference):
        if attribute.function is not None:
            read.setdefault(attribute.function.index, set()).add(attribute.proto.ref_attr_name)
    for attribute in model.attributes(_may_be_missing):
        function = attribute.function
        if function is None or attribute.node is None:
            continue
        unread = [name for name in attribute_parameters(function) if name not in read.get(function.index, ())]
        kind = ATTRIBUTE_TYPE_NAMES[attribute.proto.type]
        if kind in _LISTS:  # functions have empty lists of their own, such as the shape of a scalar
            unread = [name for name in unread if name == attribute.proto.name]
        if unread:
            yield Finding(
                attribute.place,
                f"{attribute.describe()} is of type {kind}, but has neither a value nor a reference, and no node reads "
                f"parameter {quote(unread[0])} of {function.body.describe()}",
                clause="ATT-5a",
                allowed=f"ref_attr_name {quote(unread[0])}, or a value",
                subject=attribute.proto.name,
            )


def _may_be_missing(kind: AttributeKind) -> bool:
    if kind.fields or kind.is_reference:
        return False
    return ATTRIBUTE_TYPE_NAMES.get(kind.type) in _NUMBERS_AND_TEXTS | _LISTS


def _is_missing(kind: AttributeKind) -> bool:
    if kind.fields or kind.is_reference:
        return False
    return ATTRIBUTE_TYPE_NAMES.get(kind.type) in _VISIBLE_TYPES
