# SPDX-License-Identifier: Apache-2.0
"""Sets of the types that a value may have, and what an operator makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.types.argument import Arguments
from onnx_lint.inference.types.type_string import (
    ABSENT,
    TENSORS,
    ValueType,
    constructor_of,
    optional_element,
    sequence_element,
    sequence_of,
)
from onnx_lint.inference.types.typed_operator import TypedOperator, allowed_types
from onnx_lint.spec.operators import ParameterOption

TypeSet = frozenset[ValueType]
"""The types that a value may have."""

Possible = TypeSet | None
"""The types that a value may have; None if it may have any."""

ANY_TENSOR: Final = frozenset(kind for kind in TENSORS if kind is not None)
NO_VALUE: Final = frozenset({ABSENT})


class PossibleOutcome(Record):
    """What an operator does with inputs that may have several types."""

    outputs: tuple[Possible, ...]
    wrong: int | None = None
    """The first input none of whose types the operator accepts; None if there is none."""


def common(one: Possible, other: Possible) -> Possible:
    """Return the types that a value may have by two statements; None says nothing."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _only_type(types: Possible) -> ValueType | None:
    return next(iter(types)) if types is not None and len(types) == 1 else None


def possible_outcome(
    operator: TypedOperator, arguments: Arguments, count: int, inputs: tuple[Possible, ...]
) -> PossibleOutcome:
    """Return what an operator does with inputs of these types, by trying each type of each input."""
    certain = tuple(map(_only_type, inputs))
    outputs: list[Possible] = [
        _allowed_output(operator, index) if kind is None else frozenset({kind})
        for index, kind in enumerate(operator.outcome(certain, arguments, count).outputs[:count])
    ]
    outputs += [None] * (count - len(outputs))
    for position in [position for position, kind in enumerate(certain) if kind is None][:_MAX_OPEN]:
        parameter = operator.schema.input_at(position)
        if parameter is None:
            continue
        types, allowed = inputs[position], allowed_types(parameter)
        tried = [
            operator.outcome((*certain[:position], kind, *certain[position + 1 :]), arguments, count)
            for kind in sorted(allowed if types is None else types)
        ]
        fitting = [outcome.outputs for outcome in tried if not outcome.problems]
        if not fitting:
            return PossibleOutcome((None,) * count, position if types and types.isdisjoint(allowed) else None)
        outputs = [_narrowed(known, index, fitting) for index, known in enumerate(outputs)]
    return PossibleOutcome(tuple(outputs))


_MAX_OPEN: Final = 16
"""The most inputs of unknown type whose types are tried, since each trial looks at all inputs of the node."""


def _narrowed(known: Possible, index: int, fitting: Sequence[Sequence[ValueType | None]]) -> Possible:
    """Return the types of an output that are known, and that one of the fitting inputs leads to."""
    made = [each[index] if index < len(each) else None for each in fitting]
    if None in made:
        return known
    here = frozenset(kind for kind in made if kind is not None)
    return here if known is None else here & known or None


def _allowed_output(operator: TypedOperator, index: int) -> Possible:
    parameter = operator.schema.output_at(index)
    if parameter is None or not operator.binds:
        return None
    return None if parameter.option is ParameterOption.VARIADIC and not parameter.types else allowed_types(parameter)


def while_carried(initial: Possible) -> Possible:
    """Return the types of a value that a Loop carries; one that begins as an optional may continue as its content."""
    if initial is None or initial == NO_VALUE:
        return None
    inside = frozenset(content for kind in initial if (content := optional_element(kind)))
    return initial | inside


def element_or_self(types: Possible) -> Possible:
    """Return the types of the elements of sequences; any other type is kept."""
    return None if types is None else frozenset(sequence_element(kind) or kind for kind in types)


def sequences_of(types: Possible) -> Possible:
    """Return the types of sequences of a value."""
    return None if types is None else frozenset(kind for each in types if (kind := sequence_of(each)))


def pattern_of(types: TypeSet) -> str:
    """Return some types as one text, such as `seq(tensor(?))`: what they have in common, `?` for the rest."""
    if len(types) == 1:
        return next(iter(types))
    heads = sorted(set(map(constructor_of, types)))
    return " or ".join(_pattern(head, [kind for kind in types if kind.startswith(f"{head}(")]) for head in heads)


def _pattern(head: str, types: list[ValueType]) -> str:
    if len(types) == 1:
        return types[0]
    inside = {kind[len(head) + 1 : -1] for kind in types}
    if head not in {"seq", "optional"}:
        return f"{head}(?)"
    return f"{head}({_pattern('tensor', sorted(inside))})" if inside <= ANY_TENSOR else f"{head}(?)"
