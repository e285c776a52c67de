# SPDX-License-Identifier: Apache-2.0
"""The Casts with which the types of a node's inputs may fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from math import isfinite, prod
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.repairs.edits import converted, with_attributes
from onnx_lint.inference.flow.type_conflict import OperandConflict
from onnx_lint.inference.shapes.stated import content_of
from onnx_lint.inference.types.problem import Differing, Disallowed
from onnx_lint.inference.types.type_string import FLOATS, TENSORS, ValueType
from onnx_lint.ir.graph import Node
from onnx_lint.ir.operators.proposals import Proposal
from onnx_lint.ir.places.edits import Edit, Insert
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.spec.operators import ParameterOption
from onnx_lint.wording import quote

_USUAL: Final = ("tensor(float)", "tensor(int64)", "tensor(bool)")
"""The types that are tried if the operator allows several, after the types of the other inputs."""


class _FloatFormat(Record):
    """The numbers that a floating-point type has."""

    bits: int
    """The bits of the integers that it has exactly."""
    largest: float

    def keeps(self, number: float) -> bool:
        """Return whether the type has a number. A floating-point number may lose digits, an integer may not."""
        whole = abs(number) if isinstance(number, int) else 0
        is_exact = whole % (1 << max(whole.bit_length() - self.bits, 0)) == 0
        return is_exact and (not isfinite(number) or abs(number) <= self.largest)


_FLOAT_FORMATS: Final[Mapping[str, _FloatFormat]] = {
    "tensor(bfloat16)": _FloatFormat(8, 3.3895314e38),
    "tensor(double)": _FloatFormat(53, 1.8e308),
    "tensor(float)": _FloatFormat(24, 3.4028235e38),
    "tensor(float16)": _FloatFormat(11, 65_504.0),
}

_INTEGER: Final = re.compile(r"tensor\((u?)int(\d+)\)")

_QUANTIZED: Final = frozenset(f"tensor({sign}int{bits})" for sign in ("", "u") for bits in (2, 4, 8))

_COUNTS: Final = frozenset({"tensor(int32)", "tensor(int64)"})
"""The types of indices, sizes and numbers of runs: a condition is none of these."""

_BIAS: Final = "tensor(int32)"
"""The type of a quantized bias."""

_OF_SCALES: Final = "_scale"
"""The end of the name of a scale, which begins with the name of what is quantized."""

_ADDING: Final = frozenset({"Add", "Sub"})
"""The operators that apply a mask of numbers, with large negative ones."""

_MAX_TARGETS: Final = 2
"""The most types that are tried for an input that the operator refuses."""


class _TypedInput(Record):
    """An input, and a type that it may need."""

    index: int
    kind: ValueType | None


def casts_for(conflict: OperandConflict) -> list[Proposal]:
    """Return a Cast of an input to each type with which the conflict may be gone."""
    is_refused = isinstance(conflict.problem, Disallowed)
    targets = _likely_types(conflict, conflict.problem.index) if is_refused else _wanted_inputs(conflict)
    return [_cast(conflict.node, each.index, each.kind) for each in targets if _can_be_cast(conflict, each)]


def _can_be_cast(conflict: OperandConflict, target: _TypedInput) -> bool:
    """Return whether a Cast of an input to a type keeps the meaning of its numbers."""
    node, index, kind = conflict.node, target.index, target.kind
    given = conflict.inputs[index]
    if kind not in TENSORS or given not in TENSORS or "tensor(string)" in (kind, given):
        return False
    if kind in FLOATS and _is_no_number(node, index, given):
        return False
    return _keeps_constant(node, index, kind)


def wanted_types(conflict: OperandConflict) -> dict[int, frozenset[ValueType | None]]:
    """Return the inputs in question, each with the types with which the conflict may be gone."""
    problem, kinds = conflict.problem, conflict.inputs
    if isinstance(problem, Differing):
        return {problem.index: frozenset({kinds[problem.other]}), problem.other: frozenset({kinds[problem.index]})}
    if isinstance(problem, Disallowed):
        return {problem.index: frozenset(conflict.types_allowed_for(problem.index))}
    return {}


def _wanted_inputs(conflict: OperandConflict) -> list[_TypedInput]:
    """Return the inputs in question that must have one type, with that type."""
    wanted = wanted_types(conflict)
    return [_TypedInput(index, next(iter(kinds))) for index, kinds in wanted.items() if len(kinds) == 1]


def _likely_types(conflict: OperandConflict, index: int) -> list[_TypedInput]:
    """Return an input that the operator refuses with each of the allowed types that are likely."""
    kinds, allowed = conflict.inputs, conflict.types_allowed_for(index)
    given = kinds[index]
    if not FLOATS.isdisjoint(allowed) and _is_no_number(conflict.node, index, given):
        return []
    if given == "tensor(bool)" and allowed <= _COUNTS:
        return []
    likely = [*kinds, *_USUAL, *(allowed if len(allowed) == 1 else ())]
    if given in FLOATS:
        likely = [each for each in likely if each in FLOATS or each == "tensor(bool)"]
    targets = [each for each in dict.fromkeys(likely) if each in allowed]
    return [_TypedInput(index, each) for each in targets[:_MAX_TARGETS]]


def other_number(conflict: OperandConflict) -> list[Proposal]:
    """Return the attribute of a Cast before an input with which the types may fit: a Cast of its own converts twice."""
    found = []
    for each in _wanted_inputs(conflict):
        definition = conflict.node.graph.definition_of(conflict.node.inputs[each.index])
        producer = None if definition is None else definition.node
        if producer is None or producer.op_type != "Cast" or producer.domain or each.kind not in TENSORS:
            continue
        code = TENSORS.index(each.kind)
        name = ELEMENT_TYPES[code].name.upper()
        edits = partial(_with_number, producer, code)
        found.append(Proposal(f"to={code} ({name}) of {producer.describe()}", edits, must_add_no_finding=True))
    return found


def _with_number(producer: Node, code: int, _: object) -> Iterator[Edit]:
    return with_attributes(producer, {"to": code})


def omitted(conflict: OperandConflict) -> list[Proposal]:
    """Return the empty name before an input, for an optional operand that the node leaves out without it."""
    problem, node = conflict.problem, conflict.node
    if not isinstance(problem, Disallowed) or problem.index == 0:
        return []
    parameter = conflict.schema.input_at(problem.index)
    is_full = len(node.inputs) >= conflict.schema.max_input
    if parameter is None or parameter.option is not ParameterOption.OPTIONAL or is_full:
        return []
    text = f"an empty name before input {problem.index} {quote(node.inputs[problem.index])} of {node.describe()}"
    place = node.place.at("input", problem.index)
    return [Proposal(text, lambda _: [Insert(place, "")], must_add_no_finding=True)]


def _is_no_number(node: Node, index: int, kind: ValueType | None) -> bool:
    """Return whether a Cast to a floating-point type makes something else of an input than its node needs.

    That is a Boolean mask where it is added: a mask of numbers has 0 where the other has true.
    """
    return _is_quantized(node, index, kind) or (kind == "tensor(bool)" and node.op_type in _ADDING)


def _is_quantized(node: Node, index: int, kind: ValueType | None) -> bool:
    """Return whether an input has numbers that mean something only with a scale: a DequantizeLinear is missing.

    An input of the graph of such a type may be an image. An int32 is quantized if an initializer has its scale.
    """
    name = node.inputs[index]
    definition = node.graph.definition_of(name)
    if kind == _BIAS and definition is not None and definition.field == "initializer":
        return f"{name}{_OF_SCALES}" in definition.graph.initializer_index
    return kind in _QUANTIZED and (definition is None or definition.field != "input")


def _keeps_constant(node: Node, index: int, kind: ValueType | None) -> bool:
    """Return whether a Cast keeps the numbers of a constant input; True if they are unknown."""
    definition = node.graph.definition_of(node.inputs[index])
    if kind is None or definition is None or definition.field != "initializer":
        return True
    proto = definition.graph.message_at("initializer", definition.index)
    stored = ELEMENT_TYPES[proto.data_type].bytes_of(prod(proto.dims))
    if proto.raw_data and len(proto.raw_data) != stored:
        return False  # its declared type is wrong
    content = content_of(proto, tuple(proto.dims))
    return content is None or all(_is_kept(each, kind) for each in content if isinstance(each, int | float))


def _is_kept(number: float, kind: str) -> bool:
    """Return whether a type has a number, apart from the digits of a floating-point number."""
    if kind in _FLOAT_FORMATS:
        return _FLOAT_FORMATS[kind].keeps(number)
    if kind == "tensor(bool)":
        return number in {0, 1}
    match = _INTEGER.fullmatch(kind)
    if match is None:
        return True
    is_unsigned = bool(match[1])
    limit = 1 << (int(match[2]) - (not is_unsigned))
    least = 0 if is_unsigned else -limit
    return isfinite(number) and number == int(number) and least <= number < limit


def _cast(node: Node, index: int, kind: ValueType | None) -> Proposal:
    code = TENSORS.index(kind)
    text = f"a Cast to {ELEMENT_TYPES[code].name.upper()} (to={code}) of input {index} {quote(node.inputs[index])}"
    definition = node.graph.definition_of(node.inputs[index])
    is_constant = definition is not None and definition.field == "initializer"
    return Proposal(text, lambda _: converted(node, index, code), must_add_no_finding=not is_constant)
