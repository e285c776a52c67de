# SPDX-License-Identifier: Apache-2.0
"""Turns edits into splices of a model in the text format: whole messages of lists are deleted or moved.

Comments between messages stay where they are. The new text is compared with the same edits of the binary form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onnx_lint import schema
from onnx_lint.input.patched_source import PatchedSource, unpatched
from onnx_lint.input.source import BytesSource, Source
from onnx_lint.ir.places.edits import Delete, Edit, Move
from onnx_lint.ir.places.place import Place, PlaceKey
from onnx_lint.ir.places.splices import EditError, Splice, Splicer
from onnx_lint.loader import load
from onnx_lint.loader.text.text_positions import text_starts
from onnx_lint.loader.text.text_tokens import TEXT_TOKENS

_Extent = tuple[int, int]
"""The first character of a message with its field name, and the character after it."""


class TextSplicer:
    """Makes splices of the edits of one model in the text format."""

    def __init__(self, source: Source, message: str) -> None:
        self._data = source.read_at(0, source.size)
        self._message = message

    def of(self, edits: Iterable[Edit]) -> list[Splice]:
        """Return the splices of edits. Raises EditError for an edit that cannot be made in the text."""
        wanted = list(edits)
        if not self._data.isascii():
            raise EditError("the text has characters beyond ASCII")
        text = self._data.decode("ascii")
        extents = self._extents(text, wanted)
        found: list[Splice] = []
        for edit in wanted:
            start, end = extents[edit.place.key]
            found.append(Splice(start, end, ()))
            if isinstance(edit, Move):
                position = self._target(edit, extents)
                found.append(Splice(position, position, ((start, end),)))
        found.sort(key=_position)
        return found

    def with_lengths(self, splices: Iterable[Splice]) -> list[Splice]:
        """Return the splices in file order; a text has no lengths."""
        return sorted(splices, key=_position)

    def problem(self, after: PatchedSource, edits: Sequence[Edit]) -> str | None:
        """Return what is wrong with the text that the edits led to; None if it is the same as the edited message."""
        source = unpatched(BytesSource(_serialized(BytesSource(self._data))))
        splicer = Splicer(source, self._message)
        try:
            splices = splicer.with_lengths(splicer.of(edits))
        except EditError as error:
            return f"the fix was not made: {error}"
        expected = source.patched(splice.patch for splice in splices)
        same = _serialized(after) == expected.read_at(0, expected.size)
        return None if same else "the fix was not made: the text would not be what the edits require"

    def _extents(self, text: str, edits: Sequence[Edit]) -> dict[PlaceKey, _Extent]:
        """Return the whole lines of each message that an edit names."""
        places: dict[PlaceKey, Place] = {}
        for edit in edits:
            if not isinstance(edit, Delete | Move) or edit.place.index is None:
                raise EditError("in text form only elements of lists are deleted and moved")
            places[edit.place.key] = edit.place
            if isinstance(edit, Move):
                for index in (edit.before, max(edit.before - 1, 0)):
                    assert edit.place.parent is not None
                    neighbour = edit.place.parent.at(edit.place.field, index)
                    places[neighbour.key] = neighbour
        starts = text_starts(text, self._message, places)
        found = {key: _whole_lines(text, starts[key], place.field) for key, place in places.items()}
        for edit in edits:
            if edit.place.key not in found or found[edit.place.key] is None:
                raise EditError(f"the text has no {edit.place}")
        return {key: extent for key, extent in found.items() if extent is not None}

    def _target(self, edit: Move, extents: dict[PlaceKey, _Extent]) -> int:
        """Return the character before which an element moves."""
        assert edit.place.parent is not None
        own = extents.get(edit.place.parent.at(edit.place.field, edit.before).key)
        if own is not None:
            return own[0]
        return extents[edit.place.parent.at(edit.place.field, edit.before - 1).key][1]


def _whole_lines(text: str, start: int | None, field: str) -> _Extent | None:
    """Return the lines of the message that begins with its field name; None if it is not there.

    Raises EditError if something else is on these lines, or the message is in a list in brackets.
    """
    if start is None:
        return None
    if not text.startswith(field, start):
        raise EditError("the text has a list in brackets")
    depth, end = 0, start
    for token in TEXT_TOKENS.finditer(text, start + len(field)):
        if token[0] in ("{", "<"):
            depth += 1
        elif token[0] in ("}", ">"):
            depth -= 1
            if not depth:
                end = token.end()
                break
        elif not depth and token[0] != ":":
            raise EditError("the text has a list in brackets")
    first = text.rfind("\n", 0, start) + 1
    following = text.find("\n", end)
    if following < 0 or text[first:start].strip() or text[end:following].strip(" \t\r,;"):
        raise EditError("the text has more than one message on a line")
    return first, following + 1


def _serialized(source: Source) -> bytes:
    return schema.serialized(load(source, "model.textproto").proto)


def _position(splice: Splice) -> tuple[int, int]:
    return splice.start, splice.end
