# SPDX-License-Identifier: Apache-2.0
"""Turns edits into splices of a model in the text format or in JSON; all other characters stay as they are.

A deleted or moved element takes its lines with it if nothing else is on them. The new text is parsed, and its content
must equal the binary form after the same edits. So a text in an unusual style is at worst left unchanged.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Final

from onnx_lint import schema
from onnx_lint.common.record import replace
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.patched_source import Stretch, unpatched
from onnx_lint.input.source import BytesSource, Source
from onnx_lint.ir.places.edits import Edit
from onnx_lint.ir.places.splices import EditError, Splice, Splicer
from onnx_lint.loader.identity.identify import Form
from onnx_lint.loader.text.read_text import parse_json, parse_textproto
from onnx_lint.model import Fault
from onnx_lint.text_edits.bracket_lists import Extent, TextPatch
from onnx_lint.text_edits.json_notation import JsonNotation
from onnx_lint.text_edits.text_notation import TextNotation

_BLOCK: Final = 1 << 12
_BOM: Final = "\ufeff"
_LIMITS: Final = replace(DEFAULT_LIMITS, memory=1 << 62)
"""The limits for a text that has been read before."""


class TextSplicer:
    """Makes splices of edits of one model in a text form."""

    def __init__(self, source: Source, message: str, form: str, edits: Iterable[Edit]) -> None:
        """`edits`: all edits that `splices_of` will be called with."""
        self._data = source.read_at(0, source.size)
        self._message = message
        self._form = Form(form)
        text = self._data.decode("utf-8").removeprefix(_BOM)
        self._notation = JsonNotation(text) if self._form is Form.JSON else TextNotation(text)
        self._notation.find(message, edits)
        mark = len(BOM_UTF8) if self._data.startswith(BOM_UTF8) else 0
        blocks = (text[start : start + _BLOCK] for start in range(0, len(text), _BLOCK))
        self._bytes = list(accumulate((len(block.encode()) for block in blocks), initial=mark))
        """The byte at which each block of characters begins."""

    def splices_of(self, edits: Iterable[Edit]) -> list[Splice]:
        """Return the splices of edits. Raises EditError for an edit that cannot be made in the text."""
        patches = sorted(self._notation.patches(list(edits)), key=_position)
        for one, other in pairwise(patches):
            if other[0] < one[1]:
                raise EditError("two edits of the same characters")
        return [Splice(self._at(start), self._at(end), self._pieces(new)) for start, end, new in patches]

    def with_lengths(self, splices: Iterable[Splice]) -> list[Splice]:
        """Return the splices in file order; a text has no lengths."""
        return sorted(splices, key=lambda splice: (splice.start, splice.end))

    def problem(self, after: Source, edits: Sequence[Edit]) -> str | None:
        """Return what is wrong with the edited text; None if its content equals the edited message."""
        before = self._serialized(BytesSource(self._data))
        assert before is not None
        source = unpatched(BytesSource(before))
        splicer = Splicer(source, self._message)
        try:
            splices = splicer.with_lengths(splicer.splices_of(edits))
        except EditError as error:
            return f"the fix was not made: {error}"
        expected = source.patched(splice.patch for splice in splices)
        same = self._serialized(after) == expected.read_at(0, expected.size)
        return None if same else "the fix was not made: the text would not be what the edits require"

    def _serialized(self, source: Source) -> bytes | None:
        parse = parse_json if self._form is Form.JSON else parse_textproto
        proto = parse(source, self._message, _LIMITS)
        return None if isinstance(proto, Fault) else schema.serialized(proto)

    def _at(self, position: int) -> int:
        """Return the byte at which a character begins."""
        block = position // _BLOCK
        return self._bytes[block] + len(self._notation.text[block * _BLOCK : position].encode())

    def _pieces(self, pieces: Sequence[str | Extent]) -> tuple[Stretch, ...]:
        return tuple(
            each.encode() if isinstance(each, str) else (self._at(each[0]), self._at(each[1])) for each in pieces
        )


def _position(patch: TextPatch) -> Extent:
    """Return the sort key of a patch: insertions come before deletions at the same character."""
    return patch[0], patch[1]
