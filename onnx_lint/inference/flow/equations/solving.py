# SPDX-License-Identifier: Apache-2.0
"""Solves the equations of a scope, one after the other, and yields those that no sizes satisfy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from math import gcd
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.equations.contradiction import Contradiction
from onnx_lint.inference.flow.equations.equation import DimensionEquation, united
from onnx_lint.inference.flow.equations.known_values import KnownValues
from onnx_lint.inference.flow.equations.sums import difference, factors_of, integer_root, is_impossible, number_of
from onnx_lint.inference.shapes.dims import SIZE_LIMIT
from onnx_lint.inference.shapes.expression import Limit, Product, Sum, is_variable, limit_in

if TYPE_CHECKING:
    from onnx_lint.inference.flow.equations.one_variable_equations import OneVariableEquation

_MAX_ROUNDS: Final = 8

_MAX_OF_ONE_VARIABLE: Final = 128
"""The most equations of a model that are solved by variable. Each needs thousands of values."""


class Satisfiability(Enum):
    """Whether sizes satisfy an equation, besides those before it."""

    SATISFIED = "satisfied"
    UNSATISFIABLE = "unsatisfiable"
    UNDECIDED = "undecided"


class EquationResult(Record):
    """Whether sizes satisfy an equation; if none do, the earlier equations from which that follows."""

    satisfiability: Satisfiability
    because: tuple[DimensionEquation, ...] = ()


_SATISFIED: Final = EquationResult(Satisfiability.SATISFIED)
_UNDECIDED: Final = EquationResult(Satisfiability.UNDECIDED)


class _Remainder(Record):
    """What is left of an equation with the known values inserted: the terms and the number add up to 0."""

    equation: DimensionEquation
    terms: Sum
    """The terms with variables; none of them is 0."""
    number: int
    because: tuple[DimensionEquation, ...]
    """The equations that imply the values."""

    @property
    def unsatisfiable(self) -> EquationResult:
        """The result if no sizes satisfy the equation."""
        return EquationResult(Satisfiability.UNSATISFIABLE, self.because)

    @property
    def has_one_sign(self) -> bool:
        """True if the terms and the number are all positive or all negative, so that they do not add up to 0.

        Terms without a number add up to 0 where their variables are 0. This is ruled out only between an expression and
        a multiple of it: only an empty tensor has as many elements as one of twice its size.
        """
        numbers = [each for each in (*self.terms.values(), self.number) if each]
        are_alike = min(numbers) > 0 or max(numbers) < 0
        return are_alike and (self.number != 0 or self._is_of_multiples)

    @property
    def _is_of_multiples(self) -> bool:
        """True if both sides of the equation have all variables, without any known value."""
        names = {name for product in self.terms for name in product}
        return not self.because and all(names.issubset(factors_of(side)) for side in self.equation.sides)

    @property
    def reasons(self) -> tuple[DimensionEquation, ...]:
        """The equations that imply what follows from it."""
        return (*self.because, self.equation)

    @property
    def isolated_limit(self) -> _IsolatedLimit | None:
        """The equation, solved for its only factor that is no variable; None if that is no maximum or minimum."""
        (product, times), *more = [item for item in self.terms.items() if not all(map(is_variable, item[0]))]
        limit = limit_in(product[0]) if not more and len(product) == 1 and abs(times) == 1 else None
        if limit is None:
            return None
        rest = {each: -times * count for each, count in self.terms.items() if each != product}
        return _IsolatedLimit(limit, {**rest, (): -times * self.number})


def _remainder(equation: DimensionEquation, terms: Sum, because: tuple[DimensionEquation, ...]) -> _Remainder:
    """Return the statement that a sum is 0, which follows from an equation."""
    products = {product: times for product, times in terms.items() if product}
    return _Remainder(equation, products, number=terms.get((), 0), because=because)


class _IsolatedLimit(Record):
    """A maximum or minimum that equals a sum."""

    limit: Limit
    right: Sum


class Budget:
    """How many equations may still be solved by variable, in all scopes of a model."""

    def __init__(self) -> None:
        self.left = _MAX_OF_ONE_VARIABLE


class Solution:
    """The values of those variables that the equations of a scope determine, and those of the scopes around it."""

    def __init__(self, around: Solution | None = None, budget: Budget | None = None) -> None:
        self._budget = budget or Budget()
        self.values: KnownValues = KnownValues(around.values if around is not None else None)
        self.reported: set[str] = set() if around is None else around.reported
        """The variables of contradictions. What else contradicts them is not reported."""

    def contradictions(self, equations: Sequence[DimensionEquation]) -> Iterator[Contradiction]:
        """Yield the equations that contradict the ones before, and keep what the others say."""
        first: dict[object, DimensionEquation] = {}
        for equation in equations:  # many nodes state the same about two dimensions
            first.setdefault((equation.sides, equation.origin.dims_that_may_be_0), equation)
        left = list(first.values())
        for _ in range(_MAX_ROUNDS):
            undecided: list[DimensionEquation] = []
            for equation in left:
                result = self._solve_equation(equation)
                if result.satisfiability is Satisfiability.UNDECIDED:
                    undecided.append(equation)
                elif result.satisfiability is Satisfiability.UNSATISFIABLE:
                    yield Contradiction(equation, result.because)
            if len(undecided) == len(left):
                count = len(self.values)
                yield from self._solve_by_variable(undecided)
                if len(self.values) == count:
                    return
            left = undecided

    def _solve_equation(self, equation: DimensionEquation) -> EquationResult:
        """Return whether sizes satisfy an equation, and keep the values that it implies."""
        if equation.origin.dims_that_may_be_0:
            return _UNDECIDED
        left, right = map(self.values.inserted, equation.sides)
        factors = {*factors_of(equation.left), *factors_of(equation.right)}.union(*left.terms, *right.terms)
        terms = difference(left.terms, right.terms)
        if not factors.isdisjoint(self.reported) or not terms:
            return _SATISFIED
        because = united(left.because, right.because)
        result = self._solve(_remainder(equation, terms, because))
        if result.satisfiability is Satisfiability.UNSATISFIABLE:
            self.reported |= factors
        return result

    def _solve(self, rest: _Remainder) -> EquationResult:
        """Return whether sizes satisfy what is left of an equation, and keep the values that it implies."""
        terms, number = rest.terms, rest.number
        if not terms:
            return rest.unsatisfiable if number else _SATISFIED
        if not all(is_variable(factor) for product in terms for factor in product):
            return rest.unsatisfiable if is_impossible(terms, number) else self._solve_limit(rest)
        if rest.has_one_sign:
            return rest.unsatisfiable
        return self._solve_linear(rest)

    def _solve_linear(self, rest: _Remainder) -> EquationResult:
        """Solve an equation of one product of variables, or of two equal variables."""
        number = rest.number
        if number % gcd(*rest.terms.values()):
            return rest.unsatisfiable  # whatever integers the variables are
        match list(rest.terms.items()):
            case [(names, times)]:
                size = -number // times
                # Only an empty tensor would make "N" the same as "2*N". But the past may be empty: "P + N" is N then.
                return rest.unsatisfiable if size < 0 else self._solve_product(names, size, rest)
            case [((one,), 1), ((other,), -1)] | [((other,), -1), ((one,), 1)] if not number:
                self.values.note(one, other, rest.reasons)
                return _SATISFIED
        return _UNDECIDED

    def _solve_product(self, names: Product, size: int, rest: _Remainder) -> EquationResult:
        """Solve that the product of variables is a size: a power of one variable, or 1."""
        first, *others = set(names)
        if not others and size < SIZE_LIMIT:
            root = integer_root(size, len(names))
            if root is None:
                return rest.unsatisfiable
            self.values.note(first, root, rest.reasons)
            return _SATISFIED
        if size != 1:
            return _UNDECIDED
        for name in names:
            self.values.note(name, 1, rest.reasons)
        return _SATISFIED

    def _solve_limit(self, rest: _Remainder) -> EquationResult:
        """Solve max(inner, bound) = right, if the maximum is the only factor that is no variable.

        - `inner` is a number: the maximum is replaced by its value.
        - right > bound: then inner = right.
        - right > inner: then bound = right.
        - right < bound, or right < inner: no sizes satisfy the equation.

        Of a minimum, ">" and "<" are exchanged.
        """
        isolated = rest.isolated_limit
        if isolated is None:
            return _UNDECIDED
        limit, right = isolated.limit, isolated.right
        found = self.values.inserted(limit.inner)
        because = united(rest.because, found.because)
        bound: Sum = {(): limit.bound}
        inner = number_of(found.terms)
        if inner is not None:
            return self._solve(_remainder(rest.equation, difference(right, {(): limit.of(inner)}), because))
        is_number = number_of(right) is not None
        compared, other = (bound, found.terms) if is_number else (found.terms, bound)
        distance = number_of(difference(right, compared))
        if not distance:
            return _UNDECIDED
        # The bound 0 means an empty tensor.
        is_of_empty = not is_number and not limit.bound and not because
        if (distance < 0) == limit.is_maximum or is_of_empty:
            return EquationResult(Satisfiability.UNSATISFIABLE, because)
        return self._solve(_remainder(rest.equation, difference(right, other), because))

    def _solve_by_variable(self, undecided: Sequence[DimensionEquation]) -> Iterator[Contradiction]:
        """Solve the equations that have one variable each, all of a variable together."""
        from onnx_lint.inference.flow.equations.one_variable_equations import solve_together

        for equations in self._by_variable(undecided):
            variable = equations[0].variable
            result = solve_together(equations)
            if result.contradiction is not None:
                self.reported |= {variable} - {""}
                yield result.contradiction
            elif variable and result.size is not None and result.may_be_0:
                self.values.note_above_0(variable, result.size, result.because)
            elif variable and result.size is not None:
                self.values.note(variable, result.size, result.because)

    def _by_variable(self, undecided: Sequence[DimensionEquation]) -> Iterable[Sequence[OneVariableEquation]]:
        """Return the equations of each variable, and each equation that has none."""
        from onnx_lint.inference.flow.equations.one_variable_equations import as_equation_of_one_variable

        found: dict[str | int, list[OneVariableEquation]] = {}
        few = undecided[: self._budget.left]
        self._budget.left -= len(few)
        for each in few:
            equation = as_equation_of_one_variable(each, self.values)
            if equation is not None and equation.variable not in self.reported:
                found.setdefault(equation.variable or id(equation), []).append(equation)
        return found.values()
