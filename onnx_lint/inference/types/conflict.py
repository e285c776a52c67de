# SPDX-License-Identifier: Apache-2.0
"""The common interface of type conflicts. Rules make findings from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from onnx_lint.inference.types.type_string import ValueType, optional_of
from onnx_lint.inference.types.typed_operator import Inputs
from onnx_lint.ir.graph import Definition, Graph, Node
from onnx_lint.ir.places.place import Place
from onnx_lint.spec.operators import OperatorSchema

Note = tuple[Place, str]
"""A place that belongs to a conflict, and a message about it."""


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
    def hint(self) -> str | None:
        """A change of the node with which the operands agree; None if none was found."""


class Conflict(Disagreement, Protocol):
    """Two types that do not agree."""

    @property
    def lacks_conversion(self) -> bool:
        """True if an optional type is used where its content is required, or the other way round."""


MAX_SHOWN_TYPES: Final = 20
"""The most types or shapes to show in a note about a call.
A call may have thousands, and each conflict in the function body has such a note.
"""


CallSite = Sequence[tuple[Node, Inputs]]
"""The first call that leads to a conflict in a function body, with the types of its arguments, and the calls around it.
"""


def site_notes(site: CallSite | None) -> list[Note]:
    """Return notes about the call that supplies the types, and the calls around it."""
    return [
        call_note(node, ["nothing" if kind == "" else kind or "an unknown type" for kind in kinds])
        for node, kinds in site or ()
    ]


def call_note(node: Node, arguments: Sequence[str]) -> Note:
    """Return the note about a call with the types or shapes of its arguments."""
    more = len(arguments) - MAX_SHOWN_TYPES
    shown = [*arguments[:MAX_SHOWN_TYPES], *([f"{more:,} more"] if more > 0 else ())]
    return node.place, f"called by {node.describe()} with {', '.join(shown)}"


def name_of_input(schema: OperatorSchema, index: int) -> str:
    """Return the name that an operator gives to an input; one name for all of a variadic one."""
    parameter = schema.input_at(index)
    return parameter.name if parameter is not None else str(index)


def definition_of(graph: Graph, name: str) -> Definition | None:
    """Return the definition of a name that the nodes of a graph use."""
    return graph.first_definition(name) or graph.outer_definition(name)


def differ_in_option(one: ValueType, other: ValueType) -> bool:
    """Return whether one of the types is the optional type of the other."""
    return one == optional_of(other) or other == optional_of(one)
