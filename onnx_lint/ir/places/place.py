# SPDX-License-Identifier: Apache-2.0
"""Places: protobuf field paths such as `graph.node[3].attribute[0].g.input[1]`, and the names around them."""

from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.common.record import Record

Step = tuple[str, int | None]
"""The name of a field, and the index if it is repeated."""

PlaceKey = tuple[Step, ...]
"""A place as the steps from the root on: usable as a dictionary key."""


class Place(Record):
    """A message or value in the model."""

    parent: Place | None
    """The place of the message around it; None for the root."""
    field: str
    """The field of that message; for the root the name of the kind of document, such as `model`."""
    index: int | None = None
    """The index in a repeated field."""

    def at(self, field: str, index: int | None = None) -> Place:
        """Return the place of a field of the message at this place."""
        return Place(self, field, index)

    def ancestors(self) -> Iterator[Place]:
        """Yield the place itself, its parent, and so on to the root."""
        place: Place | None = self
        while place is not None:
            yield place
            place = place.parent

    def node_around(self) -> Place | None:
        """Return the place of the innermost node around this one, or this one if it is a node's; None without one."""
        return next((each for each in self.ancestors() if each.field == "node"), None)

    @property
    def key(self) -> PlaceKey:
        """The steps from the root on."""
        steps: list[Step] = []
        place = self
        while place.parent is not None:
            steps.append((place.field, place.index))
            place = place.parent
        steps.reverse()
        return tuple(steps)

    @property
    def last_step(self) -> str:
        """The field and the index of the place in the message around it, such as `input[0]`."""
        return self.field if self.index is None else f"{self.field}[{self.index}]"

    def pointer(self) -> str:
        """Return the place as a JSON Pointer (RFC 6901) into the protobuf JSON form with the schema's field names."""
        return "".join([f"/{field}" if index is None else f"/{field}/{index}" for field, index in self.key])

    def __str__(self) -> str:
        """Return the place as a protobuf field path; the root is called `model`."""
        steps = [field if index is None else f"{field}[{index}]" for field, index in self.key]
        return ".".join(steps) or self.field


ROOT = Place(None, "model")
"""The ModelProto itself."""


def place_of(key: PlaceKey) -> Place:
    """Return the place at the end of the steps."""
    place = ROOT
    for field, index in key:
        place = place.at(field, index)
    return place


class EnclosingNames(Record):
    """The names around a place, as reports have them. A name is None if there is no such message around the place."""

    node: str | None = None
    """The name of the innermost node."""
    operator: str | None = None
    """That node's domain and op_type."""
    graph: str | None = None
    """The name of the innermost graph or function."""
    scope: tuple[str, ...] = ()
    """The names of all messages around the place and at it, outermost first, without indices."""
