# SPDX-License-Identifier: Apache-2.0
"""Shape rules that are equations: "X[n c *spatial] scale[c] -> Y[n c *spatial]".

The inputs in order are left of the arrow, the outputs right of it. The dimensions are in brackets:

    n               a dimension; all with the same name agree
    *spatial        any number of dimensions; all with the same name agree; one in each operand
    4               this size
    @hidden_size    the size in an attribute; for a list attribute: @shape.0, its first element
    3*@hidden_size  a multiple of an attribute or of a name
    @heads*h        a name times an attribute
    ?*h             any multiple of a name
    1|n             1 or n
    p+t             a sum, product (2*n*@heads, b*s) or quotient (n/@heads; rounded down: n//2; rounded up: n^2) of what
                    the other operands determine, or which determines the one name in it that they leave open; a name
                    that only omitted operands have is 0, unless the sum has no other
    (@q+2*@k)*h     a name times a sum of attributes
    #total          the number in an input that is constant
    w=@heads*h      the same, and w is a name of the dimension
    ?               any dimension, and in an output an unknown one

An operand without brackets may have any shape (an output: an unknown one). [] is a scalar, or a tensor of one element.
"..." at the end of the inputs means any further ones. Inputs that the node omits are ignored. Where an operator takes
several forms (`onnx_lint.inference.shapes.forms`), "-" is an input that the form does not have, and name! one that it
must have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from math import lcm
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.inference.shapes.dims import Dim, Dims, add, agree, divide, multiply, unified
from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, ProblemPlace

_SUMMANDS: Final = re.compile(r"([+-]?)([^+-]+)")
_FACTORS: Final = re.compile(r"(//|[*/^])")
_NAMES: Final = re.compile(r"(?<![@#\w.])[^\W\d]\w*")
_NAMES_OF_ATTRIBUTES: Final = re.compile(r"@(\w+)")
_SIGNS: Final = str.maketrans("", "", "+-*/^@#._")
"""What is in a sum besides names and numbers."""


class Term(Record):
    """One dimension of an equation, or a run of them."""

    name: str
    """The name or attribute; empty for a number and for any dimension."""
    factor: int | None = 1
    """The factor of the named size; the value of a number; None for any dimension."""
    kind: str = "name"
    """`name`, `run`, `attribute`, `number`, `sum`, `multiple` or `any`."""
    element: int | None = None
    """The index of the element, for an attribute that is a list."""
    times: str | None = None
    """An attribute, or a sum of them, that is another factor of a name."""
    or_one: bool = False
    """True if 1 is valid too."""
    also: str = ""
    """Another name of the dimension."""


class Pattern(Record):
    """An operand of an equation."""

    name: str
    terms: tuple[Term, ...] | None
    """None for any shape."""
    run: int | None = None
    """The index of the run among the terms; None if there is none."""
    names: frozenset[str] = frozenset()
    """What the terms name."""
    sums: tuple[frozenset[str], ...] = ()
    """The names in each sum among them."""


class ShapeEquation(Record):
    """The operands of an operator."""

    inputs: tuple[Pattern, ...]
    outputs: tuple[Pattern, ...]


@cache
def equation(text: str) -> ShapeEquation:
    """Parse an equation. Raises ValueError for a malformed one."""
    left, arrow, right = text.partition("->")
    if not arrow:
        raise ValueError(f"an equation without an arrow: {text}")
    return ShapeEquation(tuple(_patterns(left.strip().removesuffix("..."))), tuple(_patterns(right)))


@cache
def operand(text: str) -> Pattern:
    """Parse one operand of an equation. Raises ValueError for a malformed one."""
    (found,) = _patterns(text)
    return found


def _patterns(text: str) -> Iterator[Pattern]:
    text = text.strip()
    while text:
        length = next((at for at, sign in enumerate(text) if not (sign.isalnum() or sign in "_-!")), len(text))
        name, rest = text[:length], text[length:]
        terms, bracket, following = rest[1:].partition("]") if rest.startswith("[") else ("", "", rest)
        if (name != "-" and not name.removesuffix("!").isidentifier()) or (not bracket and following != rest):
            raise ValueError(f"no operand at {text!r}")
        yield _pattern(name, tuple(map(_term, terms.split())) if bracket else None)
        text = following.lstrip(" ")


def _pattern(name: str, terms: tuple[Term, ...] | None) -> Pattern:
    run = next((at for at, term in enumerate(terms or ()) if term.kind == "run"), None)
    sums = tuple([frozenset(_NAMES.findall(term.name)) for term in terms or () if term.kind == "sum"])
    return Pattern(name, terms, run, frozenset([term.name for term in terms or ()]), sums)


def _term(text: str) -> Term:
    if text == "?":
        return Term("", None, "any")
    if text.startswith("1|"):
        return replace(_term(text[2:]), or_one=True)
    if text.startswith("?*"):
        return replace(_term(text[2:]), kind="multiple")
    name, is_named, rest = text.partition("=")
    if is_named:
        return replace(_term(rest), also=name)
    if text.startswith("*") and f"_{text[1:]}".isidentifier() and text != "*":
        return Term(text[1:], 1, "run")
    return _size(text)


def _size(text: str) -> Term:
    """Parse a dimension that is a number, a name, or computed of these."""
    if text.isdecimal():
        return Term("", int(text), "number")
    factor, times, rest = text.rpartition("*")
    if factor.startswith("@") and f"{factor[1:]}{rest}".isidentifier():
        return Term(rest, times=factor)
    if factor.startswith("(@") and factor.endswith(")") and rest.isidentifier():
        return Term(rest, times=factor[1:-1])
    name, dot, element = rest.removeprefix("@").partition(".")
    if name.isidentifier() and (not times or factor.isdecimal()) and (not dot or element.isdecimal()):
        kind = "attribute" if rest.startswith("@") else "name"
        return Term(name, int(factor or 1), kind, int(element) if element else None)
    if not set(text) & set("+-*/^#") or not text.translate(_SIGNS).isalnum():
        raise ValueError(f"no dimension: {text!r}")
    return Term(text, 1, "sum")


Size = tuple[Dim, ProblemPlace | None]
"""A size and its source."""


def solve(text: str, node: Operands, **known: Size) -> Outputs:
    """Compare the operands of a node with an equation, and return the shapes of its outputs.

    `known`: names whose sizes something else than a dimension says, such as an attribute.
    """
    return NameBindings(node, known).outputs(equation(text))


def _rounded_down(one: Dim, other: Dim) -> Dim:
    return one // other if isinstance(one, int) and isinstance(other, int) and other else None


def _rounded_up(one: Dim, other: Dim) -> Dim:
    return -(-one // other) if isinstance(one, int) and isinstance(other, int) and other else divide(one, other)


_OPERATIONS: Final = {"*": multiply, "/": divide, "//": _rounded_down, "^": _rounded_up}


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
            self.omitted.update(*[each.names for each in equation.inputs])
            self.omitted.difference_update(*[each.names for _, each in given])
            # A sum of none but such names says what they are: that of initial states is in the ends of the texts.
            alone = [names for _, each in given for names in each.sums if names <= self.omitted]
            self.omitted.difference_update(*alone)
        for index, pattern in given:
            if pattern.terms is not None:
                self._take(index, pattern, pattern.terms)
        waiting, self.waiting = self.waiting or (), None
        for index, axis, term in waiting:
            if term.kind == "sum":
                self._solve(index, axis, term.name)
        for each in waiting:
            self._bind(*each)
        return [self._shape(pattern) for pattern in equation.outputs]

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
            divisor = expected if isinstance(expected, int) else term.factor
            if divisor:
                self.node.quotient((index, axis), divisor, by)
        elif term.times is not None:
            self._bind_part(index, axis, term.name, term.times)
        elif isinstance(expected, int) or term.kind != "name":
            self.node.same((index, axis), expected, by)
        else:
            self._bind_name(index, axis, term, expected, by)

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

    def _bind_part(self, index: int, axis: int, name: str, factor: str) -> None:
        """Bind a name to a dimension divided by the number in an attribute, or by a sum of them."""
        found, place, times = self.node.dim(index, axis), self.node.place(index, axis), self._computed(factor)
        if not isinstance(times, int) or times < 1 or not isinstance(found, int) or place is None:
            return
        first = _NAMES_OF_ATTRIBUTES.findall(factor)
        by = Element(first[0], self.node.integer(first[0]))
        self.parts.setdefault(name, by)
        dim = self.dims.get(name, (None, None))[0]
        if isinstance(dim, int):
            self.node.same((index, axis), dim * times, self.dims[name][1])
        elif found % times:
            self.node.indivisible(place, times, by if len(first) == 1 else None)
        else:
            self.dims[name] = found // times, place

    def _solve(self, index: int, axis: int, text: str) -> None:
        """Bind the one name in a sum that no other operand determines, if the sum is known, and is linear in it."""
        found, place = self.node.dim(index, axis), self.node.place(index, axis)
        if not isinstance(found, int):
            return
        parts = self._summands(text)
        if parts is None:
            return
        # The sum is the number times one name, plus another number: both in the same fractions.
        whole = lcm(*[divisor for *_, divisor in parts])
        of_name = sum(factor * whole // divisor for name, factor, divisor in parts if name)
        rest = found * whole - sum(factor * whole // divisor for name, factor, divisor in parts if not name)
        names = {name for name, *_ in parts if name}
        if len(names) == 1 and of_name and rest % of_name == 0 and rest // of_name >= 0:
            self.dims[names.pop()] = rest // of_name, place

    def _summands(self, text: str) -> list[tuple[str, int, int]] | None:
        """Return the products of a sum as `_linear` does, with their signs; None if one is not linear."""
        found: list[tuple[str, int, int]] = []
        for sign, product in _SUMMANDS.findall(text):
            part = self._linear(product)
            if part is None:
                return None
            unknown, factor, divisor = part
            found.append((unknown, -factor if sign == "-" else factor, divisor))
        return found

    def _linear(self, product: str) -> tuple[str, int, int] | None:
        """Return a product as an unknown name, or none, a factor and a divisor; None if it is anything else."""
        unknown, factor, divisor = "", 1, 1
        for operation, name in zip(*[iter(("*", *_FACTORS.split(product)))] * 2, strict=True):
            size = self._named(name)
            if operation == "*" and isinstance(size, int):
                factor *= size
            elif operation == "/" and isinstance(size, int) and size:
                divisor *= size
            elif operation == "*" and name.isidentifier() and not unknown:
                unknown = name
            else:
                return None
        return unknown, factor, divisor

    def _computed(self, text: str) -> Dim:
        """Return the value of a sum of products and quotients; None if a part is unknown."""
        total: Dim = 0
        for sign, product in _SUMMANDS.findall(text):
            first, *rest = _FACTORS.split(product)
            found = self._named(first)
            for operation, other in zip(rest[::2], rest[1::2], strict=True):
                found = _OPERATIONS[operation](found, self._named(other))
            if sign == "-":
                found = -found if isinstance(found, int) else None
            total = add(total, found)
        return total

    def _source(self, text: str) -> ProblemPlace | None:
        """Return the source of the only size in a sum that an operand determines; None if there are several."""
        names = {name for name in _NAMES.findall(text) if name not in self.omitted}
        return self.dims.get(names.pop(), (None, None))[1] if len(names) == 1 else None

    def _named(self, name: str) -> Dim:
        if name.isdecimal():
            return int(name)
        if name.startswith("@"):
            return self._argument(_term(name))
        if name.startswith("#"):
            return self._constant(name[1:])
        return 0 if name in self.omitted else self.dims.get(name, (None, None))[0]

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
        if term.kind == "sum":
            return self._computed(term.name), self._place(term.name) if "//" in term.name else self._source(term.name)
        if term.kind == "attribute":
            value = self._argument(term)
            if value is None:
                return None, None
            return multiply(value, term.factor), Element(term.name, value, term.element)
        dim, place = self.dims.get(term.name, (None, None))
        factor = term.factor if term.times is None else self._computed(term.times)
        return multiply(dim, factor), place

    def _place(self, text: str) -> ProblemPlace | None:
        """Return where the node has the first size of a product."""
        name = _FACTORS.split(text)[0]
        if name.startswith("@"):
            return Element(name[1:], self.node.integer(name[1:]))
        return self.dims.get(name, (None, None))[1]

    def _argument(self, term: Term) -> int | None:
        """Return the number in an attribute; None for a negative one, which is not a size."""
        if term.element is None:
            value = self.node.integer(term.name)
        else:
            values = self.node.integers(term.name) or ()
            value = values[term.element] if term.element < len(values) else None
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
