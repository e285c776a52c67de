# SPDX-License-Identifier: Apache-2.0
"""What a shape rule sees of a node: version, attributes, shapes and contents; no names, no places, no protos.

Its methods take note of what is wrong and go on with what is left, so that two wrong operands are two problems.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, overload

from onnx_lint.common.record import Record, replace
from onnx_lint.inference.shapes.dims import SIZE_LIMIT, Dim, Dims, Shape, broadcast, clash, product, unified
from onnx_lint.inference.shapes.fact import ABSENT, MOST_DIMENSIONS, MOST_ELEMENTS, Content, Fact
from onnx_lint.inference.shapes.problem import (
    AxisOutOfRange,
    Dimension,
    Element,
    Indivisible,
    NotBroadcast,
    NotOneElement,
    Overflow,
    Place,
    Problem,
    Repeated,
    Source,
    TwoSizes,
    Unequal,
    WrongCount,
    WrongRank,
    WrongValue,
    is_remark,
)
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.operators.operand_ranks import SCALAR, UP_TO_1, OperandRanks, contains, operand_ranks

Argument = int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | Fact
"""The value of an attribute; tensors and types as the fact of such a value."""


class Inside(Record):
    """The shape of what a sequence or an optional holds."""

    shape: Shape | Inside
    count: Dim = None
    """How many elements a sequence has."""


Output = Shape | Inside
"""The shape of an output."""

Outputs = Sequence[Output]
"""The shapes of the first outputs; those of the others are unknown."""

UNKNOWN: Outputs = ()
"""No shape of an output is known."""


EQUATED: Final = {
    "Concat": 2**31,
    "Conv": 3,
    "ConvTranspose": 3,
    "Gemm": 2,
    "MatMul": 2,
    "MatMulInteger": 2,
}
"""The operators with dimensions that have to be the same, and for how many inputs: Gemm broadcasts the third one."""

_OTHERS = OperandRanks(UP_TO_1, UP_TO_1, UP_TO_1)
"""What passes for a number where nothing is known of the consumers, as in operators of other domains."""

_TAKES_FIRST = frozenset({"NonMaxSuppression", "SequenceAt", "SequenceErase", "SequenceInsert"})
"""The operators of ai.onnx whose kernels in ONNX Runtime take the first of several elements where one is required."""


class Operands:
    """The operands of a node, and the problems that were found with them."""

    __slots__ = ("_attributes", "_bound", "facts", "output_count", "problems", "remarks", "schema")

    def __init__(
        self, schema: OperatorSchema, attributes: Mapping[str, Argument], facts: tuple[Fact, ...], output_count: int
    ) -> None:
        self.schema = schema
        self._attributes = attributes
        self.facts = facts
        self.output_count = output_count
        self.problems: list[Problem] = []
        self._bound: dict[str, Dimension] = {}
        """The sizes for which variables stand in this node."""
        self.remarks: list[Problem] = []
        """What the operator's text forbids and consumers take in some models; the outputs are known all the same."""

    @property
    def operator(self) -> str:
        """The name of the operator."""
        return self.schema.name

    @property
    def version(self) -> int:
        """The version of the operator set since which the operator is as it is here."""
        return self.schema.since_version

    @property
    def count(self) -> int:
        """The number of inputs, those that are left out in between included."""
        return len(self.facts)

    # --- inputs

    def fact(self, index: int) -> Fact:
        """What is known of an input; ABSENT also where the node ends before it."""
        return self.facts[index] if index < len(self.facts) else ABSENT

    def given(self, index: int) -> bool:
        """Whether the node has the input."""
        return self.fact(index) is not ABSENT

    def shape(
        self,
        index: int,
        rank: int | None = None,
        *,
        at_least: int = 0,
        at_most: int | None = None,
        like: Source | None = None,
    ) -> Shape:
        """The shape of an input. One of another rank than the operator takes is noted and given as None.

        `like` is the operand or attribute from which the rank follows.
        """
        shape = self.fact(index).shape
        if shape is None:
            return None
        least, greatest = (at_least, at_most) if rank is None else (rank, rank)
        if len(shape) < least or (greatest is not None and len(shape) > greatest):
            ranks = operand_ranks(self.schema, index) if rank == 1 else None
            if ranks is not None and contains(ranks.text, len(shape)):
                return (product(shape),)
            if rank is not None and like is None and self._may_be_read(shape) and self._remarks_rank(index, rank):
                return (product(shape),) if rank == 1 else None
            self.problems.append(WrongRank(index, len(shape), least, greatest, like))
            return None
        return shape

    def scalar(self, index: int) -> Dim | float:
        """Return the one element of an input that holds a number; None where it is not known.

        Tensors of one element pass as far as the operator, or one of its consumers, takes them.
        """
        shape = self.fact(index).shape
        if shape:
            ranks = operand_ranks(self.schema, index) or _OTHERS
            if any(isinstance(size, int) and size != 1 for size in shape):
                takes_first = self.operator in _TAKES_FIRST and not self.schema.domain and 0 not in shape
                self._note(NotOneElement(index, ranks.text == SCALAR, takes_first))
                return None
            is_sure = contains(ranks.text, len(shape)) and contains(ranks.constant, len(shape))
            if not is_sure and not self._remarks_rank(index, 0):
                self.problems.append(WrongRank(index, len(shape), *ranks.text))
                return None
        content = self.content(index)
        return content[0] if content else None

    def _may_be_read(self, shape: Dims) -> bool:
        """Return whether consumers may read a tensor: where a list is required, a row, and Compress reads any."""
        return self.operator in ("Compress", "STFT") or all(size == 1 for size in shape[:-1])

    def _remarks_rank(self, index: int, wanted: int) -> bool:
        """Note a rank that consumers take in some models in place of another; return whether they do."""
        ranks = operand_ranks(self.schema, index)
        if ranks is None:
            return False
        rank = len(self.fact(index).shape or ())
        of_constants, at_run = contains(ranks.constant, rank), contains(ranks.run, rank)
        if of_constants or at_run:
            is_customary = contains(ranks.text, rank)
            self._note(WrongRank(index, rank, wanted, wanted, None, of_constants, at_run, is_customary))
        return of_constants or at_run

    def _note(self, problem: Problem) -> None:
        """Note a problem once, among the remarks where consumers may take the node."""
        noted = self.remarks if is_remark(problem) else self.problems
        if problem not in noted:
            noted.append(problem)

    def content(self, index: int) -> Content:
        """The elements of an input, row by row, as far as they are known; the rule names the input in `reads`."""
        return self.fact(index).content

    def integers_in(self, index: int) -> Dims | None:
        """The elements of an input that is a list of integers: its content, or as many unknowns as its shape says.

        None where neither is known. An input that is not of rank 1 is noted.
        """
        known = self.fact(index).shape
        shape = self.shape(index, rank=1)
        if shape is None and known is not None:
            return None
        content = self.content(index)
        if content is not None:
            return tuple([None if isinstance(element, float) else element for element in content])
        if shape is not None and isinstance(shape[0], int) and 0 <= shape[0] <= MOST_ELEMENTS:
            return (None,) * shape[0]
        return None

    def held(self, index: int) -> Output:
        """The shape of an input that may be a tensor, a sequence or an optional."""
        return held(self.fact(index))

    def inside(self, index: int) -> Output:
        """The shape of the elements of a sequence, or of what an optional holds."""
        inside = self.fact(index).inside
        return None if inside is None else held(inside)

    def element_count(self, index: int) -> Dim:
        """How many elements a sequence has; the rule names the input in `reads`."""
        return count_in(self.fact(index))

    # --- attributes

    def has(self, name: str) -> bool:
        """Whether the node gives the attribute."""
        return name in self._attributes

    def argument(self, name: str) -> Argument | None:
        """The value of an attribute or its default; None for one without either."""
        if name in self._attributes:
            return self._attributes.get(name)  # None too for one whose value cannot be read
        declared = self.schema.attributes.get(name)
        return declared.default if declared is not None else None

    @overload
    def integer(self, name: str) -> int | None: ...
    @overload
    def integer(self, name: str, otherwise: int) -> int: ...
    def integer(self, name: str, otherwise: int | None = None) -> int | None:
        """The value of an INT: as the node gives it, or the signature's default, or else `otherwise`."""
        value = self.argument(name)
        return value if isinstance(value, int) else otherwise

    @overload
    def number(self, name: str) -> float | None: ...
    @overload
    def number(self, name: str, otherwise: float) -> float: ...
    def number(self, name: str, otherwise: float | None = None) -> float | None:
        """The value of a FLOAT, as `integer` does for an INT."""
        value = self.argument(name)
        return float(value) if isinstance(value, int | float) else otherwise

    @overload
    def text(self, name: str) -> str | None: ...
    @overload
    def text(self, name: str, otherwise: str) -> str: ...
    def text(self, name: str, otherwise: str | None = None) -> str | None:
        """The value of a STRING, as `integer` does for an INT."""
        value = self.argument(name)
        return value if isinstance(value, str) else otherwise

    def integers(self, name: str) -> tuple[int, ...] | None:
        """The elements of INTS; None where neither the node nor the signature gives any list."""
        value = self.argument(name)
        return tuple([each for each in value if isinstance(each, int)]) if isinstance(value, tuple) else None

    def numbers(self, name: str) -> tuple[float, ...] | None:
        """The elements of FLOATS; None where neither the node nor the signature gives any list."""
        value = self.argument(name)
        if not isinstance(value, tuple):
            return None
        return tuple([float(each) for each in value if isinstance(each, int | float)])

    def length(self, name: str) -> int | None:
        """How many elements a list attribute has, or a tensor of rank 1; None where there is none."""
        value = self.argument(name)
        if isinstance(value, Fact):
            shape = value.shape
            return shape[0] if shape is not None and len(shape) == 1 and isinstance(shape[0], int) else None
        return len(value) if isinstance(value, tuple) else None

    def tensor(self, name: str) -> Fact | None:
        """What is known of the value of a TENSOR or SPARSE_TENSOR, or of a value of the type of a TYPE_PROTO."""
        value = self.argument(name)
        return value if isinstance(value, Fact) else None

    # --- what has to hold

    def equal(self, one: tuple[int, int], other: tuple[int, int]) -> Dim:
        """The dimension that two operands, each an index and an axis, have to share; None where a shape is unknown.

        Of two sizes that differ, which is noted of the later operand, the earlier one's is given.
        """
        first, second = sorted([one, other], key=lambda each: each[0])
        return self.same(second, self.dim(*first), self.place(*first))

    def same(self, at: tuple[int, int], expected: Dim, by: Place | None) -> Dim:
        """What is known of the dimension of an operand (index, axis) that has to be `expected`, as `by` says."""
        found = self.dim(*at)
        if isinstance(found, int) and isinstance(expected, int):
            if found != expected:
                self.problems.append(Unequal(self._dimension(*at), expected, by))
        elif at[0] < EQUATED.get(self.operator, 0) and not self.schema.domain:
            self._bind(at, found, expected)
        return unified(expected, found)

    def _bind(self, at: tuple[int, int], found: Dim, expected: Dim) -> None:
        """Take in that a variable is a size here; two sizes of one variable are noted."""
        variable, size = (found, expected) if isinstance(found, str) else (expected, found)
        if not isinstance(variable, str) or not isinstance(size, int):
            return
        bound = replace(self._dimension(*at), size=size)
        first = self._bound.setdefault(variable, bound)
        if first.size != bound.size and not any(isinstance(each, TwoSizes) for each in self.problems):
            self.problems.append(TwoSizes(variable, first, bound))

    def dim(self, index: int, axis: int) -> Dim:
        """A dimension of an input, counted from the end where the axis is negative; None where the rank is unknown."""
        shape = self.fact(index).shape
        return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None

    def place(self, index: int, axis: int) -> Place | None:
        """A dimension of an input as the source of a size; None where it is no size."""
        return self._dimension(index, axis) if isinstance(self.dim(index, axis), int) else None

    def _dimension(self, index: int, axis: int) -> Dimension:
        size = self.dim(index, axis)
        rank = len(self.fact(index).shape or ())
        return Dimension(index, axis + rank if axis < 0 else axis, size if isinstance(size, int) else -1)

    def broadcast(self, shapes: Sequence[Shape], operands: Sequence[int], trailing: int = 0) -> Shape:
        """The shape to which parts of operands are broadcast; what does not fit is noted.

        `trailing` axes of each operand stand behind its part, as the two that MatMul multiplies.
        """
        known = [(shape, operand) for shape, operand in zip(shapes, operands, strict=True) if shape is not None]
        wrong = clash([shape for shape, _ in known])
        if wrong is not None:
            one, other, axis = wrong
            places = [self._dimension(known[at][1], axis - trailing) for at in (one, other)]
            self.problems.append(NotBroadcast(places[0], places[1]))
        if len(known) < len(shapes) or wrong is not None:
            return None
        return broadcast([shape for shape, _ in known])

    def axis(
        self, value: Dim | float, rank: int, source: Source, index: int | None = None, *, negative: bool = True
    ) -> int | None:
        """An axis as a number from 0 to `rank` - 1; None where it is unknown, or out of range, which is noted.

        `source` is the attribute or operand that gives it, `index` its place in a list.
        """
        if not isinstance(value, int):
            return None
        least = -rank if negative else 0
        if not least <= value < rank:
            self.problems.append(AxisOutOfRange(Element(source, value, index), rank, least))
            return None
        return value + rank if value < 0 else value

    def axes(
        self,
        values: Iterable[Dim | float],
        rank: int,
        source: Source,
        *,
        negative: bool = True,
        repeated: bool = False,
    ) -> tuple[int, ...] | None:
        """A list of axes as numbers from 0 to `rank` - 1; None where one is unknown, or wrong, which is noted.

        `repeated` says that an axis may stand there twice.
        """
        found: dict[int, int] = {}
        places: list[int] = []
        are_known = True
        for index, value in enumerate(values):
            axis = self.axis(value, rank, source, index, negative=negative)
            if axis is None:
                are_known = False
                continue
            if axis in found and not repeated:
                self.problems.append(Repeated(Element(source, value, index), found[axis]))
                are_known = False
            found.setdefault(axis, index)
            places.append(axis)
        return tuple(places) if are_known else None

    def indivisible(self, place: Place, divisor: int, by: Place | None = None) -> None:
        """Note a number that is no multiple of another."""
        self.problems.append(Indivisible(place, divisor, by))

    def has_count(self, source: Source, count: int, expected: int, by: Source | None = None) -> bool:
        """Whether a list has as many elements as it needs; another number is noted."""
        if count != expected:
            self.problems.append(WrongCount(source, count, expected, by))
        return count == expected

    def wrong_value(
        self, source: Source, value: object, reason: str, index: int | None = None, *, allowed: str | None = None
    ) -> None:
        """Note a number that the operator does not take there.

        `reason` says why, `allowed` what it takes; where that is the same, `reason` says both.
        """
        self.problems.append(WrongValue(Element(source, value, index), reason, reason if allowed is None else allowed))

    def wrong_rank(self, index: int, least: int, greatest: int | None = None, like: Source | None = None) -> None:
        """Note the rank of an input whose shape is known."""
        self.problems.append(WrongRank(index, len(self.fact(index).shape or ()), least, greatest, like))

    def at_least(self, least: int, values: Sequence[Dim | float], source: Source) -> bool:
        """Whether no known number of a list is less; those that are noted."""
        wrong = [(index, value) for index, value in enumerate(values) if isinstance(value, int) and value < least]
        for index, value in wrong:
            self.wrong_value(source, value, f"at least {least}", index)
        return not wrong

    # --- the result

    def finished(self, outputs: Outputs) -> tuple[Output, ...]:
        """A shape for each output. Nothing is known behind a problem: one fault, one finding."""
        found = list(outputs[: self.output_count])
        for index, shape in enumerate(found):
            if not isinstance(shape, tuple):
                continue
            sizes = [dim for dim in shape if isinstance(dim, int)]
            if sizes and max(sizes) >= SIZE_LIMIT and not self.problems:
                self.problems.append(Overflow(index, shape.index(max(sizes))))
            if len(shape) > MOST_DIMENSIONS:
                found[index] = None
        if self.problems:
            found = [None] * len(found)
        return (*found, *[None] * (self.output_count - len(found)))


def held(fact: Fact) -> Output:
    """The shape in a fact as a rule gives shapes."""
    if fact.inside is None and not is_sequence(fact.kind):
        return fact.shape
    return Inside(held(fact.inside) if fact.inside is not None else None, count_in(fact))


def count_in(fact: Fact) -> Dim:
    """How many elements a sequence has: what stands as content in what is known of it."""
    count = fact.content[0] if fact.content and is_sequence(fact.kind) else None
    return count if not isinstance(count, float) else None


def is_sequence(kind: str | None) -> bool:
    """Whether a type is that of sequences."""
    return kind is not None and kind.startswith("seq(")
