# SPDX-License-Identifier: Apache-2.0
"""Findings as older versions reported them: at another place, or under other clauses."""

from __future__ import annotations

from onnx_lint.configuration.baselines.entries import Entries, Entry, fingerprints_of
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.former_clauses import has_changed_since


def forms_of(diagnostic: Diagnostic) -> tuple[Diagnostic, ...]:
    """Return a finding, and what older versions may have reported in its place."""
    identity = diagnostic.identity
    at_former_place = () if identity.at_former_place is None else (identity.at_former_place,)
    return (diagnostic, *at_former_place, *(form for each in identity.under_former_clauses for form in forms_of(each)))


def form_in_baseline(diagnostic: Diagnostic, entries: Entries) -> Diagnostic:
    """Return the first form of a finding whose fingerprint has an entry; the finding itself if there is none."""
    forms = forms_of(diagnostic)
    if len(forms) > 1:
        for form in forms:
            entry = next((entries[each] for each in fingerprints_of(form) if each in entries), None)
            if entry is not None and may_be_listed_as(form, diagnostic, entry):
                return form
    return diagnostic


def may_be_listed_as(form: Diagnostic, diagnostic: Diagnostic, entry: Entry) -> bool:
    """Return whether the version that wrote the entry may have reported the finding under the clause of `form`."""
    if form.clause == diagnostic.clause:
        return True
    return has_changed_since(entry.clauses, diagnostic.clause, form.clause)
