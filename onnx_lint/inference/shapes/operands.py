# SPDX-License-Identifier: Apache-2.0
"""The view of a node for shape rules: version, attributes, shapes and contents; no names, no places, no protos.

Its methods record problems and continue with the rest, so that two wrong operands are two problems.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, overload

from onnx_lint.common.record import EMPTY, Record, replace
from onnx_lint.inference.shapes.dims import (
    SIZE_LIMIT,
    Dim,
    Dims,
    Shape,
    broadcast,
    clashes,
    divide,
    product,
    unified,
    union,
)
from onnx_lint.inference.shapes.fact import (
    ABSENT,
    MAX_CONTENT_ELEMENTS,
    MAX_DIMENSIONS,
    Content,
    ElementContents,
    ElementShapes,
    Fact,
)
from onnx_lint.inference.shapes.problem import (
    AxisOutOfRange,
    Element,
    Indivisible,
    InputDimension,
    NotBroadcast,
    NotOneElement,
    NumberSource,
    Overflow,
    ProblemPlace,
    Repeated,
    ShapeProblem,
    TwoSizes,
    Unequal,
    WrongCount,
    WrongRank,
    WrongValue,
    is_warning,
)
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.operators.operand_ranks import SCALAR, UP_TO_1, OperandRanks, contains, operand_ranks


class LongValue(Record):
    """A list that is too long for shape rules to read."""

    length: int


AttributeValue = int | float | str | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | LongValue | Fact
"""The value of an attribute; tensors and types as the fact of such a value."""


class Inside(Record):
    """The shape of the content of a sequence or an optional."""

    shape: Shape | Inside
    count: Dim = None
    """The number of elements of a sequence; for an optional 0 or 1."""
    elements: ElementShapes = ()
    """The shape of each element of a sequence, or of some of them if `count` is not a number; empty if all are equal
    or unknown.
    """
    parts: ElementContents = ()
    """The known elements of each tensor in it; empty if `count` is not a number, or nothing is known."""
    whole: tuple[int, Dim] | None = None
    """If the elements of a sequence are parts of a tensor: the axis along which it was split, and its size there."""


OutputShape = Shape | Inside
"""The shape of an output."""

Outputs = Sequence[OutputShape]
"""The shapes of the first outputs; those of the others are unknown."""

UNKNOWN: Outputs = ()
"""No output shape is known."""


EQUATED: Final = {
    "Concat": 2**31,
    "Conv": 3,
    "ConvTranspose": 3,
    "Gemm": 3,
    "MatMul": 2,
    "MatMulInteger": 2,
}
"""The operators with dimensions that must be equal, and for how many inputs."""

NARROWED: Final = frozenset(
    {
        *("Attention", "GRU", "LSTM", "RNN", "ScatterElements", "ScatterND"),
        *("Split", "SplitToSequence", "Squeeze", "TensorScatter"),
        *("BatchNormalization", "GroupNormalization", "InstanceNormalization"),
        *("LayerNormalization", "RMSNormalization"),
    }
)
"""The other operators that may leave a variable of an input only one size."""

EqualDimensions = tuple[tuple[int, int | None], int | str, int | str]
"""An input and one of its axes (None: all its elements), the number there, and the one that it must equal."""

_OTHERS = OperandRanks(UP_TO_1, UP_TO_1, UP_TO_1)
"""The accepted ranks of a number if consumers are unknown, as for operators of other domains."""

_TAKES_FIRST = frozenset({"NonMaxSuppression", "SequenceAt", "SequenceErase", "SequenceInsert"})
"""The operators of ai.onnx whose kernels in ONNX Runtime use the first of several elements if one is required."""


class Operands:
    """The operands of a node, and the problems found with them."""

    __slots__ = (
        "_attributes",
        "_bound",
        "defaults",
        "equated",
        "facts",
        "implied",
        "named_outputs",
        "output_count",
        "problems",
        "schema",
        "warnings",
    )  # fmt: skip

    def __init__(
        self,
        schema: OperatorSchema,
        attributes: Mapping[str, AttributeValue],
        facts: tuple[Fact, ...],
        output_count: int,
    ) -> None:
        self.schema = schema
        self._attributes = attributes
        self.facts = facts
        self.output_count = output_count
        self.named_outputs: tuple[bool, ...] = ()
        """Whether each output has a name. One beyond the end has one, if the node has it."""
        self.defaults: Mapping[str, AttributeValue] = EMPTY
        """Defaults that the signature does not have."""
        self.problems: list[ShapeProblem] = []
        self._bound: dict[str, InputDimension] = {}
        """The sizes of variables in this node."""
        self.equated: list[EqualDimensions] = []
        """The pairs of dimensions that must be equal and are not both sizes, for the operators in `EQUATED`; the pairs
        of a variable and a size for those in `NARROWED`."""
        self.implied: dict[tuple[int, int], InputDimension] = {}
        """For dimensions of unknown size, each an input and an axis, a later operand's that must equal it: others
        that must equal it are compared with that.
        """
        self.warnings: list[ShapeProblem] = []
        """Violations of the operator's text that consumers accept in some models; the outputs are
        known nevertheless.
        """

    @property
    def operator(self) -> str:
        """The name of the operator."""
        return self.schema.name

    @property
    def version(self) -> int:
        """The version of the operator set that introduced this version of the operator."""
        return self.schema.since_version

    @property
    def count(self) -> int:
        """The number of inputs, including omitted ones in between."""
        return len(self.facts)

    # --- inputs

    def fact(self, index: int) -> Fact:
        """Return the fact of an input; ABSENT also beyond the last input."""
        return self.facts[index] if index < len(self.facts) else ABSENT

    def input(self, name: str) -> int:
        """Return the index of an input; one beyond all inputs if the signature has none of that name."""
        names = [each.name for each in self.schema.inputs]
        return names.index(name) if name in names else max(len(names), len(self.facts))

    def describe_input(self, name: str) -> str:
        """Return the index and the name of an input, for reasons."""
        return f"input {self.input(name)} ('{name}')"

    def given(self, index: int) -> bool:
        """Return whether the node has the input."""
        return self.fact(index) is not ABSENT

    def gives(self, index: int) -> bool:
        """Return whether the node has the output: one with an empty name is left out."""
        return self.output_count > index and (index >= len(self.named_outputs) or self.named_outputs[index])

    def shape(
        self,
        index: int,
        rank: int | None = None,
        *,
        at_least: int = 0,
        at_most: int | None = None,
        like: NumberSource | None = None,
    ) -> Shape:
        """Return the shape of an input. If its rank is not one that the operator accepts, record that and return None.

        `like`: the operand or attribute that determines the rank.
        """
        shape = self.facts[index].shape if index < len(self.facts) else None
        if shape is None:
            return None
        least, greatest = (at_least, at_most) if rank is None else (rank, rank)
        if len(shape) < least or (greatest is not None and len(shape) > greatest):
            ranks = operand_ranks(self.schema, index) if rank == 1 else None
            if ranks is not None and contains(ranks.text, len(shape)):
                return (product(shape),)
            if rank is not None and like is None and self._may_be_read(shape) and self._warns_of_rank(index, rank):
                return (product(shape),) if rank == 1 else None
            self.problems.append(WrongRank(index, len(shape), least, greatest, like))
            return None
        return shape

    def shape_of_rank(self, index: int, *ranks: int) -> Dims | None:
        """Return the shape of an input if it has one of these ranks; otherwise None, and nothing is recorded."""
        shape = self.fact(index).shape
        return shape if shape is not None and len(shape) in ranks else None

    def scalar(self, index: int) -> Dim | float:
        """Return the one element of an input that holds a number; None if unknown.

        Tensors of one element are accepted if the operator, or one of its consumers, accepts them.
        """
        shape = self.fact(index).shape
        if shape:
            ranks = operand_ranks(self.schema, index) or _OTHERS
            if any(isinstance(size, int) and size != 1 for size in shape):
                takes_first = self.operator in _TAKES_FIRST and not self.schema.domain and 0 not in shape
                self._note(NotOneElement(index, ranks.text == SCALAR, takes_first))
                return None
            is_sure = contains(ranks.text, len(shape)) and contains(ranks.constant, len(shape))
            if not is_sure and not self._warns_of_rank(index, 0):
                self.problems.append(WrongRank(index, len(shape), *ranks.text))
                return None
        content = self.content(index)
        return content[0] if content else None

    def _may_be_read(self, shape: Dims) -> bool:
        """Return whether consumers may read a tensor: if a list is required, a row; Compress reads any."""
        return self.operator in ("Compress", "STFT") or all(size == 1 for size in shape[:-1])

    def _warns_of_rank(self, index: int, wanted: int) -> bool:
        """Record a rank that consumers accept in some models in place of another; return whether they do."""
        ranks = operand_ranks(self.schema, index)
        if ranks is None:
            return False
        rank = len(self.fact(index).shape or ())
        of_constants, at_run = contains(ranks.constant, rank), contains(ranks.run, rank)
        if of_constants or at_run:
            is_customary = contains(ranks.text, rank)
            self._note(WrongRank(index, rank, wanted, wanted, None, of_constants, at_run, is_customary))
        return of_constants or at_run

    def _note(self, problem: ShapeProblem) -> None:
        """Record a problem once, among the warnings if consumers may accept the node."""
        noted = self.warnings if is_warning(problem) else self.problems
        if problem not in noted:
            noted.append(problem)

    def content(self, index: int) -> Content:
        """Return the elements of an input, row by row, if known; the rule must name the input in `reads`."""
        return self.fact(index).content

    def first_element(self, index: int) -> Dim | float:
        """Return the first element of an input, which `reads` must name; None if it is unknown or there is none."""
        content = self.content(index)
        return content[0] if content else None

    def integers_in(self, index: int) -> Dims | None:
        """Return the elements of an input with a list of integers: its content, or as many unknowns as its shape has.

        Returns None if neither is known. An input that is not of rank 1 is recorded.
        """
        known = self.fact(index).shape
        shape = self.shape(index, rank=1)
        if shape is None and known is not None:
            return None
        content = self.content(index)
        if content is not None:
            return tuple([None if isinstance(element, float) else element for element in content])
        if shape is not None and isinstance(shape[0], int) and 0 <= shape[0] <= MAX_CONTENT_ELEMENTS:
            return (None,) * shape[0]
        return None

    def shape_in(self, index: int) -> OutputShape:
        """Return the shape of an input that may be a tensor, a sequence or an optional."""
        return shape_in(self.fact(index))

    def inside(self, index: int) -> OutputShape:
        """Return the shape of the elements of a sequence, or of the content of an optional."""
        inside = self.fact(index).inside
        return None if inside is None else shape_in(inside)

    def element_count(self, index: int) -> Dim:
        """Return the number of elements of a sequence or an optional; the rule must name the input in `reads`."""
        return count_in(self.fact(index))

    def elements(self, index: int) -> ElementShapes | None:
        """Return the shape of each element of a short sequence; the rule must name the input in `reads`."""
        fact, count = self.fact(index), self.element_count(index)
        if fact.elements or not isinstance(count, int) or not 0 <= count <= MAX_LISTED:
            return fact.elements or None
        return (fact.inside.shape if fact.inside is not None else None,) * count

    def parts(self, index: int) -> ElementContents:
        """Return the elements of each tensor in a sequence or an optional of known length; None for unknown ones.

        The rule must name the input in `reads`.
        """
        parts, count = self.fact(index).parts, self.element_count(index)
        return parts or ((None,) * count if isinstance(count, int) and 0 <= count <= MAX_LISTED else ())

    # --- attributes

    def has(self, name: str) -> bool:
        """Return whether the node gives the attribute."""
        return name in self._attributes

    def argument(self, name: str) -> AttributeValue | None:
        """Return the value of an attribute or its default; None if it has neither."""
        if name in self._attributes:
            return self._attributes.get(name)  # also None if its value cannot be read
        declared = self.schema.attributes.get(name)
        default = declared.default if declared is not None else None
        return self.defaults.get(name) if default is None else default

    @overload
    def integer(self, name: str) -> int | None: ...
    @overload
    def integer(self, name: str, otherwise: int) -> int: ...
    def integer(self, name: str, otherwise: int | None = None) -> int | None:
        """Return the value of an INT: from the node, else the signature's default, else `otherwise`."""
        value = self.argument(name)
        return value if isinstance(value, int) else otherwise

    def positive(self, name: str) -> int | None:
        """Return the value of an INT as `integer` does; None for one below 1."""
        found = self.integer(name)
        return found if found is not None and found > 0 else None

    def number(self, name: str) -> float | None:
        """Return the value of a FLOAT, as `integer` does for an INT."""
        value = self.argument(name)
        return float(value) if isinstance(value, int | float) else None

    @overload
    def text(self, name: str) -> str | None: ...
    @overload
    def text(self, name: str, otherwise: str) -> str: ...
    def text(self, name: str, otherwise: str | None = None) -> str | None:
        """Return the value of a STRING, as `integer` does for an INT."""
        value = self.argument(name)
        return value if isinstance(value, str) else otherwise

    def integers(self, name: str) -> tuple[int, ...] | None:
        """Return the elements of INTS; None if neither the node nor the signature has a list."""
        value = self.argument(name)
        return tuple([each for each in value if isinstance(each, int)]) if isinstance(value, tuple) else None

    def numbers(self, name: str) -> tuple[float, ...] | None:
        """Return the elements of FLOATS; None if neither the node nor the signature has a list."""
        value = self.argument(name)
        if not isinstance(value, tuple):
            return None
        return tuple([float(each) for each in value if isinstance(each, int | float)])

    def length(self, name: str) -> int | None:
        """Return the number of elements of a list attribute, or of a tensor of rank 1; None if there is none."""
        value = self.argument(name)
        if isinstance(value, Fact):
            shape = value.shape
            return shape[0] if shape is not None and len(shape) == 1 and isinstance(shape[0], int) else None
        if isinstance(value, LongValue):
            return value.length
        return len(value) if isinstance(value, tuple) else None

    def tensor(self, name: str) -> Fact | None:
        """Return the fact of a TENSOR or SPARSE_TENSOR, or of a value with the type of a TYPE_PROTO."""
        value = self.argument(name)
        return value if isinstance(value, Fact) else None

    # --- requirements

    def equal(self, one: tuple[int, int], other: tuple[int, int]) -> Dim:
        """Return the dimension that two operands, each an index and an axis, must share; None if a shape is unknown.

        If two sizes differ, the later operand is recorded, and the earlier one's size is returned.
        """
        first, second = sorted([one, other], key=lambda each: each[0])
        expected = self.dim(*first)
        if not isinstance(expected, int) and self.operator not in EQUATED:
            self._imply(first, second)
        return self.same(second, expected, self.place(*first))

    def _imply(self, at: tuple[int, int], by: tuple[int, int]) -> None:
        """Keep the size of an operand's dimension as that of another one, which is unknown."""
        shape, place = self.fact(at[0]).shape, self.place(*by)
        if isinstance(place, InputDimension) and (shape is None or -len(shape) <= at[1] < len(shape)):
            self.implied[self._from_start(*at)] = place

    def _from_start(self, index: int, axis: int) -> tuple[int, int]:
        """Return an axis counted from the start if the rank is known."""
        return index, axis + len(self.fact(index).shape or ()) if axis < 0 else axis

    def same(self, at: tuple[int, int], expected: Dim, by: ProblemPlace | None) -> Dim:
        """Return the dimension of an operand (index, axis) that must be `expected`, as `by` requires."""
        found = self.dim(*at)
        if isinstance(found, int) and isinstance(expected, int):
            place = self.place(*at) if found != expected else None
            if isinstance(place, InputDimension):
                self.problems.append(Unequal(place, expected, by))
        elif at[0] < EQUATED.get(self.operator, 0) and not self.schema.domain:
            self._bind(at, found, expected)
        elif self.operator in NARROWED and not self.schema.domain:
            self.narrow(at, found, expected)
        return unified(expected, found)

    def _bind(self, at: tuple[int, int], found: Dim, expected: Dim) -> None:
        """Record that two dimensions are equal; two sizes of one variable are a problem."""
        if found is None or expected is None or found == expected:
            return
        self.equated.append((at, found, expected))
        variable, size = (found, expected) if isinstance(found, str) else (expected, found)
        if not isinstance(variable, str) or not isinstance(size, int):
            return
        bound = replace(self._dimension(*at), size=size)
        first = self._bound.setdefault(variable, bound)
        if first.size != bound.size and not any(isinstance(each, TwoSizes) for each in self.problems):
            self.problems.append(TwoSizes(variable, first, bound))

    def narrow(self, at: tuple[int, int], found: Dim, expected: Dim) -> None:
        """Keep that a variable must have a size."""
        if found is not None and expected is not None and isinstance(found, int) != isinstance(expected, int):
            self.equated.append((at, found, expected))

    def equal_counts(self, index: int, have: Dim, want: Dim) -> None:
        """Keep that the number of elements of an input must be another one; they are not both sizes."""
        if have is not None and want is not None and have != want:
            self.equated.append(((index, None), have, want))

    def dim(self, index: int, axis: int) -> Dim:
        """Return a dimension of an input; a negative axis counts from the end.

        If its size is unknown, it is the one that the operands compared so far imply; None if the rank is unknown.
        """
        shape = self.facts[index].shape if index < len(self.facts) else None
        dim = shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None
        if not self.implied or isinstance(dim, int):
            return dim
        place = self.implied.get(self._from_start(index, axis))
        return dim if place is None else place.size

    def place(self, index: int, axis: int) -> ProblemPlace | None:
        """Return a dimension of an input, or the one that implies it, as the source of a size; None if it is not a
        size.
        """
        shape = self.fact(index).shape
        if shape is not None and -len(shape) <= axis < len(shape) and isinstance(shape[axis], int):
            return self._dimension(index, axis)
        return self.implied.get(self._from_start(index, axis)) if self.implied else None

    def _dimension(self, index: int, axis: int) -> InputDimension:
        shape = self.fact(index).shape or ()
        rank = len(shape)
        size = shape[axis] if -rank <= axis < rank else None
        return InputDimension(index, axis + rank if axis < 0 else axis, size if isinstance(size, int) else -1)

    def broadcast(self, shapes: Sequence[Shape], operands: Sequence[int], trailing: Sequence[int] = ()) -> Shape:
        """Return the result of broadcasting parts of operands; record a clash.

        `trailing`: how many axes of each operand come after its part, such as the two that MatMul multiplies.
        """
        known = [(shape, operand) for shape, operand in zip(shapes, operands, strict=True) if shape is not None]
        wrong = clashes([shape for shape, _ in known])
        if wrong:
            after = dict(zip(operands, trailing, strict=True)) if trailing else {}
            first, *others = [self._pair(known, each, after) for each in wrong]
            self.problems.append(NotBroadcast(*first, tuple(others)))
        if len(known) < len(shapes) or wrong:
            return None
        return broadcast([shape for shape, _ in known])

    def _pair(
        self, known: Sequence[tuple[Dims, int]], clash: tuple[int, int, int], trailing: Mapping[int, int]
    ) -> tuple[InputDimension, InputDimension]:
        """Return the two dimensions of a clash. `trailing`: how many axes come after the part of an operand."""
        one, other, axis = clash
        first, second = known[one][1], known[other][1]
        return (
            self._dimension(first, axis - trailing.get(first, 0)),
            self._dimension(second, axis - trailing.get(second, 0)),
        )

    def axis(
        self, value: Dim | float, rank: int, source: NumberSource, index: int | None = None, *, negative: bool = True
    ) -> int | None:
        """Return an axis as a number from 0 to `rank` - 1; None if it is unknown, or out of range, which is recorded.

        `source`: the attribute or operand with the axis, `index`: its position in a list.
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
        source: NumberSource,
        *,
        negative: bool = True,
        repeated: bool = False,
    ) -> tuple[int, ...] | None:
        """Return a list of axes as numbers from 0 to `rank` - 1; None if one is unknown, or wrong, which is recorded.

        `repeated`: whether an axis may occur twice.
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

    def indivisible(self, place: ProblemPlace, divisor: int, by: ProblemPlace | None = None) -> None:
        """Record a number that is not a multiple of another."""
        self.problems.append(Indivisible(place, divisor, by))

    def quotient(self, at: tuple[int, int], divisor: Dim, by: ProblemPlace | None = None) -> Dim:
        """Return a dimension of an operand (index, axis) divided by a number; record a remainder."""
        size = self.dim(*at)
        if isinstance(size, int) and isinstance(divisor, int) and divisor and size % divisor:
            place = self.place(*at)
            if place is not None:
                self.indivisible(place, divisor, by)
        return divide(size, divisor)

    def has_count(self, source: NumberSource, count: int, expected: int, by: NumberSource | None = None) -> bool:
        """Return whether a list has the required number of elements; record another number."""
        if count != expected:
            self.problems.append(WrongCount(source, count, expected, by))
        return count == expected

    def wrong_value(
        self,
        source: NumberSource,
        value: object,
        reason: str = "",
        *,
        index: int | None = None,
        allowed: str | None = None,
        about_data: bool = False,
    ) -> None:
        """Record a number that the operator does not allow there.

        `reason`: why it is wrong; `index`: its position in a list; `allowed`: the allowed values, if `reason` does not
        say them; `about_data`: whether it does not fit the shape of input 0, which the reason does not show.
        """
        allowed = reason if allowed is None else allowed
        self.problems.append(WrongValue(Element(source, value, index), reason, allowed, about_data))

    def also_wrong(self, source: NumberSource, others: Iterable[tuple[int, object]]) -> None:
        """Add further elements, each with its index and number, to the problem with an element that was recorded last.

        A list or tensor has many wrong numbers for one reason, which is one problem.
        """
        problem = self.problems[-1]
        assert isinstance(problem, WrongValue)
        assert problem.place.source == source
        self.problems[-1] = replace(problem, place=replace(problem.place, others=tuple(others)))

    def too_small(
        self, source: NumberSource, value: object, least: int, *, index: int | None = None, condition: str = ""
    ) -> None:
        """Record a number that is less than the operator allows there. `condition`: when it does so, in words."""
        self.problems.append(WrongValue(Element(source, value, index), "", f"at least {least}{condition}"))

    def wrong_rank(self, index: int, least: int, greatest: int | None = None, like: NumberSource | None = None) -> None:
        """Record the rank of an input whose shape is known."""
        self.problems.append(WrongRank(index, len(self.fact(index).shape or ()), least, greatest, like))

    def at_least(self, least: int, values: Sequence[Dim | float], source: NumberSource) -> bool:
        """Return whether no known number of a list is less; record those that are."""
        wrong = [(index, value) for index, value in enumerate(values) if isinstance(value, int) and value < least]
        for index, value in wrong:
            self.too_small(source, value, least, index=index)
        return not wrong

    def is_positive(self, name: str) -> bool:
        """Return whether the number in an attribute is unknown or at least 1; record another one."""
        number = self.integer(name)
        if number is not None and number < 1:
            self.too_small(name, number, 1)
        return number is None or number > 0

    def counts_within(self, index: int, first: int, size: Dim, what: str) -> None:
        """Record the constants of a list that count, from `first` on, beyond the `size` things that there are."""
        greatest = size - 1 + first if isinstance(size, int) else None
        content = enumerate(self.content(index) or ())
        numbers = [(place, number) for place, number in content if isinstance(number, int)]
        wrong = [each for each in numbers if each[1] < 0 or (greatest is not None and each[1] > greatest)]
        if not wrong:
            return
        place, number = wrong[0]
        if isinstance(size, int):
            reason = f"there {'is' if size == 1 else 'are'} {size} {what}"
            self.wrong_value(index, number, reason, index=place, allowed=f"0 to {greatest}", about_data=True)
        else:
            self.too_small(index, number, 0, index=place)
        self.also_wrong(index, wrong[1:])

    # --- the result

    def finished(self, outputs: Outputs) -> tuple[OutputShape, ...]:
        """Return a shape for each output. After a problem all are unknown: one fault, one finding."""
        found = list(outputs[: self.output_count])
        for index, shape in enumerate(found):
            if not isinstance(shape, tuple):
                continue
            for dim in shape:
                if isinstance(dim, int) and dim >= SIZE_LIMIT and not self.problems:
                    greatest = max([size for size in shape if isinstance(size, int)])
                    self.problems.append(Overflow(index, shape.index(greatest)))
            if len(shape) > MAX_DIMENSIONS:
                found[index] = None
        if self.problems:
            found = [None] * len(found)
        return (*found, *[None] * (self.output_count - len(found)))


MAX_LISTED: Final = 128
"""A sequence of more elements keeps one shape for all of them."""


_MAX_IN_PARTS: Final = 128
"""The most numbers in the tensors of a sequence that are kept, as of a tensor whose elements are passed on."""


def sequence_of(shapes: ElementShapes, parts: ElementContents = ()) -> Inside:
    """Return a sequence of tensors of these shapes, and with these elements."""
    found = shapes[0] if shapes else None
    for shape in shapes[1:]:
        found = union(found, shape)
    is_listed = len(shapes) <= MAX_LISTED and any(each != shapes[0] for each in shapes)
    return Inside(found, len(shapes), shapes if is_listed else (), kept_parts(parts))


def kept_parts(parts: ElementContents) -> ElementContents:
    """Return the elements of the tensors of a sequence; nothing if they are too many, or all unknown."""
    known = [len(part) for part in parts if part is not None]
    return parts if known and sum(known) <= _MAX_IN_PARTS and len(parts) <= MAX_LISTED else ()


def shape_in(fact: Fact) -> OutputShape:
    """Return the shape in a fact in the form that rules return."""
    if fact.inside is None and not is_sequence(fact.kind):
        return fact.shape
    inside = shape_in(fact.inside) if fact.inside is not None else None
    return Inside(inside, count_in(fact), fact.elements, fact.parts, whole_of(fact))


def count_in(fact: Fact) -> Dim:
    """Return the number of elements of a sequence or an optional, which is the content of its fact."""
    is_container = fact.kind is not None and fact.kind.startswith(("seq(", "optional("))
    count = fact.content[0] if fact.content and is_container else None
    return count if not isinstance(count, float) else None


def whole_of(fact: Fact) -> tuple[int, Dim] | None:
    """Return the axis and the size of the tensor whose parts are in a sequence, which follow the number of elements."""
    if not fact.content or len(fact.content) < _WITH_WHOLE or not is_sequence(fact.kind):
        return None
    _, axis, size = fact.content
    return (axis, size) if isinstance(axis, int) and not isinstance(size, float) else None


_WITH_WHOLE: Final = 3


def is_sequence(kind: str | None) -> bool:
    """Return whether a type is a sequence type."""
    return kind is not None and kind.startswith("seq(")
