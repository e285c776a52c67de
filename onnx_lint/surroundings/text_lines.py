# SPDX-License-Identifier: Apache-2.0
"""Finds line and column of findings in models in text form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from onnx_lint.common.record import replace
from onnx_lint.ir.places.place import PlaceKey, key_of
from onnx_lint.loader.identity.identify import Form
from onnx_lint.loader.text.text_positions import Position, json_positions, positions_at, text_positions
from onnx_lint.model import Model
from onnx_lint.report import Diagnostic

_BEGINNING: Position = (1, 1)


def with_positions(diagnostics: Sequence[Diagnostic], model: Model) -> list[Diagnostic]:
    """Return the diagnostics of a model in text form with the positions of their places and related places.

    The text is read once more, but only if it contains any of the places.
    """
    pointers = {item.pointer for item in diagnostics}
    pointers.update(place.pointer for item in diagnostics for place in item.related)
    # A fault of the text itself has no place, but a byte offset.
    offsets = {item.byte_range[0] for item in diagnostics if item.byte_range is not None and not item.pointer}
    of_pointer, of_offset = _positions(model, pointers - {""}, offsets - {0})

    def located(item: Diagnostic) -> Diagnostic:
        position = of_pointer.get(item.pointer, _BEGINNING)
        if item.byte_range is not None and not item.pointer:
            position = of_offset.get(item.byte_range[0], _BEGINNING)
        related = tuple(replace(place, position=of_pointer.get(place.pointer, _BEGINNING)) for place in item.related)
        return replace(item, position=position, related=related)

    return [located(item) for item in diagnostics]


def _positions(
    model: Model, pointers: Iterable[str], offsets: Iterable[int]
) -> tuple[Mapping[str, Position], Mapping[int, Position]]:
    """Return the positions of places by their pointers, and of bytes of the file."""
    keys = {pointer: key_of(pointer) for pointer in pointers}
    of_pointer: dict[str, Position] = {}
    of_offset: dict[int, Position] = {}
    if keys or offsets:
        data = model.source.read_at(0, model.source.size)
        characters = {offset: len(_decoded(data[:offset])) for offset in offsets}
        text = _decoded(data)
        by_character = positions_at(text, characters.values())
        of_offset = {offset: by_character[character] for offset, character in characters.items()}
        if keys:
            find: Callable[[str, str, Iterable[PlaceKey]], Mapping[PlaceKey, Position]]
            find = json_positions if model.form == Form.JSON.value else text_positions
            by_key = find(text, model.kind, keys.values())
            of_pointer = {pointer: by_key[key] for pointer, key in keys.items()}
    return of_pointer, of_offset


def _decoded(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")
