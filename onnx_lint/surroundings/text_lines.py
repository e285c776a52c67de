# SPDX-License-Identifier: Apache-2.0
"""Finds line and column of findings in models in text form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from onnx_lint.common.record import replace
from onnx_lint.ir.places.place import PlaceKey
from onnx_lint.loader.identity.identify import Form
from onnx_lint.loader.text.text_positions import Position, positions_at, text_positions
from onnx_lint.model import Model
from onnx_lint.report.findings import Diagnostic, Placed


def with_positions(diagnostics: Sequence[Diagnostic], model: Model) -> list[Diagnostic]:
    """Return the diagnostics of a model in text form with the positions of their places and related places.

    The text is read once more, but only if it contains any of the places. In JSON only faults of the text itself have
    positions.
    """
    is_json = model.form == Form.JSON.value
    places = [each for item in diagnostics for each in (item, *item.related, *item.identity.apart)]
    keys = {each.at.key for each in places} - {()} if not is_json else set()
    # A fault of the text itself has no place, but a byte offset.
    offsets = {item.byte_range[0] for item in diagnostics if item.byte_range is not None and not item.at.key}
    of_key, of_offset = _positions(model, keys, offsets) if keys or offsets else ({}, {})
    beginning = None if is_json else (1, 1)

    def position_of(place: Placed) -> Position | None:
        return of_key.get(place.at.key, beginning)

    def located(item: Diagnostic) -> Diagnostic:
        position = position_of(item)
        if item.byte_range is not None and not item.at.key:
            position = of_offset[item.byte_range[0]]
        related = tuple([replace(place, position=position_of(place)) for place in item.related])
        apart = tuple([replace(place, position=position_of(place)) for place in item.identity.apart])
        identity = replace(item.identity, apart=apart) if apart else item.identity
        return replace(item, position=position, related=related, identity=identity)

    return [located(item) for item in diagnostics]


def _positions(
    model: Model, keys: Set[PlaceKey], offsets: Set[int]
) -> tuple[Mapping[PlaceKey, Position], dict[int, Position]]:
    """Return the positions of places, and those of bytes."""
    data = model.source.read_at(0, model.source.size)
    text = _decoded(data)
    characters = {offset: len(_decoded(data[:offset])) for offset in offsets}
    by_character = positions_at(text, characters.values())
    of_offset = {offset: by_character[character] for offset, character in characters.items()}
    return text_positions(text, model.kind, keys) if keys else {}, of_offset


def _decoded(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")
