# SPDX-License-Identifier: Apache-2.0
"""The kinds of problems with the shapes of a node's operands and with values that decide shapes, without words.

Operands are identified by the index of the input, attributes by their name.
"""

from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.common.record import Record, replace

NumberSource = int | str
"""The source of a number: the index of an input, or the name of an attribute."""


EMPTY = "empty"
"""The wrong value of a sequence or optional without the element that an operator takes."""


class InputDimension(Record):
    """A dimension of an input."""

    operand: int
    axis: int
    """From 0 on."""
    size: int


class Element(Record):
    """A number in an attribute or in the content of an input."""

    source: NumberSource
    value: object
    index: int | None = None
    """The index of the element in the list or tensor; None for the whole value."""
    others: tuple[tuple[int, object], ...] = ()
    """The indices and the numbers of further elements that are wrong for the same reason."""


ProblemPlace = InputDimension | Element


class WrongRank(Record):
    """An input has fewer or more dimensions than the operator allows."""

    operand: int
    rank: int
    least: int
    greatest: int | None
    """The greatest valid rank; None if there is no bound."""
    like: NumberSource | None = None
    """The operand or attribute that determines the required rank; None if the operator fixes it."""
    taken_constant: bool = False
    """True if onnx.checker and ONNX Runtime accept the rank if the operand is a constant."""
    taken_at_run: bool = False
    """True if ONNX Runtime accepts the rank if the operand is not a constant."""
    is_customary: bool = False
    """True if ONNX itself writes this rank, so that it counts only if consumers reject it."""


class NotOneElement(Record):
    """An input has fewer or more elements than the one that the operator requires."""

    operand: int
    is_scalar: bool
    """True if the operator requires rank 0 as well."""
    is_taken: bool = False
    """True if onnx.checker and ONNX Runtime accept it nevertheless."""


class Unequal(Record):
    """A dimension of an input does not have the size that it must have."""

    place: InputDimension
    expected: int
    by: ProblemPlace | None = None
    """The source of the required size; None if the operator fixes it."""
    or_more: bool = False
    """True if a larger size is also valid."""
    least: int | None = None
    """The least valid size, if all sizes from there to the expected one are valid."""
    others: tuple[int, ...] = ()
    """Other valid sizes."""


class TwoSizes(Record):
    """A variable has two sizes in one node."""

    variable: str
    first: InputDimension
    """A dimension that is, or must equal, the variable, with its size."""
    second: InputDimension
    """Another such dimension, with another size."""


class NotBroadcast(Record):
    """Two dimensions cannot be broadcast to one."""

    one: InputDimension
    other: InputDimension
    others: tuple[tuple[InputDimension, InputDimension], ...] = ()
    """Further pairs of the same operands."""


class Indivisible(Record):
    """A number is not a multiple of another, as it must be."""

    place: ProblemPlace
    divisor: int
    by: ProblemPlace | None = None
    """The source of the divisor; None if the operator fixes it."""
    why: str = ""
    """What the divisor is, if it is no number in an input or attribute: "the number of outputs"."""


class AxisOutOfRange(Record):
    """An axis is beyond the rank."""

    place: Element
    rank: int
    least: int
    """The axes are from `least` to `rank` - 1."""


class Repeated(Record):
    """A list has a number twice that it may have only once."""

    place: Element
    first: int
    """The index of the first element with the number."""
    is_taken: bool = False
    """True if the text only advises against it."""


class WrongCount(Record):
    """A list, or an input of any shape, has fewer or more elements than it must have."""

    source: NumberSource
    count: int
    expected: int
    by: NumberSource | None = None
    """The source of the required number; None if the operator fixes it."""
    or_one: bool = False
    """True if a single element is also valid."""
    or_more: bool = False
    """True if more elements are also valid."""
    or_multiple: bool = False
    """True if any multiple of the number is valid."""
    is_of_shape: bool = False
    """True if the shape of the input is wrong, as its elements decide no other shape."""


class WrongValue(Record):
    """A number is not one that the operator allows there."""

    place: Element
    reason: str
    """Why it is wrong, such as "[2, 3] has 6 elements, [7, 7] has 49"; empty if `allowed` says that."""
    allowed: str
    """The allowed values."""
    about_data: bool = False
    """True if it does not fit the shape of input 0, which the reason does not show."""
    is_without_shapes: bool = False
    """True if no shape decides which values are allowed, and the value decides no shape."""


class Overflow(Record):
    """A dimension of an output does not fit into an int64."""

    output: int
    axis: int


PlainProblem = (
    WrongRank
    | NotOneElement
    | Unequal
    | TwoSizes
    | NotBroadcast
    | Indivisible
    | AxisOutOfRange
    | Repeated
    | WrongCount
    | WrongValue
    | Overflow
)


class Warned(Record):
    """A problem that is a warning: only the text forbids it, or only a consumer."""

    problem: PlainProblem
    words: str = ""
    """What to append to the sentence."""
    is_error_at_load: bool = False
    """True if it is an error where consumers know the shapes of these operands when they load the model."""


ShapeProblem = PlainProblem | Warned


def is_warning(problem: ShapeProblem) -> bool:
    """Return whether consumers may accept the node, so that its outputs are known."""
    match problem:
        case WrongRank(taken_constant=constant, taken_at_run=at_run):
            return constant or at_run
        case NotOneElement(is_taken=is_taken) | Repeated(is_taken=is_taken):
            return is_taken
        case Warned():
            return True
    return False


def fault_of(problem: PlainProblem) -> int | ProblemPlace | None:
    """Return what is wrong: the index of an input, a dimension, or a number; None if it is an output."""
    match problem:
        case WrongRank(operand=operand) | NotOneElement(operand=operand):
            return operand
        case WrongCount(source=int(operand), is_of_shape=True):
            return operand
        case NotBroadcast(other=other) | TwoSizes(second=other):
            return other
        case WrongCount(source=source):
            return Element(source, None)
        case Overflow():
            return None
    return problem.place


def contradicted_by(problem: PlainProblem) -> NumberSource | ProblemPlace | None:
    """Return the operand, dimension or number that the faulty one contradicts; None if there is none.

    A wrong axis, index or other number contradicts the shape of input 0.
    """
    match problem:
        case WrongRank(like=like):
            return like
        case Unequal(by=by) | Indivisible(by=by) | WrongCount(by=by):
            return by
        case NotBroadcast(one=one) | TwoSizes(first=one):
            return one
        case AxisOutOfRange() | Repeated() | WrongValue():
            return 0
    return None


def apart(problem: PlainProblem) -> Iterator[PlainProblem]:
    """Yield a problem for each of the elements or dimensions that one is about; most are about one."""
    match problem:
        case NotBroadcast(one=one, other=other, others=others):
            yield from (NotBroadcast(*pair) for pair in ((one, other), *others))
        case WrongValue(place=place) if place.others:
            for index, value in ((place.index, place.value), *place.others):
                yield replace(problem, place=Element(place.source, value, index))
        case _:
            yield problem
