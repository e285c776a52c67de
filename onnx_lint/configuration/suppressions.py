# SPDX-License-Identifier: Apache-2.0
"""Suppressions: findings that the user accepts, each with a reason and, if wanted, a last day."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from onnx_lint.common.record import Record, replace
from onnx_lint.configuration.globs import matches
from onnx_lint.configuration.values import ConfigurationError, SetValue, SetValues
from onnx_lint.engine.registry import registry
from onnx_lint.report import Diagnostic, FileReport, fold, unfold
from onnx_lint.wording import suggestion


class Suppression(Record):
    """One entry of `suppress`."""

    where: str
    """The file and line."""
    rule: str
    reason: str
    place: str
    """A pattern for the place, or for the name of its node or value; empty for every place."""
    file: str
    """A pattern for the path; empty for every file."""
    directory: str
    """The folder that the pattern for the path is relative to."""
    until: datetime.date | None
    """The last day on which it suppresses; None for no end."""

    def is_expired(self, today: datetime.date) -> bool:
        """Return whether the last day is over."""
        return self.until is not None and today > self.until

    def is_for(self, path: str) -> bool:
        """Return whether it applies to the file at `path`."""
        return not self.file or matches(self.file, path, self.directory)

    def covers(self, finding: Diagnostic) -> bool:
        """Return whether it suppresses a finding in such a file."""
        if finding.rule != self.rule:
            return False
        names = (finding.place, finding.node, finding.subject)
        return not self.place or any(name is not None and _is_like(name, self.place) for name in names)


def _is_like(text: str, pattern: str) -> bool:
    """Return whether the text matches a pattern in which `*` matches any characters."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def suppressions_in(values: SetValues) -> tuple[Suppression, ...]:
    """Return the suppressions in the values of a configuration.

    Raises ConfigurationError for one without a rule or a reason, and for an unknown rule.
    """
    entries: dict[str, dict[str, SetValue]] = {}
    for path, value in values.items():
        if path[0] == "suppress" and len(path) == 3:
            entries.setdefault(path[1], {})[path[2]] = value
    return tuple(_suppression(where, entry) for where, entry in entries.items())


def _suppression(where: str, entry: Mapping[str, SetValue]) -> Suppression:
    for name in ("rule", "reason"):
        if name not in entry:
            raise ConfigurationError(f"{where}: suppress: an entry requires a {name}")
    rule = entry["rule"].value
    if rule not in registry():
        raise ConfigurationError(f"{where}: suppress: unknown rule {rule!r}{suggestion(rule, registry())}")
    text: dict[str, Any] = {name: entry[name].value if name in entry else "" for name in ("reason", "place", "file")}
    until = datetime.date.fromisoformat(entry["until"].value) if "until" in entry else None
    return Suppression(where=where, rule=rule, directory=entry["rule"].origin.directory, until=until, **text)


def with_suppressed(
    file: FileReport, entries: Iterable[Suppression], used: set[str], today: datetime.date
) -> FileReport:
    """Return the report with the findings suppressed that an entry covers; add the entries that did so to `used`."""
    living = [entry for entry in entries if not entry.is_expired(today) and entry.is_for(file.path)]
    if not living or not file.diagnostics:
        return file
    left: list[Diagnostic] = []
    suppressed: list[Diagnostic] = []
    for finding in unfold(file.diagnostics):
        entry = next((each for each in living if each.covers(finding)), None)
        if entry is None:
            left.append(finding)
        else:
            used.add(entry.where)
            suppressed.append(replace(finding, suppressed_by=f"{entry.where}: {entry.reason}"))
    if not suppressed:
        return file
    return replace(file, diagnostics=fold(left), suppressed=(*file.suppressed, *fold(suppressed)))


def complaints(
    entries: Iterable[Suppression], used: set[str], paths: Iterable[str], rules: Iterable[str], today: datetime.date
) -> Iterator[str]:
    """Yield a sentence for each entry that has expired, or that applied to one of the files and suppressed nothing.

    `rules`: the rules that ran.
    """
    linted, ran = list(paths), set(rules)
    for entry in entries:
        if entry.until is not None and entry.is_expired(today):
            yield f"{entry.where}: the suppression of {entry.rule} expired on {entry.until.isoformat()}"
        elif entry.where not in used and entry.rule in ran and any(map(entry.is_for, linted)):
            yield f"{entry.where}: the suppression of {entry.rule} matches no finding"
