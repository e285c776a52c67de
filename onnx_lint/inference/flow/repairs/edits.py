# SPDX-License-Identifier: Apache-2.0
"""The edits of changes with which the shapes of a node fit: other attributes, or a node before an input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint import schema as messages
from onnx_lint.ir.graph import Node
from onnx_lint.ir.operators.proposals import attribute_edit, fresh_names
from onnx_lint.ir.places.edits import Assign, Edit, Insert
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES

if TYPE_CHECKING:
    from onnx_lint.ir.operators.operators import Operators
    from onnx_lint.schema import Proto

_INT64: Final = 7
_AXES_ARE_INPUT: Final = 13
"""The operator set from which on `axes` is an input of Unsqueeze."""


def number_attribute(name: str, value: int | Sequence[int]) -> Proto:
    """Return an attribute with a number, or with a list of numbers."""
    made = messages.message("AttributeProto")(name=name)
    if isinstance(value, int):
        made.type, made.i = ATTRIBUTE_TYPE_CODES["INT"], value
    else:
        made.type = ATTRIBUTE_TYPE_CODES["INTS"]
        made.ints.extend(value)
    return made


def with_attributes(node: Node, values: Mapping[str, int | tuple[int, ...]]) -> Iterator[Edit]:
    """Yield the edits that give attributes of a node other numbers."""
    for name, value in values.items():
        yield attribute_edit(node, number_attribute(name, value))


def transposed(node: Node, index: int, perm: Sequence[int]) -> Iterator[Edit]:
    """Yield the edits that put a Transpose before an input."""
    yield from _before(node, index, "Transpose", [number_attribute("perm", perm)])


def flattened(node: Node, index: int) -> Iterator[Edit]:
    """Yield the edits that put a Flatten before an input."""
    yield from _before(node, index, "Flatten", [])


def unsqueezed(node: Node, index: int, axes: Sequence[int], operators: Operators) -> Iterator[Edit]:
    """Yield the edits that put an Unsqueeze before an input."""
    if operators.opset_versions(node.graph).get("", 0) < _AXES_ARE_INPUT:
        yield from _before(node, index, "Unsqueeze", [number_attribute("axes", axes)])
        return
    name = fresh_names(node.graph).like("axes")
    yield Insert(node.place, _constant(name, axes))
    yield from _before(node, index, "Unsqueeze", [], name)


def converted(node: Node, index: int, element_type: int) -> Iterator[Edit]:
    """Yield the edits that put a Cast before an input."""
    yield from _before(node, index, "Cast", [number_attribute("to", element_type)])


def with_list(node: Node, index: int, content: Sequence[int]) -> Iterator[Edit]:
    """Yield the edits that let an input be a constant list of int64: in its initializer, for all that read it."""
    definition = node.graph.definition_of(node.inputs[index])
    if definition is not None and definition.field == "initializer":
        tensor = _tensor(content)
        tensor.name = node.inputs[index]
        yield Assign(definition.place, tensor)
        return
    name = fresh_names(node.graph).like(f"{node.inputs[index]}_list")
    yield Insert(node.place, _constant(name, content))
    yield Assign(node.place.at("input", index), name)


def _tensor(content: Sequence[int]) -> Proto:
    return messages.message("TensorProto")(data_type=_INT64, dims=[len(content)], int64_data=content)


def _constant(name: str, content: Sequence[int]) -> Proto:
    tensor = _tensor(content)
    made = messages.message("NodeProto")(op_type="Constant", name=name, output=[name])
    made.attribute.append(
        messages.message("AttributeProto")(name="value", type=ATTRIBUTE_TYPE_CODES["TENSOR"], t=tensor)
    )
    return made


def _before(node: Node, index: int, op_type: str, attributes: Sequence[Proto], *more: str) -> Iterator[Edit]:
    given = node.inputs[index]
    name = fresh_names(node.graph).like(f"{given}_{op_type.lower()}")
    made = messages.message("NodeProto")(op_type=op_type, name=name, input=[given, *more], output=[name])
    made.attribute.extend(attributes)
    yield Insert(node.place, made)
    yield Assign(node.place.at("input", index), name)
