# SPDX-License-Identifier: Apache-2.0
"""Fixes of attributes that an operator does not have: those that became inputs, and misspelled ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from onnx_lint import schema as messages
from onnx_lint.ir.columns.attribute_kinds import VALUE_FIELD_OF_TYPE
from onnx_lint.ir.graph import Node
from onnx_lint.ir.names.renaming import FreshNames
from onnx_lint.ir.operators.mismatch import attributes_with
from onnx_lint.ir.places.edits import Assign, Delete, Edit, Fix, Insert
from onnx_lint.spec.operators import AttributeSchema
from onnx_lint.wording import quote

_FLOAT, _INT64 = 1, 7


def inputs_instead(
    node: Node, moved: Mapping[str, int], fresh: FreshNames, kind_of: Callable[[str], str | None]
) -> Fix | None:
    """Return the fix that passes attributes as inputs from Constant nodes; None if a value has no such tensor.

    `moved`: the index of the input for each attribute. `kind_of`: returns the type of an input of the node.
    """
    edits: list[Edit] = []
    given: dict[int, str] = {}
    for index in attributes_with(node, set(moved)):
        attribute = node.attribute_protos[index]
        tensor = _tensor(attribute, kind_of(node.inputs[0]) if node.inputs else None)
        slot = moved[attribute.name]
        if tensor is None or slot < len(node.inputs) or slot in given:
            return None
        given[slot] = fresh.like(attribute.name)
        value = messages.message("AttributeProto")(name="value", type=4, t=tensor)
        constant = messages.message("NodeProto")(op_type="Constant", name=given[slot], output=[given[slot]])
        constant.attribute.append(value)
        edits += Delete(node.place.at("attribute", index)), Insert(node.place, constant)
    end = node.place.at("input", len(node.inputs))
    edits += [Insert(end, given.get(slot, "")) for slot in range(len(node.inputs), max(given, default=-1) + 1)]
    names = " and ".join(quote(name) for name in moved)
    return Fix(f"pass {names} of {node.describe()} as input from a Constant", tuple(edits), is_safe=False)


def _tensor(attribute: Any, kind: str | None) -> Any:
    """Return the tensor with the value of an attribute; floating-point numbers only beside float32."""
    field = None if attribute.ref_attr_name else VALUE_FIELD_OF_TYPE.get(attribute.type)
    tensor = messages.message("TensorProto")
    if field == "ints":
        return tensor(data_type=_INT64, dims=[len(attribute.ints)], int64_data=attribute.ints)
    if field == "i" and attribute.name == "k":
        return tensor(data_type=_INT64, dims=[1], int64_data=[attribute.i])
    if field == "floats" and kind == "tensor(float)":
        return tensor(data_type=_FLOAT, dims=[len(attribute.floats)], float_data=attribute.floats)
    if field == "f" and kind == "tensor(float)":
        return tensor(data_type=_FLOAT, float_data=[attribute.f])
    return None


def respelled(node: Node, index: int, name: str, known: Mapping[str, AttributeSchema]) -> Fix | None:
    """Return the fix that gives an attribute the name of one of the operator; None if that has another type."""
    attribute = node.attribute_protos[index]
    if (
        name not in known
        or known[name].type_code != attribute.type
        or next(attributes_with(node, {name}), None) is not None
    ):
        return None
    edit = Assign(node.place.at("attribute", index).at("name"), name)
    return Fix(f"call attribute {quote(attribute.name)} of {node.describe()} {quote(name)}", (edit,), is_safe=False)
