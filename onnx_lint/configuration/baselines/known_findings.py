# SPDX-License-Identifier: Apache-2.0
"""What a baseline says about the findings of a run: which are known, and which entries still occur."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Sequence

from onnx_lint.common.record import replace
from onnx_lint.configuration.baselines.entries import (
    Baseline,
    Entries,
    Entry,
    entries_of,
    has_current_digests,
    weight_of,
)
from onnx_lint.configuration.baselines.marks import marks_of_entry, marks_of_finding
from onnx_lint.configuration.baselines.matching import match
from onnx_lint.configuration.baselines.new_faults import known_part, worded_as_new
from onnx_lint.input.locations import is_remote
from onnx_lint.report.digests import FaultDigests
from onnx_lint.report.file_report import OWN_ERRORS, FileReport
from onnx_lint.report.findings import BaselineIdentity
from onnx_lint.report.folding import fold
from onnx_lint.reporters.escape import STANDARD_INPUT


def file_key(path: str, baseline: str) -> str:
    """Return the name of the file at `path` in `baseline`: its path relative to the baseline, with forward slashes."""
    if path == "-":
        return STANDARD_INPUT
    if is_remote(path):
        return path
    path, folder = os.path.abspath(path), os.path.dirname(os.path.abspath(baseline))
    try:
        return os.path.relpath(path, folder).replace(os.sep, "/")
    except ValueError:  # another drive
        return path.replace(os.sep, "/")


def suppress_known(file: FileReport, entries: Entries) -> FileReport:
    """Return the report with the findings that the entries list suppressed."""
    matching = match(file.diagnostics, entries)
    known, new = [], []
    for index, finding in enumerate(matching.findings):
        if index in matching.entries:
            known.append(finding)
            continue
        entry = entries.get(matching.fingerprints[index])
        new.append(worded_as_new(finding, entry))
        part = known_part(finding, entry)
        if part is not None:
            known.append(part)
    return replace(file, diagnostics=fold(new), suppressed=fold(known))


def surviving_entries(file: FileReport, entries: Entries, rules: Collection[str]) -> dict[str, Entry]:
    """Return the entries that still occur in the file, with the remaining counts. `rules`: the rules that ran.

    Entries of a rule that did not run, or did not finish, are kept.
    """
    found: Counter[str] = Counter()
    matching = match((*file.suppressed, *file.diagnostics), entries)
    for index, finding in enumerate(matching.findings):
        found[matching.entries.get(index, matching.fingerprints[index])] += weight_of(finding)
    finished = _finished(file, rules)
    alive: dict[str, Entry] = {}
    for fingerprint, entry in entries.items():
        count = min(found[fingerprint], entry.count) if entry.rule in finished else entry.count
        if count:
            alive[fingerprint] = replace(entry, count=count)
    return alive


def _finished(file: FileReport, rules: Collection[str]) -> frozenset[str]:
    """Return those of the rules whose findings in the file are complete."""
    # In a file that was not judged only some rules ran, in an unreadable one none.
    if file.not_judged is not None or file.unreadable is not None:
        return frozenset()
    crashed = {rule for error in file.internal_errors for rule in (error.rule, *error.not_run)}
    # After a crash in an analysis, or without numpy, any rule may have found less.
    if OWN_ERRORS in crashed or file.lacks_numpy:
        return frozenset()
    return frozenset(rules) - crashed


def count_outdated_entries(file: FileReport, entries: Entries) -> int:
    """Return the number of entries of older versions that match findings less precisely than new entries would."""
    matching = match(file.suppressed, entries)
    known = {fingerprint: matching.findings[index] for index, fingerprint in matching.entries.items()}
    return sum(_is_less_precise(entries[fingerprint], each.identity) for fingerprint, each in known.items())


def _is_less_precise(entry: Entry, identity: BaselineIdentity) -> bool:
    """Return whether an entry identifies the faults of a finding less precisely than it could."""
    if not has_current_digests(entry) and _is_known_by_operators_alone(entry, identity):
        return True
    if entry.element_count:
        return False
    if identity.element_count > 1:
        return True
    return bool(identity.parts) and not _has_inner_places(entry, identity)


def _is_known_by_operators_alone(entry: Entry, identity: BaselineIdentity) -> bool:
    before, now = marks_of_entry(entry), marks_of_finding(identity)
    return before.names.isdisjoint(now.names) and not set(before.operators).isdisjoint(now.operators)


def _has_inner_places(entry: Entry, identity: BaselineIdentity) -> bool:
    """Return whether an entry identifies the places inside of values as precisely as the finding."""
    wanted = max(map(_precision, identity.parts), default=0)
    if not wanted:
        return any(fault.place.names_inside for fault in entry.faults)
    return max(map(_precision, entry.faults), default=0) >= wanted


def _precision(fault: FaultDigests) -> int:
    """Return how precisely a fault is identified: by what came to `FaultDigests` last, from 0 to 3."""
    if fault.partners is not None:
        return 3
    if fault.keys:
        return 2
    return 1 if fault.inner else 0


def former_name(file: FileReport, baseline: Baseline, missing: Sequence[str]) -> str | None:
    """Return the name of a missing file whose entries are exactly the findings of this one; None if there is none."""
    if not file.diagnostics:
        return None
    found = _counts(entries_of(file.diagnostics))
    return next((name for name in missing if _counts(baseline[name]) == found), None)


def _counts(entries: Entries) -> dict[str, int]:
    return {fingerprint: entry.count for fingerprint, entry in entries.items()}


def count_stale(baseline: Baseline, alive: Baseline) -> int:
    """Return how many entries of the baseline are not among those alive, or have a smaller count there."""
    pairs = ((entry, alive.get(name, {}).get(key)) for name, found in baseline.items() for key, entry in found.items())
    return sum(left is None or left.count < entry.count for entry, left in pairs)
