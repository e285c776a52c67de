# SPDX-License-Identifier: Apache-2.0
"""Where the types of a model are at odds: what all such conflicts have, for rules to make findings of."""

from __future__ import annotations

from typing import Final, Protocol

from onnx_lint.common.record import Record
from onnx_lint.inference.types.type_string import ValueType, optional_of
from onnx_lint.inference.types.typed_operator import Inputs
from onnx_lint.ir.graph import Definition, Graph, Node
from onnx_lint.ir.places.place import Place
from onnx_lint.wording import quote

Note = tuple[Place, str]
"""A place that belongs to a conflict, and what stands there."""


class Disagreement(Protocol):
    """Two types or shapes that do not agree, with what a finding says about them."""

    @property
    def place(self) -> Place:
        """Where that stands which does not agree."""

    @property
    def allowed(self) -> str:
        """What would agree."""

    @property
    def subject(self) -> str | None:
        """The name that the conflict is about."""

    def describe(self) -> str:
        """What is the matter."""

    def notes(self) -> list[Note]:
        """Where the types or shapes come from."""


class Conflict(Disagreement, Protocol):
    """Two types that do not agree."""

    @property
    def lacks_conversion(self) -> bool:
        """Whether an optional type stands where the type in it is needed, or the other way round."""


MAX_SHOWN_TYPES: Final = 20
"""A call may have thousands of arguments, and each conflict in the body of the function tells of them."""


class CallSite(Record):
    """The call by which the types came into a function body: the first one that led to the conflict."""

    node: Node
    inputs: Inputs
    """The types of the arguments."""


def call_site(call: tuple[Node, Inputs] | None) -> CallSite | None:
    """The call site of a node and the types of its arguments."""
    return CallSite(*call) if call is not None else None


def site_notes(site: CallSite | None) -> list[Note]:
    """The call by which the types came in."""
    if site is None:
        return []
    shown = ["nothing" if kind == "" else kind or "an unknown type" for kind in site.inputs[:MAX_SHOWN_TYPES]]
    if len(site.inputs) > len(shown):
        shown.append(f"{len(site.inputs) - len(shown):,} more")
    types = ", ".join(shown)
    return [(site.node.place, f"called by {site.node.describe()} with {types}")]


def definition_of(graph: Graph, name: str) -> Definition | None:
    """What defines a name where the nodes of a graph use it."""
    return graph.first_definition(name) or graph.outer_definition(name)


def definition_notes(graph: Graph, name: str, kind: ValueType | None) -> list[Note]:
    """Where a value comes from."""
    definition = definition_of(graph, name)
    return [] if definition is None else [(definition.place, f"{quote(name)} is {kind}")]


def differ_in_option(one: ValueType, other: ValueType) -> bool:
    """Whether one of the types is the optional type of the other."""
    return one == optional_of(other) or other == optional_of(one)
