# SPDX-License-Identifier: Apache-2.0
"""Pictures of the nodes around findings: boxes and arrows, without coordinates. Few runs need them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record

if TYPE_CHECKING:
    from onnx_lint.ir.places.place import Place
    from onnx_lint.report.findings import Diagnostic

FAULT: Final = "fault"
"""The mark in a picture of what the finding is about. Most parts of a picture have no mark."""
RELATED: Final = "related"
"""The mark in a picture of the related places."""

MAX_RELATED: Final = 3
"""The most related places that a picture marks."""


class PictureValue(Record):
    """A value in a picture."""

    name: str
    type: str = ""
    """The type with the shape; empty if unknown."""
    declared: str = ""
    """The type that the graph declares, if it differs and the finding is about the value."""
    mark: str = ""


class PictureBox(Record):
    """A box of a picture: a node, or the source or destination of a value."""

    kind: str
    """`node`, `input`, `initializer`, `undefined`, `output`, `outer` for what is in another graph, or `more` for nodes
    that are left out.
    """
    title: str
    """The operator of a node, otherwise the kind in words."""
    name: str = ""
    """The name of the node."""
    index: int | None = None
    """The index of the node."""
    reads: tuple[PictureValue, ...] = ()
    """The values that the node reads and that no arrow shows, mostly initializers."""
    values: tuple[PictureValue, ...] = ()
    """The values that leave the box."""
    mark: str = ""
    graph: str = ""
    """The graph of the node or value, such as `in then_branch of 'if0'`, if it is not the one of the finding."""


class PictureArrow(Record):
    """An arrow of a picture: a value that goes from one box to another."""

    source: int
    value: int
    """The index among the values of the source."""
    target: int
    mark: str = ""


class Picture(Record):
    """The nodes around the findings at one place."""

    about: tuple[Place, ...]
    """The place and the related places of these findings, see `places_of`."""
    graph: str
    """The name of the graph or function, as reports show it; empty for the main graph."""
    boxes: tuple[PictureBox, ...]
    arrows: tuple[PictureArrow, ...]


def places_of(item: Diagnostic) -> tuple[Place, ...]:
    """Return the places that decide the picture of a finding."""
    return (item.at, *(other.at for other in item.related[:MAX_RELATED]))
