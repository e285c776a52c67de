# SPDX-License-Identifier: Apache-2.0
"""Describes the fixes of findings for reports: edits by place, and the bytes that change."""

from __future__ import annotations

from base64 import b64encode
from typing import Final

from onnx_lint.common.record import replace
from onnx_lint.input.patched_source import size_of, unpatched
from onnx_lint.ir.places.edits import Fix, Move
from onnx_lint.ir.places.splices import EditError, Splice, Splicer
from onnx_lint.model import Model
from onnx_lint.report import Diagnostic, ProposedEdit, ProposedFix

MOST_EDITS: Final = 100
"""A fix with more edits is described by its sentence alone."""

MOST_BYTES: Final = 4096
"""A fix that replaces bytes by more than these is described without bytes."""

MOST_TEXT_BYTES: Final = 1 << 20
"""The text that is read and parsed again to find out which characters of it change. Each fix reads the whole text."""

MOST_FIXES: Final = 1_000
"""The most fixes of a file whose bytes are computed."""


def with_proposed_fixes(
    diagnostics: tuple[Diagnostic, ...], model: Model, *, keeps_edits: bool
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics, each with a description of its fix, and with the edits if `keeps_edits`."""
    if not any(item.edits for each in diagnostics for item in (each, *each.members)):
        return diagnostics
    return _Descriptions(model, keeps_edits=keeps_edits).of(diagnostics)


def without_edits(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics with the descriptions of fixes alone."""
    return tuple(
        replace(item, edits=None, members=without_edits(item.members)) if item.edits or item.members else item
        for item in diagnostics
    )


class _Descriptions:
    """The fixes of one file, each described once."""

    def __init__(self, model: Model, *, keeps_edits: bool) -> None:
        self._crashes = model.crashes
        self._source = model.source
        self._form = model.form
        self._kind = model.kind
        self._splicer = Splicer(model.source, model.kind)
        self._text_left = MOST_TEXT_BYTES
        self._keeps_edits = keeps_edits
        self._known: dict[int, tuple[ProposedFix, Fix | None]] = {}

    def of(self, diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        return tuple(self._with_fix(item) if item.edits or item.members else item for item in diagnostics)

    def _with_fix(self, item: Diagnostic) -> Diagnostic:
        fix = item.edits
        if fix is None:
            return replace(item, members=self.of(item.members))
        if id(fix) not in self._known:
            self._known[id(fix)] = ProposedFix(fix.message, fix.is_safe), None
            with self._crashes.at("describing a fix"):
                self._known[id(fix)] = self._describe(fix), fix.with_edits() if self._keeps_edits else None
        described, kept = self._known[id(fix)]
        return replace(item, fix=described, edits=kept, members=self.of(item.members))

    def _describe(self, fix: Fix) -> ProposedFix:
        if fix.later is not None or len(fix.edits) > MOST_EDITS or len(self._known) > MOST_FIXES:
            return ProposedFix(fix.message, fix.is_safe)
        edits = tuple(
            ProposedEdit(
                type(edit).__name__.lower(),
                str(edit.place),
                edit.place.pointer(),
                edit.before if isinstance(edit, Move) else None,
            )
            for edit in fix.edits
        )
        patches = self._patches(fix)
        return ProposedFix(fix.message, fix.is_safe, edits, patches, self._regions(patches))

    def _patches(self, fix: Fix) -> tuple[tuple[int, int, str], ...]:
        try:
            splices = self._splices(fix)
        except EditError:
            return ()
        if sum(size_of(piece) for splice in splices for piece in splice.pieces) > MOST_BYTES:
            return ()
        found = []
        for splice in splices:
            pieces = [
                piece if isinstance(piece, bytes) else self._source.read_at(piece[0], size_of(piece))
                for piece in splice.pieces
            ]
            found.append((splice.start, splice.end - splice.start, b64encode(b"".join(pieces)).decode()))
        return tuple(found)

    def _splices(self, fix: Fix) -> list[Splice]:
        """Return the splices of a fix; none for a text if too much text was read. Raises EditError."""
        if self._form == "binary":
            return self._splicer.with_lengths(self._splicer.splices_of(fix.edits))
        self._text_left -= self._source.size
        if self._text_left < 0:
            return []
        from onnx_lint.text_edits.text_splices import TextSplicer  # late, as few models are text

        splicer = TextSplicer(self._source, self._kind, self._form, fix.edits)
        splices = splicer.with_lengths(splicer.splices_of(fix.edits))
        after = unpatched(self._source).patched(splice.patch for splice in splices)
        return splices if splicer.problem(after, fix.edits) is None else []

    def _regions(self, patches: tuple[tuple[int, int, str], ...]) -> tuple[tuple[int, int, int, int], ...]:
        """Return the first and the last line and column of patches of a text; none for bytes."""
        if self._form == "binary" or not patches:
            return ()
        data = self._source.read_at(0, self._source.size)
        return tuple(
            (*_line_and_column(data, start), *_line_and_column(data, start + length)) for start, length, _ in patches
        )


def _line_and_column(data: bytes, offset: int) -> tuple[int, int]:
    """Return the line and the column of a byte in a text, both from 1."""
    first = data.rfind(b"\n", 0, offset) + 1
    column = len(data[first:offset].decode("utf-8").removeprefix("\ufeff")) + 1
    return data.count(b"\n", 0, offset) + 1, column
