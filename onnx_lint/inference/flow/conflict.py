# SPDX-License-Identifier: Apache-2.0
"""The common parts of conflicts between types or shapes. Rules make findings from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeVar

from onnx_lint.common.record import replace
from onnx_lint.inference.flow.declared_facts import DeclarationEntry
from onnx_lint.inference.flow.walks import MAX_FURTHER, Call
from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.ir.graph import Definition, Node
from onnx_lint.ir.places.place import Place
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.wording import quote

if TYPE_CHECKING:
    from onnx_lint.ir.operators.proposals import Proposals

Note = tuple[Place, str]
"""A place that belongs to a conflict, and a message about it."""


C = TypeVar("C")

WHOLE: Final = "whole"
"""What is wrong inside of a place if it is no single dimension or element."""


class Disagreement(Protocol):
    """Two types or shapes that do not agree, with the texts of a finding."""

    @property
    def place(self) -> Place:
        """The place of the fault."""

    @property
    def allowed(self) -> str:
        """The valid type or shape."""

    @property
    def subject(self) -> str | None:
        """The name that the conflict is about."""

    def describe(self) -> str:
        """Return the message."""

    @property
    def inner(self) -> str:
        """What is wrong inside of the place, see `Finding.inner`."""

    def notes(self) -> list[Note]:
        """Return the places where the types or shapes come from."""


class NodeConflict(Disagreement, Protocol):
    """Operands of a node that do not agree with its operator."""

    @property
    def node(self) -> Node:
        """The node."""

    @property
    def cause(self) -> str:
        """The key that all conflicts share that come from one mistake."""

    @property
    def proposals(self) -> Proposals | None:
        """Changes of the node with which the operands agree; None if none was found."""

    @property
    def inner_of_node(self) -> str:
        """What is wrong in the node, without names: the operand or attribute, and the dimension or element."""

    def apart(self) -> Sequence[Self]:
        """Return a conflict for each of the elements or dimensions that are wrong."""


class Conflict(Disagreement, Protocol):
    """Two types that do not agree."""

    @property
    def lacks_conversion(self) -> bool:
        """True if an optional type is used where its content is required, or the other way round."""


def for_each_call(conflict: C) -> list[C]:
    """Return a conflict for each call of the function whose body it is in."""
    call, further = getattr(conflict, "call", None), getattr(conflict, "further", None)
    if call is None or further is None:
        return [conflict]
    calls = (each for one in (call, *further.calls) for each in one.each())
    made: Any = conflict
    return [replace(made, call=each, further=None) for each in islice(calls, MAX_FURTHER)]


MAX_SHOWN_CALLS: Final = 3
"""The most calls that a finding shows, each in the body of the function that the next one calls."""

MAX_SHOWN_TYPES: Final = 20
"""The most types or shapes to show in a note about a call.
A call may have thousands, and each conflict in the function body has such a note.
"""


def call_notes(call: Call | None, shape_in_words: Callable[[Fact], str], most: int = MAX_SHOWN_CALLS) -> list[Note]:
    """Return notes about the call that supplies the arguments of a function, and the calls around it."""
    if call is None or not most:
        return []
    shown = ["nothing" if each.kind == "" else shape_in_words(each) for each in call.arguments[:MAX_SHOWN_TYPES]]
    more = len(call.arguments) - MAX_SHOWN_TYPES
    shown += [f"{more:,} more"] if more > 0 else []
    note = call.node.place, f"called by {call.node.describe()} with {', '.join(shown)}"
    return [note, *call_notes(call.around, shape_in_words, most - 1)]


def name_of_input(schema: OperatorSchema, index: int) -> str:
    """Return the name that an operator gives to an input; one name for all of a variadic one."""
    parameter = schema.input_at(index)
    return parameter.name if parameter is not None else str(index)


class DeclaredValue(DeclarationEntry):
    """An output or other value with its declaration in a list of its graph."""

    @property
    def place(self) -> Place:
        """The declaration."""
        return self.graph.at(self.field, self.index)

    @property
    def definition(self) -> Definition | None:
        """The definition of the value."""
        return self.graph.definition_of(self.subject)

    @property
    def inner(self) -> str:
        """Empty: `place` is the dimension that is wrong, or the whole declaration."""
        return ""

    def describe_declaration(self, declared: str) -> str:
        """Return the beginning of a message: the value and its declared type or shape."""
        what = f"{self.field.replace('_', ' ')} {quote(self.subject)} of {self.graph.describe()}"
        return f"{what} is declared as {declared}"

    def defined(self) -> list[Note]:
        """Return the note about the definition of the value."""
        return [] if self.definition is None else [(self.definition.place, "defines the value")]
