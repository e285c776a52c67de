# SPDX-License-Identifier: Apache-2.0
"""Describes the fixes of findings for reports: edits by place, and the bytes that change."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Final

from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import replace
from onnx_lint.input.patched_source import size_of
from onnx_lint.ir.places.edits import MAX_EDITS, Fix, Move
from onnx_lint.ir.places.splices import EditError, Splicer
from onnx_lint.model import Model
from onnx_lint.report.findings import Diagnostic, ProposedEdit, ProposedFix

MAX_BYTES: Final = 4096
"""A fix that replaces bytes by more than these is described without bytes."""

MAX_FIXES: Final = 1_000
"""The most fixes of a file whose bytes are computed."""


def with_proposed_fixes(
    diagnostics: tuple[Diagnostic, ...], model: Model, *, lists_edits: bool, keeps_edits: Callable[[Fix], bool]
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics, each with a description of its fix, and with the edits if `keeps_edits` says so.

    `lists_edits`: whether the descriptions list the edits and their bytes, which only some reports show.
    """
    if not any(item.advice.edits for each in diagnostics for item in (each, *each.folding.members)):
        return diagnostics
    return _Descriptions(model, lists_edits=lists_edits, keeps_edits=keeps_edits).describe_all(diagnostics)


def without_edits(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics with the descriptions of fixes alone."""
    return tuple(_without_edits(item) if item.advice.edits or item.folding.members else item for item in diagnostics)


def _without_edits(item: Diagnostic) -> Diagnostic:
    return item.with_members(without_edits(item.folding.members)).with_advice(edits=None)


class _Descriptions:
    """The fixes of one file, each described once."""

    def __init__(self, model: Model, *, lists_edits: bool, keeps_edits: Callable[[Fix], bool]) -> None:
        self._crashes = model.crashes
        self._source = model.source
        self._form = model.form
        self._splicer = Splicer(model.source, model.kind)
        self._lists_edits = lists_edits
        self._keeps_edits = keeps_edits
        self._known: dict[int, tuple[ProposedFix, Fix | None]] = {}

    def describe_all(self, diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        return tuple(
            self._with_fix(item) if item.advice.edits or item.folding.members else item for item in diagnostics
        )

    def _with_fix(self, item: Diagnostic) -> Diagnostic:
        check_deadline()
        fix = item.advice.edits
        item = item.with_members(self.describe_all(item.folding.members))
        if fix is None:
            return item
        if id(fix) not in self._known:
            self._known[id(fix)] = self._summary(fix), None
            with self._crashes.at("describing a fix"):
                self._known[id(fix)] = self._describe(fix), fix.with_edits() if self._keeps_edits(fix) else None
        described, kept = self._known[id(fix)]
        return item.with_advice(fix=described, edits=kept)

    def _describe(self, fix: Fix) -> ProposedFix:
        is_bounded = fix.later is None and len(fix.edits) <= MAX_EDITS and len(self._known) <= MAX_FIXES
        if not (self._lists_edits and is_bounded):
            return self._summary(fix)
        edits = tuple(
            ProposedEdit(edit.place, type(edit).__name__.lower(), edit.before if isinstance(edit, Move) else None)
            for edit in fix.edits
        )
        patches = self._patches(fix)
        return replace(self._summary(fix), edits=edits, patches=patches)

    def _summary(self, fix: Fix) -> ProposedFix:
        return ProposedFix(fix.message, fix.is_safe, is_by_hand=self._form != "binary")

    def _patches(self, fix: Fix) -> tuple[tuple[int, int, str], ...]:
        if self._form != "binary":
            return ()
        try:
            splices = self._splicer.with_lengths(self._splicer.splices_of(fix.edits))
        except EditError:
            return ()
        if sum(size_of(piece) for splice in splices for piece in splice.pieces) > MAX_BYTES:
            return ()
        found = []
        for splice in splices:
            pieces = [
                piece if isinstance(piece, bytes) else self._source.read_at(piece[0], size_of(piece))
                for piece in splice.pieces
            ]
            found.append((splice.start, splice.end - splice.start, b64encode(b"".join(pieces)).decode()))
        return tuple(found)
