# SPDX-License-Identifier: Apache-2.0
"""Finds line and column of findings in models in text form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from onnx_lint.common.record import Record, replace
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
    places = [each for item in diagnostics for each in (item, *item.related, *item.identity.single_faults)]
    keys = {each.at.key for each in places} - {()} if not is_json else set()
    # A fault of the text itself has no place, but a byte offset.
    offsets = {item.byte_range[0] for item in diagnostics if item.byte_range is not None and not item.at.key}
    beginning = None if is_json else (1, 1)
    positions = _positions(model, keys, offsets, beginning) if keys or offsets else _Positions({}, {}, beginning)
    return [_located(item, positions) for item in diagnostics]


class _Positions(Record):
    """The positions in the text of a model."""

    of_key: Mapping[PlaceKey, Position]
    of_offset: Mapping[int, Position]
    beginning: Position | None
    """The position of a place that is not in the text."""

    def of(self, place: Placed) -> Position | None:
        """Return the position of a place."""
        return self.of_key.get(place.at.key, self.beginning)


def _located(item: Diagnostic, positions: _Positions) -> Diagnostic:
    """Return a diagnostic with its position, and those of the places in it."""
    position = positions.of(item)
    if item.byte_range is not None and not item.at.key:
        position = positions.of_offset[item.byte_range[0]]
    related = tuple([replace(place, position=positions.of(place)) for place in item.related])
    single_faults = tuple([replace(place, position=positions.of(place)) for place in item.identity.single_faults])
    identity = replace(item.identity, single_faults=single_faults) if single_faults else item.identity
    return replace(item, position=position, related=related, identity=identity)


def _positions(model: Model, keys: Set[PlaceKey], offsets: Set[int], beginning: Position | None) -> _Positions:
    """Return the positions of places and of bytes."""
    data = model.source.read_at(0, model.source.size)
    text = _decoded(data)
    characters = {offset: len(_decoded(data[:offset])) for offset in offsets}
    by_character = positions_at(text, characters.values())
    of_offset = {offset: by_character[character] for offset, character in characters.items()}
    return _Positions(text_positions(text, model.kind, keys) if keys else {}, of_offset, beginning)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")
