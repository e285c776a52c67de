# SPDX-License-Identifier: Apache-2.0
"""What is known of a value: its type, its shape, its elements where these are few integers, what is inside of it.

Facts are interned: two values of which the same is known share one object, so that a fact is compared and looked up by
its identity.
"""

from __future__ import annotations

from typing import Final

from onnx_lint.common.cached import Memory
from onnx_lint.inference.shapes.dims import Dim, Shape

Content = tuple[Dim | float, ...] | None
"""The elements of a tensor, row by row, Booleans as 0 and 1; None where they are not known."""

MOST_ELEMENTS: Final = 1_024
"""The content of a tensor with more elements is not kept."""

MOST_DIMENSIONS: Final = 128
"""A shape of a higher rank is unknown. NumPy has 64 dimensions at most, and consumers fewer."""


class Fact:
    """What is known of a value. Made by `fact` only."""

    __slots__ = ("bare", "content", "inside", "kind", "shape")

    def __init__(self, kind: str | None, shape: Shape, content: Content, inside: Fact | None) -> None:
        self.kind = kind
        """The type as specifications write it; None where it is not known, "" for an input that is left out."""
        self.shape = shape
        """The dimensions of a tensor; None for what is no tensor or of unknown rank."""
        self.content = content
        """The elements of a tensor; of a sequence one number alone, how many elements it has."""
        self.inside = inside
        """What is known of each element of a sequence, or of what an optional holds."""
        self.bare: Fact = self if content is None else fact(kind, shape, None, inside)
        """The same without the content."""

    def __repr__(self) -> str:
        return f"Fact({self.kind!r}, {self.shape!r}, {self.content!r}, {self.inside!r})"


Facts = tuple[Fact, ...]

_MOST: Final = 50_000
"""So many facts are kept; then they are forgotten, which costs time only: shapes are the choice of a file's writer."""

_Parts = tuple[str | None, Shape, Content, Fact | None]

_facts: Final[Memory[_Parts, Fact]] = Memory(_MOST)


def fact(kind: str | None, shape: Shape = None, content: Content = None, inside: Fact | None = None) -> Fact:
    """The fact with these parts."""
    key = (kind, shape, content, inside)
    found = _facts.get(key)
    # 1, 1.0 and True are equal and have the same hash, but only the first is a size.
    if found is None or (content is not None and list(map(type, content)) != list(map(type, found.content or ()))):
        found = _facts.keep(key, _CONSTANT.get(key) or Fact(kind, shape, content, inside))
    return found


UNKNOWN: Final = Fact(None, None, None, None)
"""Nothing is known, not even the type."""

ABSENT: Final = Fact("", None, None, None)
"""What stands for an input that the node leaves out."""

_CONSTANT: Final[dict[_Parts, Fact]] = {(None, None, None, None): UNKNOWN, ("", None, None, None): ABSENT}
"""The facts that stay one object when the memory of the others is full and emptied."""

_facts.update(_CONSTANT)
