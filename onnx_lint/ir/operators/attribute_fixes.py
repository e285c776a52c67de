# SPDX-License-Identifier: Apache-2.0
"""Fixes of attributes that an operator does not have: those that became inputs, and misspelled ones."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from onnx_lint import schema as messages
from onnx_lint.ir.columns.attribute_kinds import VALUE_FIELD_OF_TYPE
from onnx_lint.ir.graph import Node
from onnx_lint.ir.names.renaming import FreshNames
from onnx_lint.ir.operators.mismatch import attributes_with
from onnx_lint.ir.places.edits import Assign, Delete, Edit, Fix, Insert
from onnx_lint.spec.operators import AttributeSchema, Parameter
from onnx_lint.wording import listed, quote

_INT64: Final = 7
_FLOATS: Final = {"tensor(float)": (1, "f"), "tensor(float16)": (10, "e"), "tensor(double)": (11, "d")}
"""By the type of input 0, the number of the element type of further inputs, and their format for `struct`."""


def inputs_instead(
    node: Node,
    moved: Mapping[str, int],
    parameters: Sequence[Parameter],
    fresh: FreshNames,
    kind_of: Callable[[str], str | None],
) -> Fix | str:
    """Return the fix that passes attributes as inputs from Constant nodes, or why a value has no such tensor.

    `moved`: the index of the input for each attribute. `kind_of`: returns the type of an input of the node.
    """
    if not node.place.key:
        return "the document is one node, and has no place for a Constant"
    edits: list[Edit] = []
    given: dict[int, str] = {}
    for index in attributes_with(node, set(moved)):
        attribute = node.attribute_protos[index]
        tensor = _tensor(attribute, kind_of(node.inputs[0]) if node.inputs else None)
        slot = moved[attribute.name]
        if slot < len(node.inputs) or slot in given:
            return f"the node has input {slot} already"
        if tensor is None:
            return f"input {slot} has no such value as {quote(attribute.name)}, or its element type is unknown"
        given[slot] = fresh.like(parameters[slot].name)
        value = messages.message("AttributeProto")(name="value", type=4, t=tensor)
        constant = messages.message("NodeProto")(op_type="Constant", name=given[slot], output=[given[slot]])
        constant.attribute.append(value)
        edits += Delete(node.place.at("attribute", index)), Insert(node.place, constant)
    end = node.place.at("input", len(node.inputs))
    edits += [Insert(end, given.get(slot, "")) for slot in range(len(node.inputs), max(given, default=-1) + 1)]
    names = listed([quote(name) for name in sorted(moved, key=moved.__getitem__)])
    return Fix(f"pass {names} of {node.describe()} as input from a Constant", tuple(edits), is_safe=False)


def _tensor(attribute: Any, kind: str | None) -> Any:
    """Return the tensor with the value of an attribute; `kind` is the type of input 0."""
    field = None if attribute.ref_attr_name else VALUE_FIELD_OF_TYPE.get(attribute.type)
    tensor = messages.message("TensorProto")
    if field == "ints":
        return tensor(data_type=_INT64, dims=[len(attribute.ints)], int64_data=attribute.ints)
    if field == "i" and attribute.name in _LISTS_OF_ONE:
        return tensor(data_type=_INT64, dims=[1], int64_data=[attribute.i])
    if field not in ("f", "floats") or kind not in _FLOATS:
        return None
    number, form = _FLOATS[kind]
    values = attribute.floats if field == "floats" else [attribute.f]
    try:
        data = struct.pack(f"<{len(values)}{form}", *values)
    except OverflowError:  # float16 has no such number
        return None
    return tensor(data_type=number, dims=[len(values)] if field == "floats" else [], raw_data=data)


_LISTS_OF_ONE: Final = frozenset({"axes", "axis", "dim", "dims", "k"})
"""Attributes whose one number becomes a list of one element."""


def respelled(node: Node, index: int, name: str, known: Mapping[str, AttributeSchema]) -> Fix | str:
    """Return the fix that gives an attribute the name of one of the operator; a reason if that has another type."""
    attribute = node.attribute_protos[index]
    if (
        name not in known
        or known[name].type_code != attribute.type
        or next(attributes_with(node, {name}), None) is not None
    ):
        return "no attribute of the operator with a similar name is missing and has its type"
    edit = Assign(node.place.at("attribute", index).at("name"), name)
    message = f"rename attribute {quote(attribute.name)} of {node.describe()} to {quote(name)}"
    return Fix(message, (edit,), is_safe=False)
