# SPDX-License-Identifier: Apache-2.0
"""Finds constants of whole numbers that are stored as floating-point numbers, where an operator reads integers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from onnx_lint import schema as messages
from onnx_lint.common.record import replace
from onnx_lint.inference.flow.repairs.edits import number_attribute
from onnx_lint.inference.flow.type_conflict import OperandConflict
from onnx_lint.inference.shapes.stated import content_of
from onnx_lint.inference.types.problem import Disallowed
from onnx_lint.inference.types.type_string import FLOATS, TENSORS, ValueType
from onnx_lint.ir.graph import Definition, Node
from onnx_lint.ir.operators.proposals import Proposal, ready
from onnx_lint.ir.places.edits import Assign
from onnx_lint.ir.places.place import Place
from onnx_lint.spec.element_types import ELEMENT_TYPES, DataType
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES
from onnx_lint.wording import describe_list, quote

if TYPE_CHECKING:
    from onnx_lint.schema import Proto

_INTEGERS: Final = ("tensor(int64)", "tensor(int32)")
"""The types of indices and sizes, the usual one first."""

_LARGEST: Final = 2.0**31
"""No index or size in a list of floating-point numbers is as large."""

_LARGEST_LIST: Final = 16
"""The most numbers that a proposal lists."""


def as_integers(conflict: OperandConflict) -> list[Proposal]:
    """Return the conversion of a constant to integers, if an operator needs integers and all its numbers are whole."""
    problem = conflict.problem
    if not isinstance(problem, Disallowed):
        return []
    kind = _needed_integers(conflict, problem.index)
    definition = conflict.node.graph.definition_of(conflict.node.inputs[problem.index])
    if kind is None or definition is None:
        return []
    producer, code = definition.node, TENSORS.index(kind)
    if definition.field == "initializer":
        return list(_initializer_as_integers(definition, code))
    if producer is None or producer.op_type != "Constant" or producer.domain:
        return []
    return list(_constant_as_integers(producer, code))


def _needed_integers(conflict: OperandConflict, index: int) -> ValueType | None:
    """Return the integers that an operator needs in place of floating-point numbers; None if it needs others."""
    allowed = conflict.types_allowed_for(index)
    if conflict.inputs[index] not in FLOATS or not FLOATS.isdisjoint(allowed):
        return None
    return next((each for each in _INTEGERS if each in allowed), None)


def _initializer_as_integers(definition: Definition, code: int) -> Iterator[Proposal]:
    graph = definition.graph
    name, proto = graph.initializer_names[definition.index], graph.message_at("initializer", definition.index)
    if name not in graph.input_names:
        yield from _tensor_as_integers(f"initializer {quote(name)}", definition.place, proto, code)


def _constant_as_integers(producer: Node, code: int) -> Iterator[Proposal]:
    """Yield the tensor of a Constant as integers, or its number or list in the attribute for integers."""
    for index, attribute in enumerate(producer.attribute_protos):
        place = producer.place.at("attribute", index)
        if attribute.name == "value":
            what = f"attribute 'value' of {producer.describe()}"
            yield from _tensor_as_integers(what, place.at("t"), attribute.t, code)
        elif code == DataType.INT64:
            yield from _numbers_as_integers(producer, place, attribute)


def _numbers_as_integers(producer: Node, place: Place, attribute: Proto) -> Iterator[Proposal]:
    """Yield a floating-point number or a short list of them in the attribute for integers."""
    if attribute.type == ATTRIBUTE_TYPE_CODES["FLOAT"]:
        numbers = _whole_numbers([attribute.f])
        if numbers is not None:
            edit = Assign(place, number_attribute("value_int", numbers[0]))
            yield _tolerant(ready(f"value_int={numbers[0]} of {producer.describe()}", edit))
    elif attribute.type == ATTRIBUTE_TYPE_CODES["FLOATS"]:
        numbers = _whole_numbers(attribute.floats)
        if numbers is not None and len(numbers) <= _LARGEST_LIST:
            edit = Assign(place, number_attribute("value_ints", numbers))
            yield _tolerant(ready(f"value_ints={describe_list(numbers)} of {producer.describe()}", edit))


def _tensor_as_integers(what: str, place: Place, proto: Proto, code: int) -> Iterator[Proposal]:
    """Yield a tensor with its numbers as integers."""
    numbers = _whole_numbers(content_of(proto, tuple(proto.dims)))
    if numbers is not None:
        edits = partial(_edit_of_tensor, place, proto, numbers, code)
        yield _tolerant(Proposal(f"{what} converted to {_type_name(code)}", edits))


def _tolerant(change: Proposal) -> Proposal:
    """Return the change, to be proposed also if it uncovers a finding at its node that another change fixes."""
    return replace(change, tolerates_fixable_finding=True)


def _type_name(code: int) -> str:
    return ELEMENT_TYPES[code].name.upper()


def _whole_numbers(content: Sequence[object] | None) -> list[int] | None:
    """Return the numbers as integers; None if one is not whole, or if they are unknown."""
    if content is None:
        return None
    numbers = [each for each in content if isinstance(each, float) and each.is_integer() and abs(each) < _LARGEST]
    return [int(each) for each in numbers] if len(numbers) == len(content) else None


def _edit_of_tensor(place: Place, proto: Proto, numbers: Sequence[int], code: int, _: object) -> Iterator[Assign]:
    field = "int64_data" if code == DataType.INT64 else "int32_data"
    made = messages.message("TensorProto")(name=proto.name, dims=proto.dims, data_type=code, **{field: numbers})
    yield Assign(place, made)
