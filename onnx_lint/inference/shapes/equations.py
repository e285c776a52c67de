# SPDX-License-Identifier: Apache-2.0
"""Compares the operands of a node with an equation: "X[n c *spatial] scale[c] -> Y[n c *spatial]".

The inputs in order are left of the arrow, the outputs right of it, and the dimensions are in brackets. The language is
that of `onnx_lint.spec.operators.records.grammar`. Inputs that the node omits are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import lcm
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.shapes.dims import Dim, Dims, add, agree, divide, multiply, unified
from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, ProblemPlace
from onnx_lint.spec.operators.records.grammar import (
    Pattern,
    ShapeEquation,
    SizePart,
    SizeProduct,
    SizeSum,
    Term,
    parse_equation,
)

Size = tuple[Dim, ProblemPlace | None]
"""A size and its source."""


def solve(text: str, node: Operands, **known: Size) -> Outputs:
    """Compare the operands of a node with an equation, and return the shapes of its outputs.

    `known`: names whose sizes something else than a dimension says, such as an attribute.
    """
    return NameBindings(node, known).outputs(parse_equation(text))


def _rounded_down(one: Dim, other: Dim) -> Dim:
    return one // other if isinstance(one, int) and isinstance(other, int) and other else None


def _rounded_up(one: Dim, other: Dim) -> Dim:
    return -(-one // other) if isinstance(one, int) and isinstance(other, int) and other else divide(one, other)


_OPERATIONS: Final[Mapping[str, Callable[[Dim, Dim], Dim]]] = {"*": multiply, "/": divide, "//": _rounded_down}
"""The operation of a factor on the product before it."""


class _Linear(Record):
    """A product that is a multiple of one name, or of none: factor * name / divisor."""

    name: str
    factor: int
    divisor: int


class NameBindings:
    """The dimensions of the names in an equation, and their sources."""

    def __init__(self, node: Operands, known: Mapping[str, Size] = {}) -> None:
        self.node = node
        self.omitted: set[str] = set()
        """The names that only omitted operands have."""
        self.dims: dict[str, Size] = dict(known)
        self.firsts: dict[str, tuple[int, int]] = {}
        """For each name the first dimension that is it, as an operand and an axis."""
        self.runs: dict[str, tuple[Dims, int, int]] = {}
        """For each run its dimensions, the operand that has it first, and the axis at which it begins there."""
        self.parts: dict[str, Element] = {}
        """The attribute that says how many of a name are in a dimension."""
        self.waiting: list[tuple[int, int, Term]] | None = []
        """The dimensions that follow from those of later operands; None when all are known."""

    def outputs(self, equation: ShapeEquation) -> Outputs:
        """Compare the inputs with an equation, and return the shapes of the outputs."""
        given = [(index, each) for index, each in enumerate(equation.inputs) if self.node.given(index)]
        if len(given) < len(equation.inputs):
            self._omit(equation.inputs, [each for _, each in given])
        for index, pattern in given:
            if pattern.terms is not None:
                self._take(index, pattern, pattern.terms)
        waiting, self.waiting = self.waiting or (), None
        for index, axis, term in waiting:
            if term.computed is not None:
                self._solve(index, axis, term.computed)
        for each in waiting:
            self._bind(*each)
        return [self._shape(pattern) for pattern in equation.outputs]

    def _omit(self, inputs: Sequence[Pattern], given: Sequence[Pattern]) -> None:
        """Keep the names that only omitted operands have."""
        self.omitted.update(*[each.names for each in inputs])
        self.omitted.difference_update(*[each.names for each in given])
        # A sum that has only such names determines them: the sum of the initial states is in the ends of the texts.
        sums = [names for each in given for names in each.sums if names <= self.omitted]
        self.omitted.difference_update(*sums)

    def _take(self, index: int, pattern: Pattern, terms: tuple[Term, ...]) -> None:
        if not terms:
            self.node.scalar(index)
            return
        run = pattern.run
        shape = self.node.shape(index, len(terms)) if run is None else self.node.shape(index, at_least=len(terms) - 1)
        if shape is None:
            return
        for at, term in enumerate(terms):
            if run is None or at < run:
                self._bind(index, at, term)
            elif at > run:
                self._bind(index, len(shape) - len(terms) + at, term)
            else:
                self._bind_run(index, at, shape[at : len(shape) - len(terms) + 1 + at], term.name)

    def _bind_run(self, index: int, begin: int, dims: Dims, name: str) -> None:
        known = self.runs.get(name)
        if known is None:
            self.runs[name] = dims, index, begin
            return
        first, operand, start = known
        if len(first) != len(dims):
            rank = len(self.node.fact(index).shape or ()) - len(dims) + len(first)
            self.node.wrong_rank(index, rank, rank, operand)
            return
        for at in range(len(first)):
            self.node.equal((operand, start + at), (index, begin + at))
        merged = [unified(dim, dims[at]) for at, dim in enumerate(first)]
        self.runs[name] = tuple(merged), operand, start

    def _bind(self, index: int, axis: int, term: Term) -> None:
        if term.kind == "any" and not term.also:
            return
        expected, by = self._value(term)
        if term.also and not self._bind_also(index, axis, term.also, is_open=expected is None):
            return  # the dimension that has the name first is a multiple, or not
        if term.kind == "any" or (term.or_one and self.node.dim(index, axis) == 1):
            return
        if self.waiting is not None and term.kind in ("sum", "multiple") and expected is None:
            self.waiting.append((index, axis, term))
        elif term.kind == "multiple":
            self._bind_multiple((index, axis), term, divisor=expected, by=by)
        elif term.times is not None:
            self._bind_part(index, axis, term.name, term.times)
        elif isinstance(expected, int) or term.kind != "name":
            self.node.same((index, axis), expected, by)
        else:
            self._bind_name(index, axis, term, expected, by)

    def _bind_multiple(self, at: tuple[int, int], term: Term, *, divisor: Dim, by: ProblemPlace | None) -> None:
        """Record a dimension that is not a multiple of a number, or of the term's factor if the number is unknown."""
        known = divisor if isinstance(divisor, int) else term.factor
        if known:
            self.node.quotient(at, known, by)

    def _bind_also(self, index: int, axis: int, name: str, *, is_open: bool) -> bool:
        """Bind the name of a dimension that is computed; return whether it is still to be compared with the number.

        `is_open`: whether the number is unknown so far.
        """
        known, source = self.dims.get(name, (None, None))
        if not is_open or self.waiting is None:
            found = self.node.dim(index, axis)
            # A variable does not take the place of a number that another operand has.
            if isinstance(found, int) or not isinstance(known, int):
                self.dims[name] = found, self.node.place(index, axis)
            return True
        self._bind_name(index, axis, Term(name), known, source)
        return not isinstance(known, int)

    def _bind_name(self, index: int, axis: int, term: Term, expected: Dim, by: ProblemPlace | None) -> None:
        """Bind a name, which is known to be `expected` so far, to a dimension."""
        found, place = self.node.dim(index, axis), self.node.place(index, axis)
        if term.factor == 1:
            if not term.or_one:
                first = self.firsts.setdefault(term.name, (index, axis))
                if first[0] != index and isinstance(found, int):
                    self.node.equal(first, (index, axis))
            self.dims[term.name] = unified(expected, found), place if agree(expected, found) else by
        elif place is not None and isinstance(found, int) and term.factor:
            if found % term.factor:
                self.node.indivisible(place, term.factor)
            else:
                self.dims[term.name] = found // term.factor, place

    def _bind_part(self, index: int, axis: int, name: str, factor: SizeSum) -> None:
        """Bind a name to a dimension divided by the number in an attribute, or by a sum of them."""
        found, place, times = self.node.dim(index, axis), self.node.place(index, axis), self._computed(factor)
        if not isinstance(times, int) or times < 1 or not isinstance(found, int) or place is None:
            return
        attribute = factor.attributes[0]
        by = Element(attribute, self.node.integer(attribute))
        self.parts.setdefault(name, by)
        dim = self.dims.get(name, (None, None))[0]
        if isinstance(dim, int):
            self.node.same((index, axis), dim * times, self.dims[name][1])
        elif found % times:
            self.node.indivisible(place, times, by if len(factor.attributes) == 1 else None)
        else:
            self.dims[name] = found // times, place

    def _solve(self, index: int, axis: int, computed: SizeSum) -> None:
        """Bind the one name in a sum that no other operand determines, if the sum is known, and is linear in it."""
        found, place = self.node.dim(index, axis), self.node.place(index, axis)
        if not isinstance(found, int):
            return
        parts = [self._linear(product) for product in computed.products]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return
        # The sum is the number times one name, plus another number: both in the same fractions.
        whole = lcm(*[part.divisor for part in known])
        times: dict[str, int] = {}
        for part in known:
            times[part.name] = times.get(part.name, 0) + part.factor * whole // part.divisor
        rest = found * whole - times.pop("", 0)
        if len(times) != 1:
            return
        ((name, factor),) = times.items()
        if factor and rest % factor == 0 and rest // factor >= 0:
            self.dims[name] = rest // factor, place

    def _linear(self, product: SizeProduct) -> _Linear | None:
        """Return a product as a multiple of the one name that is unknown, or of none; None if it is anything else."""
        unknown, factor, divisor = "", -1 if product.is_negative else 1, 1
        for part in product.parts:
            size = self._value_of(part) if part.kind != "ceiling" else None
            if part.operation == "*" and isinstance(size, int):
                factor *= size
            elif part.operation == "/" and isinstance(size, int) and size:
                divisor *= size
            elif part.operation == "*" and part.kind == "dimension" and not unknown:
                unknown = part.name
            else:
                return None
        return _Linear(unknown, factor, divisor)

    def _computed(self, computed: SizeSum) -> Dim:
        """Return the value of a sum; None if a part is unknown."""
        total: Dim = 0
        for product in computed.products:
            found = self._value_of_product(product)
            if product.is_negative:
                found = -found if isinstance(found, int) else None
            total = add(total, found)
        return total

    def _value_of_product(self, product: SizeProduct) -> Dim:
        """Return the value of a product without its sign, computed from the left."""
        first, *rest = product.parts
        found = self._value_of(first)
        for part in rest:
            found = _OPERATIONS[part.operation](found, self._value_of(part))
        return found

    def _value_of(self, part: SizePart) -> Dim:
        """Return the value of a part of a product; None if it is unknown."""
        if part.dividend is not None and part.divisor is not None:
            return _rounded_up(self._value_of_product(part.dividend), self._value_of(part.divisor))
        if part.kind == "attribute":
            return self._argument(part.name, part.number)
        if part.kind == "input":
            return self._constant(part.name)
        if part.kind == "dimension":
            return 0 if part.name in self.omitted else self.dims.get(part.name, (None, None))[0]
        return part.number

    def _source(self, computed: SizeSum) -> ProblemPlace | None:
        """Return the source of the only size in a sum that an operand determines; None if there are several.

        Of a quotient that is rounded down it is the source of the first size.
        """
        if computed.is_rounded_down:
            return self._place(computed.first)
        names = computed.names - self.omitted
        return self.dims.get(next(iter(names)), (None, None))[1] if len(names) == 1 else None

    def _constant(self, name: str) -> int | None:
        """Return the one number in an input; None if it is unknown, or is not a size."""
        number = self.node.first_element(self.node.input(name))
        return number if isinstance(number, int) and number >= 0 else None

    def _value(self, term: Term) -> tuple[Dim, ProblemPlace | None]:
        """Return the value of a term so far, and its source."""
        if term.kind == "name" and term.factor == 1 and term.times is None:
            return self.dims.get(term.name, (None, None))
        if term.kind in ("number", "any"):
            return term.factor, None
        if term.computed is not None:
            return self._computed(term.computed), self._source(term.computed)
        if term.kind == "attribute":
            value = self._argument(term.name, term.element)
            if value is None:
                return None, None
            return multiply(value, term.factor), Element(term.name, value, term.element)
        dim, place = self.dims.get(term.name, (None, None))
        factor = term.factor if term.times is None else self._computed(term.times)
        return multiply(dim, factor), place

    def _place(self, part: SizePart) -> ProblemPlace | None:
        """Return where the node has a size."""
        if part.kind == "attribute":
            return Element(part.name, self.node.integer(part.name))
        return self.dims.get(part.name, (None, None))[1]

    def _argument(self, name: str, element: int | None) -> int | None:
        """Return the number in an attribute, or in an element of a list; None for a negative one, which is no size."""
        if element is None:
            value = self.node.integer(name)
        else:
            values = self.node.integers(name) or ()
            value = values[element] if element < len(values) else None
        return value if value is None or value >= 0 else None

    def _shape(self, pattern: Pattern) -> Dims | None:
        if pattern.terms is None:
            return None
        found: list[Dim] = []
        for term in pattern.terms:
            if term.kind == "run":
                if term.name not in self.runs:
                    return None
                found += self.runs[term.name][0]
            else:
                found.append(self._value(term)[0])
        return tuple(found)
