# SPDX-License-Identifier: Apache-2.0
"""What can be wrong about the shapes of a node's operands and about what decides shapes: eleven kinds, without words.

Operands are named by the index of the input, attributes by their name.
"""

from __future__ import annotations

from onnx_lint.common.record import Record

Source = int | str
"""Where a number comes from: the index of an input, or the name of an attribute."""


class Dimension(Record):
    """A dimension of an input."""

    operand: int
    axis: int
    """From 0 on."""
    size: int


class Element(Record):
    """A number that an attribute or the content of an input gives."""

    source: Source
    value: object
    index: int | None = None
    """Which element of the list or tensor; None where it is all of it."""


Place = Dimension | Element


class WrongRank(Record):
    """An input has fewer or more dimensions than the operator takes."""

    operand: int
    rank: int
    least: int
    greatest: int | None
    """None where there is no bound."""
    like: Source | None = None
    """The operand or attribute from which the rank that is wanted follows; None where the operator fixes it."""
    taken_constant: bool = False
    """Whether onnx.checker and ONNX Runtime take the rank where the operand is a constant."""
    taken_at_run: bool = False
    """Whether ONNX Runtime takes the rank where the operand is no constant."""
    is_customary: bool = False
    """Whether ONNX writes it so itself, so that it counts only where consumers refuse it."""


class NotOneElement(Record):
    """An input has fewer or more elements than the one that the operator takes."""

    operand: int
    is_scalar: bool
    """Whether the operator requires rank 0 as well."""
    is_taken: bool = False
    """Whether onnx.checker and ONNX Runtime take it all the same."""


class Unequal(Record):
    """A dimension of an input is not of the size that follows from elsewhere."""

    place: Dimension
    expected: int
    by: Place | None = None
    """From where the size follows; None where the operator fixes it."""
    or_more: bool = False
    """Whether a larger size would do, too."""
    least: int | None = None
    """The least size where all sizes from there to the expected one would do."""
    is_taken: bool = False
    """Whether ONNX Runtime runs such a node all the same."""


class TwoSizes(Record):
    """A variable has two sizes in one node."""

    variable: str
    first: Dimension
    """A dimension that is the variable, or has to be, with the size for which it stands there."""
    second: Dimension
    """Another one, where that is another size."""


class NotBroadcast(Record):
    """Two dimensions cannot be broadcast to one."""

    one: Dimension
    other: Dimension


class Indivisible(Record):
    """A number has to be a multiple of another, and is not."""

    place: Place
    divisor: int
    by: Place | None = None
    """What gives the divisor; None where the operator fixes it."""


class AxisOutOfRange(Record):
    """An axis is beyond the rank."""

    place: Element
    rank: int
    least: int
    """The axes are from `least` to `rank` - 1."""


class Repeated(Record):
    """A list has a number twice that it may have once."""

    place: Element
    first: int
    """The index of the element that has it first."""
    is_taken: bool = False
    """Whether the text only advises against it."""


class WrongCount(Record):
    """A list has fewer or more elements than it needs."""

    source: Source
    count: int
    expected: int
    by: Source | None = None
    """From what the number follows; None where the operator fixes it."""


class WrongValue(Record):
    """A number is not one of those that the operator takes there."""

    place: Element
    reason: str
    """What is taken, or why this is not: "at least 0", "[2, 3] has 6 elements, [7, 7] has 49"."""
    allowed: str
    """What is taken."""


class Overflow(Record):
    """A dimension of an output does not fit into an int64."""

    output: int
    axis: int


Problem = (
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


def is_remark(problem: Problem) -> bool:
    """Return whether consumers may take the node all the same, so that its outputs are known."""
    match problem:
        case WrongRank(taken_constant=constant, taken_at_run=at_run):
            return constant or at_run
        case NotOneElement(is_taken=is_taken) | Repeated(is_taken=is_taken):
            return is_taken
    return False
