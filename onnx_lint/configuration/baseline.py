# SPDX-License-Identifier: Apache-2.0
"""Baselines: the findings that are known, so that a run reports the new ones.

A baseline is a JSON file. A finding is known by its file, relative to the baseline, and by a fingerprint of names;
those that agree in both are counted. One that stands for several faults is known where the file lists as many, and
reported again where there are more. What else an entry holds is for people who read the file.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from onnx_lint.common.record import Record, replace
from onnx_lint.input.locations import is_remote
from onnx_lint.input.regular_file import read_regular
from onnx_lint.report import OWN_ERRORS, Diagnostic, FileReport
from onnx_lint.reporters.escape import STANDARD_INPUT, encodable, shortened
from onnx_lint.reporters.fingerprint import fingerprints
from onnx_lint.spec.clauses import clauses

VERSION: Final = 1
MAX_BYTES: Final = 1 << 26
MAX_SHOWN: Final = 200


class BaselineError(ValueError):
    """A file that cannot be used as a baseline; the text says why."""


class Entry(Record):
    """Findings of one file that agree in everything by which they are known."""

    fingerprint: str
    rule: str
    where: str
    """The names around the place, for people."""
    count: int


Entries = Mapping[str, Entry]
"""The entries of one file, by their fingerprints."""
Baseline = Mapping[str, Entries]
"""The entries of each file."""


def file_key(path: str, baseline: str) -> str:
    """How the baseline at the path `baseline` names the file at `path`: relative to itself, with forward slashes."""
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
    """The entries that list the diagnostics of one file."""
    found: dict[str, Entry] = {}
    for diagnostic, digest in _with_digests(tuple(diagnostics)):
        known = found.get(digest)
        if known is None:
            found[digest] = Entry(digest, diagnostic.rule, _where(diagnostic), _weight(diagnostic))
        else:
            found[digest] = replace(known, count=known.count + _weight(diagnostic))
    return found


def _weight(diagnostic: Diagnostic) -> int:
    """How many of an entry the diagnostic takes up: one where its clause is only counted by default.

    Such a clause is about a habit of exporters: whoever knows of it wants no finding anew with each name.
    """
    clause = clauses().get(diagnostic.clause)
    return 1 if clause is not None and clause.presence == "counted" else diagnostic.count


def _with_digests(diagnostics: Sequence[Diagnostic]) -> Iterator[tuple[Diagnostic, str]]:
    for diagnostic, mark in zip(diagnostics, fingerprints(diagnostics), strict=True):
        yield diagnostic, mark.partition(":")[0][:32]


def _where(diagnostic: Diagnostic) -> str:
    scope = () if diagnostic.collective else diagnostic.scope
    names = [shortened(name, MAX_SHOWN) for name in scope if name]
    if diagnostic.subject and diagnostic.subject not in names:
        names.append(shortened(diagnostic.subject, MAX_SHOWN))
    return encodable(" / ".join(names))


def split(file: FileReport, entries: Entries) -> FileReport:
    """The report of the file with the findings that the entries list suppressed."""
    left = {digest: entry.count for digest, entry in entries.items()}
    new: list[Diagnostic] = []
    known: list[Diagnostic] = []
    for diagnostic, digest in _with_digests(file.diagnostics):
        if left.get(digest, 0) >= _weight(diagnostic):
            left[digest] -= _weight(diagnostic)
            known.append(diagnostic)
        else:
            new.append(diagnostic)
    return replace(file, diagnostics=tuple(new), suppressed=tuple(known))


def living(file: FileReport, entries: Entries, rules: Collection[str]) -> dict[str, Entry]:
    """The entries that the file still has, each with the count that is left; `rules`: those that it was held against.

    An entry of a rule that did not run, or not to its end, is taken to be alive.
    """
    found: Counter[str] = Counter()
    for diagnostic, digest in _with_digests((*file.suppressed, *file.diagnostics)):
        found[digest] += _weight(diagnostic)
    crashed = {rule for error in file.internal_errors for rule in (error.rule, *error.not_run)}
    # Of a file that was not judged only some rules have a say, and of one that cannot be read none. Where an analysis
    # crashed it is not known which rules have found less.
    is_judged = file.not_judged is None and file.unreadable is None and OWN_ERRORS not in crashed
    judged = frozenset(rules) - crashed if is_judged else frozenset()
    alive: dict[str, Entry] = {}
    for digest, entry in entries.items():
        count = min(found[digest], entry.count) if entry.rule in judged else entry.count
        if count:
            alive[digest] = replace(entry, count=count)
    return alive


def size(baseline: Baseline) -> int:
    """How many findings the baseline lists."""
    return sum(entry.count for entries in baseline.values() for entry in entries.values())


# --- the file


def written(baseline: Baseline) -> str:
    """The text of the file that holds the baseline: sorted, an entry on each line, the same for the same entries."""
    blocks = []
    for path in sorted(baseline):
        entries = sorted(baseline[path].values(), key=lambda entry: (entry.rule, entry.where, entry.fingerprint))
        if entries:
            lines = ",\n".join(f"      {json.dumps(_record(entry))}" for entry in entries)
            blocks.append(f"    {json.dumps(path)}: [\n{lines}\n    ]")
    files = "{\n" + ",\n".join(blocks) + "\n  }" if blocks else "{}"
    return f'{{\n  "version": {VERSION},\n  "files": {files}\n}}\n'


def _record(entry: Entry) -> dict[str, Any]:
    return {"rule": entry.rule, "where": entry.where, "count": entry.count, "fingerprint": entry.fingerprint}


def read_baseline(path: str) -> Baseline:
    """The baseline in the file at `path`; raises BaselineError when it cannot be read or is none."""
    try:
        data = read_regular(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        hint = "; --write-baseline makes it" if isinstance(error, FileNotFoundError) else ""
        raise BaselineError(f"{path}: {reason}{hint}") from error
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{path}: is no baseline: it is not JSON") from error
    version = document.get("version") if isinstance(document, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise BaselineError(f"{path}: is of version {version}; this onnx-lint knows version {VERSION}")
    try:
        return {name: _entries(records) for name, records in document["files"].items()}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BaselineError(f"{path}: is no baseline of onnx-lint, or a damaged one") from error


def _entries(records: Any) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for record in records:
        entry = Entry(record["fingerprint"], record["rule"], record.get("where", ""), record["count"])
        texts = (entry.fingerprint, entry.rule, entry.where)
        if not all(isinstance(text, str) for text in texts) or type(entry.count) is not int or entry.count < 1:
            raise ValueError(f"an entry that is none: {record!r:.100}")
        known = found.get(entry.fingerprint)
        # Two lines for one thing are what a merge of two branches leaves behind.
        found[entry.fingerprint] = entry if known is None else replace(entry, count=max(entry.count, known.count))
    return found
