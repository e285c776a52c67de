# SPDX-License-Identifier: Apache-2.0
"""Solves all equations of one dimension variable together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.equations.contradiction import Contradiction
from onnx_lint.inference.flow.equations.equation import DimensionEquation, united
from onnx_lint.inference.flow.equations.known_values import KnownValues
from onnx_lint.inference.flow.equations.sums import terms_of
from onnx_lint.inference.shapes.one_variable import OneVariable, ValueSequence, difference, unless_empty, zeros

_MAX_TOGETHER: Final = 16
"""The most equations of one variable that are solved together."""


class OneVariableEquation(Record):
    """An equation that has at most one variable if the known values of the others are inserted."""

    equation: DimensionEquation
    variable: str
    """The variable; empty if there is none."""
    difference: ValueSequence
    """The difference of both sides for each size of the variable. The equation is true where it is 0."""
    because: tuple[DimensionEquation, ...]
    """The equations that imply the values of other variables."""


def as_equation_of_one_variable(equation: DimensionEquation, values: KnownValues) -> OneVariableEquation | None:
    """Return the equation as one of a single variable; None if there are more, or if it is too irregular."""
    because: list[DimensionEquation] = []

    def value(name: str) -> int | str:
        known = values.value(name)
        because.extend(known.because)
        return known.value

    variable = OneVariable(value)
    dims = (*equation.sides, *equation.origin.dims_that_may_be_0)
    sequences = [sequence for dim in dims if (sequence := variable.of_sum(terms_of(dim))) is not None]
    if len(sequences) < len(dims):
        return None
    left, right, *others = sequences
    found = difference(left, right)
    if found is not None and others:
        found = unless_empty(found, others)
    return None if found is None else OneVariableEquation(equation, variable.name, found, united(because))


class OneVariableResult(Record):
    """The result of equations of one variable: a contradiction, the only size of the variable, or neither."""

    contradiction: Contradiction | None = None
    size: int | None = None
    may_be_0: bool = False
    """True if the size may also be 0."""
    because: tuple[DimensionEquation, ...] = ()


def solve_together(equations: Sequence[OneVariableEquation]) -> OneVariableResult:
    """Return the result of equations of the same variable."""
    kept: list[OneVariableEquation] = []
    result = OneVariableResult()
    for each in equations[:_MAX_TOGETHER]:
        found = zeros([one.difference for one in (*kept, each)])
        if found is None:
            continue
        kept.append(each)
        if found.are_endless:
            continue
        because = _equations_needed(kept, found.sizes)
        *others, _ = because
        # 0 makes multiples equal. A number on one side means 0 itself.
        is_of_empty = found.sizes == (0,) and all(one.shared_variables for one in because)
        if not found.sizes or is_of_empty:
            return OneVariableResult(Contradiction(each.equation, tuple(others), is_of_empty))
        result = _more_exact(result, found.sizes, because)
    return result


def _more_exact(
    result: OneVariableResult, sizes: tuple[int, ...], because: tuple[DimensionEquation, ...]
) -> OneVariableResult:
    """Return the result with the only size, or the only one above 0, if the result before is not as exact."""
    match sizes:
        case [size] if result.size is None or result.may_be_0:
            return OneVariableResult(size=size, because=because)
        case [0, size] if result.size is None:
            return OneVariableResult(size=size, may_be_0=True, because=because)
    return result


def _equations_needed(kept: Sequence[OneVariableEquation], sizes: tuple[int, ...]) -> tuple[DimensionEquation, ...]:
    """Return the equations without which there would be other solutions; the last one is always needed."""
    *earlier, last = kept
    needed = [each for each in earlier if not _are_solutions_without(each, kept, sizes)]
    return united(*[(*each.because, each.equation) for each in (*needed, last)])


def _are_solutions_without(
    left_out: OneVariableEquation, equations: Sequence[OneVariableEquation], sizes: tuple[int, ...]
) -> bool:
    """Return whether the other equations have the same solutions without this one."""
    found = zeros([each.difference for each in equations if each is not left_out])
    return found is not None and not found.are_endless and found.sizes == sizes
