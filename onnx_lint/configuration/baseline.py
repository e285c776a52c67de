# SPDX-License-Identifier: Apache-2.0
"""Baselines: lists of known findings, so that a run reports only new ones.

A baseline is a JSON file. It identifies a finding by the file, relative to the baseline, and a fingerprint of names;
findings that agree in both are counted. A finding with several faults is known if the baseline lists at least as many,
and each of them. A finding whose names have changed is known by the operators around it.
The rest of an entry is for people who read the file.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from onnx_lint.common.record import Record, replace
from onnx_lint.configuration.errors import ConfigurationError
from onnx_lint.input.locations import is_remote
from onnx_lint.input.regular_file import read_regular
from onnx_lint.report.file_report import OWN_ERRORS, FileReport
from onnx_lint.report.findings import DIGEST, Diagnostic
from onnx_lint.report.folding import fold, unfold
from onnx_lint.reporters.escape import STANDARD_INPUT, encodable, shortened
from onnx_lint.reporters.fingerprint import digest_of
from onnx_lint.spec.clauses import clauses

VERSION: Final = 1
MAX_BYTES: Final = 1 << 26
MAX_SHOWN: Final = 200


class Entry(Record):
    """The findings of one file with one fingerprint."""

    fingerprint: str
    rule: str
    where: str
    """The names around the place, for people."""
    count: int
    structure: str = ""
    """See `Diagnostic.structure`."""
    parts: tuple[str, ...] = ()
    """See `Diagnostic.parts`; empty if unknown."""


Entries = Mapping[str, Entry]
"""The entries of one file, by their fingerprints."""
Baseline = Mapping[str, Entries]
"""The entries of each file, by its name in the baseline."""


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


def entries_of(diagnostics: Iterable[Diagnostic]) -> dict[str, Entry]:
    """Return the entries for the diagnostics of one file, by fingerprint."""
    found: dict[str, Entry] = {}
    for each in unfold(diagnostics):
        digest = _fingerprint(each)
        known = found.get(digest)
        if known is None:
            found[digest] = Entry(digest, each.rule, _where(each), _weight(each), each.structure, each.parts)
        else:
            found[digest] = replace(known, count=known.count + _weight(each), structure="")
    return found


def _weight(diagnostic: Diagnostic) -> int:
    """Return how much the diagnostic adds to an entry: 1 if its clause is only counted by default, else its count.

    Such a clause is about a habit of exporters, which should not be reported again for each new name.
    """
    clause = clauses().get(diagnostic.clause)
    return 1 if clause is not None and clause.counted else diagnostic.count


def _fingerprint(diagnostic: Diagnostic, *, with_main: bool = False) -> str:
    return digest_of(diagnostic, with_main=with_main)[:32]


def _identified(diagnostics: Iterable[Diagnostic], entries: Entries) -> Iterator[tuple[Diagnostic, str]]:
    """Yield each finding with the fingerprint of its entry, or its own; those that are folded each by itself."""
    found = list(unfold(diagnostics))
    chosen: list[str] = []
    takers: dict[str, int] = {}
    """The finding that each entry identifies, by its names or, if it is not about several, by its structure."""
    for index, each in enumerate(found):
        marks = _fingerprint(each), _fingerprint(each, with_main=True)
        chosen.append(next((mark for mark in marks if mark in entries), marks[0]))
        takers.setdefault(chosen[-1], index)
    pairs = [(entries[mark].structure, found[index].structure) for mark, index in takers.items() if mark in entries]
    kept = sum(old[:DIGEST] == new[:DIGEST] for old, new in pairs)
    seen: set[str] = set()
    at = {(entry.rule, entry.structure[:DIGEST]): entry for entry in entries.values() if entry.structure}

    def moves_of(index: int) -> Iterator[tuple[int, str]]:
        """Yield the entry of the finding's structure, then that of the finding which has taken that entry, and so on.

        Where names are numbered anew, each finding has the name of the next one, and most names another structure.
        """
        while True:
            each = found[index]
            entry = at.get((each.rule, each.structure[:DIGEST])) if each.structure else None
            # With the names of the entry it is another finding at the same place.
            if entry is None or entry.structure[DIGEST:] == each.structure[DIGEST:] or entry.fingerprint in seen:
                return
            seen.add(entry.fingerprint)
            yield index, entry.fingerprint
            index = takers.get(entry.fingerprint, -1)
            if index < 0 or 2 * kept >= len(pairs):
                return

    for index, mark in enumerate(chosen):
        if mark not in entries:
            moves = list(moves_of(index))
            if moves and moves[-1][1] not in takers:
                for other, entry in moves:
                    chosen[other], takers[entry] = entry, other
    yield from zip(found, chosen, strict=True)


def _lists(entry: Entry, diagnostic: Diagnostic) -> bool:
    """Return whether the entry may list each fault of a finding: by its names, or by the operators around it."""
    if not entry.parts or not diagnostic.parts:
        return True
    if entry.count > _weight(diagnostic) and min(map(len, (*entry.parts, *diagnostic.parts))) == DIGEST:
        return True  # many faults have one digest
    left = list(entry.parts)
    for part in diagnostic.parts:
        halves = part[:DIGEST], part[DIGEST:]
        known = next((other for other in left if halves[0] == other[:DIGEST] or halves[1] == other[DIGEST:]), None)
        if known is None:
            return False
        left.remove(known)
    return True


def _where(diagnostic: Diagnostic) -> str:
    scope = () if diagnostic.collective else diagnostic.scope
    names = [shortened(name, MAX_SHOWN) for name in scope if name]
    if diagnostic.subject and diagnostic.subject not in names:
        names.append(shortened(diagnostic.subject, MAX_SHOWN))
    return encodable(" / ".join(names))


def split(file: FileReport, entries: Entries) -> FileReport:
    """Return the report with the findings that the entries list suppressed."""
    left = {digest: entry.count for digest, entry in entries.items()}
    new: list[Diagnostic] = []
    known: list[Diagnostic] = []
    for diagnostic, digest in _identified(file.diagnostics, entries):
        if left.get(digest, 0) >= _weight(diagnostic) and _lists(entries[digest], diagnostic):
            left[digest] -= _weight(diagnostic)
            known.append(diagnostic)
        else:
            new.append(diagnostic)
    return replace(file, diagnostics=fold(new), suppressed=fold(known))


def living(file: FileReport, entries: Entries, rules: Collection[str]) -> dict[str, Entry]:
    """Return the entries that still occur in the file, with the remaining counts. `rules`: the rules that ran.

    Entries of a rule that did not run, or did not finish, are kept.
    """
    found: Counter[str] = Counter()
    for diagnostic, digest in _identified((*file.suppressed, *file.diagnostics), entries):
        found[digest] += _weight(diagnostic)
    crashed = {rule for error in file.internal_errors for rule in (error.rule, *error.not_run)}
    # In a file that was not judged only some rules ran, in an unreadable one none. After a crash in an analysis any
    # rule may have found less.
    is_judged = file.not_judged is None and file.unreadable is None and OWN_ERRORS not in crashed
    judged = frozenset(rules) - crashed if is_judged else frozenset()
    alive: dict[str, Entry] = {}
    for digest, entry in entries.items():
        count = min(found[digest], entry.count) if entry.rule in judged else entry.count
        if count:
            alive[digest] = replace(entry, count=count)
    return alive


def moved(file: FileReport, baseline: Baseline, missing: Iterable[str]) -> str | None:
    """Return the name of a missing file whose entries are exactly the findings of this one; None if there is none."""
    if not file.diagnostics:
        return None
    found = {mark: entry.count for mark, entry in entries_of(file.diagnostics).items()}
    counts = ({mark: entry.count for mark, entry in baseline[name].items()} for name in missing)
    return next((name for name, count in zip(missing, counts, strict=True) if count == found), None)


def gone(baseline: Baseline, alive: Baseline) -> int:
    """Return how many entries of the baseline are not among those alive, or no longer with that count."""
    pairs = ((entry, alive.get(name, {}).get(key)) for name, found in baseline.items() for key, entry in found.items())
    return sum(left is None or left.count < entry.count for entry, left in pairs)


# --- the file


def written(baseline: Baseline) -> str:
    """Return the text of the baseline file: sorted, one entry per line, equal for equal entries."""
    blocks = []
    for path in sorted(baseline):
        entries = sorted(baseline[path].values(), key=lambda entry: (entry.rule, entry.where, entry.fingerprint))
        if entries:
            lines = ",\n".join(f"      {json.dumps(_record(entry))}" for entry in entries)
            blocks.append(f"    {json.dumps(path)}: [\n{lines}\n    ]")
    files = "{\n" + ",\n".join(blocks) + "\n  }" if blocks else "{}"
    return f'{{\n  "version": {VERSION},\n  "files": {files}\n}}\n'


def _record(entry: Entry) -> dict[str, Any]:
    record = {"rule": entry.rule, "where": entry.where, "count": entry.count, "fingerprint": entry.fingerprint}
    structure = {"structure": entry.structure} if entry.structure else {}
    return record | structure | ({"parts": " ".join(entry.parts)} if entry.parts else {})


def read_baseline(path: str) -> Baseline:
    """Return the baseline in the file at `path`. Raises ConfigurationError if it cannot be read or is none."""
    try:
        data = read_regular(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        hint = "; --write-baseline makes it" if isinstance(error, FileNotFoundError) else ""
        raise ConfigurationError(f"{path}: {reason}{hint}") from error
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path}: is not a baseline: it is not JSON") from error
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise ConfigurationError(f"{path}: has version {version}; this onnx-lint supports version {VERSION}")
    try:
        return {name: _entries(records) for name, records in document["files"].items()}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ConfigurationError(f"{path}: is not a baseline of onnx-lint, or is damaged") from error


def _entries(records: Any) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for record in records:
        more = record.get("structure", ""), record.get("parts", "")
        texts = record["fingerprint"], record["rule"], record.get("where", ""), *more
        if not all(isinstance(text, str) for text in texts) or type(record["count"]) is not int or record["count"] < 1:
            raise ValueError(f"not an entry: {record!r:.100}")
        entry = Entry(*texts[:3], record["count"], more[0], tuple(more[1].split()))
        known = found.get(entry.fingerprint)
        # A merge of two branches may leave two lines for one entry.
        found[entry.fingerprint] = entry if known is None else replace(entry, count=max(entry.count, known.count))
    return found
