# SPDX-License-Identifier: Apache-2.0
"""Finds line and column of findings in models in text form."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_lint.common.record import replace
from onnx_lint.ir.places.place import key_of
from onnx_lint.loader.identity.identify import Form
from onnx_lint.loader.text.text_positions import Position, positions_at, text_positions
from onnx_lint.model import Model
from onnx_lint.report import Diagnostic


def with_positions(diagnostics: Sequence[Diagnostic], model: Model) -> list[Diagnostic]:
    """Return the diagnostics of a model in text form with the positions of their places and related places.

    The text is read once more, but only if it contains any of the places. In JSON only faults of the text itself have
    positions.
    """
    is_json = model.form == Form.JSON.value
    pointers = {item.pointer for item in diagnostics}
    pointers.update(place.pointer for item in diagnostics for place in item.related)
    keys = {} if is_json else {pointer: key_of(pointer) for pointer in pointers - {""}}
    # A fault of the text itself has no place, but a byte offset.
    offsets = {item.byte_range[0] for item in diagnostics if item.byte_range is not None and not item.pointer}
    of_pointer: dict[str, Position] = {}
    of_offset: dict[int, Position] = {}
    if keys or offsets:
        data = model.source.read_at(0, model.source.size)
        text = _decoded(data)
        characters = {offset: len(_decoded(data[:offset])) for offset in offsets}
        by_character = positions_at(text, characters.values())
        of_offset = {offset: by_character[character] for offset, character in characters.items()}
        by_key = text_positions(text, model.kind, keys.values()) if keys else {}
        of_pointer = {pointer: by_key[key] for pointer, key in keys.items()}
    beginning = None if is_json else (1, 1)

    def located(item: Diagnostic) -> Diagnostic:
        position = of_pointer.get(item.pointer, beginning)
        if item.byte_range is not None and not item.pointer:
            position = of_offset[item.byte_range[0]]
        related = tuple(replace(place, position=of_pointer.get(place.pointer, beginning)) for place in item.related)
        return replace(item, position=position, related=related)

    return [located(item) for item in diagnostics]


def _decoded(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")
