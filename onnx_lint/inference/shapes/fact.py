# SPDX-License-Identifier: Apache-2.0
"""Facts about a value: type, shape, elements if they are few numbers, and content if it is a container.

Facts are interned: equal facts are one object, so that a fact is compared and looked up by its identity.
"""

from __future__ import annotations

from marshal import dumps
from typing import Final

from onnx_lint.common.cached import Memory
from onnx_lint.common.salted import WITHOUT_REFERENCES, salted_key
from onnx_lint.inference.shapes.dims import Dim, Shape

Content = tuple[Dim | float, ...] | None
"""The elements of a tensor, row by row, Booleans as 0 and 1; None if unknown."""

ElementShapes = tuple[Shape, ...]

ElementContents = tuple[Content, ...]

MAX_CONTENT_ELEMENTS: Final = 1_024
"""The most elements of a tensor whose content is kept."""

MAX_DIMENSIONS: Final = 32
"""The highest rank of a known shape; consumers have fewer. Each dimension may take more than 36 bytes for each node."""


class Fact:
    """Facts about a value. Only `fact` creates them."""

    __slots__ = ("bare", "content", "elements", "inside", "kind", "parts", "shape", "wide_bytes")

    def __init__(
        self,
        kind: str | None,
        shape: Shape,
        content: Content,
        inside: Fact | None,
        elements: ElementShapes = (),
        parts: ElementContents = (),
    ) -> None:
        self.kind = kind
        """The type as specifications write it; None if unknown, "" for an omitted input."""
        self.shape = shape
        """The dimensions of a tensor; None if it is not a tensor, or of unknown rank."""
        self.content = content
        """The elements of a tensor. For a sequence or an optional the number of its elements, and what
        `Inside.whole` has.
        """
        self.inside = inside
        """The facts about the elements of a sequence, or about the content of an optional."""
        self.elements = elements
        """The shapes of elements of a sequence, as `Inside.elements` has them."""
        self.parts = parts
        """The elements of each tensor in a sequence or an optional, as `Inside.parts` has them."""
        self.bare: Fact = self if content is None else fact(kind, shape, None, inside)
        """The same fact without the content."""
        self.wide_bytes = _wide_bytes(shape or (), content or ())
        """The memory of many dimensions or elements, or of long expressions; 0 for the facts of usual models."""
        if parts:
            self.wide_bytes += sum([_wide_bytes((), part) for part in parts if part is not None])

    def __repr__(self) -> str:
        return f"Fact({self.kind!r}, {self.shape!r}, {self.content!r}, {self.inside!r})"


def _wide_bytes(shape: tuple[Dim, ...], content: tuple[Dim | float, ...]) -> int:
    texts = sum([len(each) for each in (*shape, *content[:_MAX_NARROW]) if isinstance(each, str)])
    if len(shape) <= _MAX_NARROW and len(content) <= _MAX_NARROW and texts <= _MAX_CHARACTERS:
        return 0
    texts += sum([len(each) for each in content[_MAX_NARROW:] if isinstance(each, str)])
    return _BYTES_OF_ELEMENT * (len(shape) + len(content)) + texts


_MAX_NARROW: Final = 8
_MAX_CHARACTERS: Final = 64
_BYTES_OF_ELEMENT: Final = 56
"""A large number is an object, and has 15 bytes in the key of the fact."""


Facts = tuple[Fact, ...]

_MOST: Final = 50_000
"""The most facts to keep; a full cache is emptied, which costs only time. Files choose the shapes in them."""

_LONGEST_KEY: Final = 20_000
"""So many bytes suffice for the most elements."""

_FactKey = tuple[str | None, bytes | Shape, Fact | None]

_facts: Final[Memory[_FactKey, Fact]] = Memory(_MOST, _LONGEST_KEY)


def _key(
    kind: str | None,
    shape: Shape,
    content: Content,
    inside: Fact | None,
    elements: ElementShapes = (),
    parts: ElementContents = (),
) -> _FactKey:
    if kind and content is None and not elements and not parts and (shape is None or len(shape) < 2):
        return kind, shape, inside  # the text of the type salts the hash of one number beside it
    numbers = (shape, content, elements, parts) if elements or parts else (shape, content)
    return kind, salted_key(numbers), inside


def fact(
    kind: str | None,
    shape: Shape = None,
    content: Content = None,
    inside: Fact | None = None,
    elements: ElementShapes = (),
    parts: ElementContents = (),
) -> Fact:
    """Return the fact with these parts."""
    if elements or parts:
        key = _key(kind, shape, content, inside, elements, parts)
    else:  # the same without two calls: each value of a model has a fact
        key = kind, dumps((shape, content), WITHOUT_REFERENCES), inside
    found = _facts.get(key)
    if found is None:
        found = _facts.keep(key, _CONSTANT.get(key) or Fact(kind, shape, content, inside, elements, parts))
    return found


def forget(made: Fact) -> None:
    """Release the memory of a fact that its model does not keep."""
    _facts.pop(_key(made.kind, made.shape, made.content, made.inside, made.elements, made.parts), None)


UNKNOWN: Final = Fact(None, None, None, None)
"""Nothing is known, not even the type."""

ABSENT: Final = Fact("", None, None, None)
"""Placeholder of an omitted optional input."""

_CONSTANT: Final[dict[_FactKey, Fact]] = {
    _key(None, None, None, None): UNKNOWN,
    _key("", None, None, None): ABSENT,
}
"""The facts that stay the same object when the cache of the others is emptied."""

_facts.update(_CONSTANT)


def is_complete(fact: Fact) -> bool:
    """Return whether the shape of a value, or of what it holds, is known in every dimension."""
    if fact.inside is not None:
        return is_complete(fact.inside)
    return fact.shape is not None and None not in fact.shape
