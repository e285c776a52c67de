# SPDX-License-Identifier: Apache-2.0
"""Suppressions: findings that the user accepts in the configuration, each with a reason."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Container, Iterable, Iterator
from fnmatch import fnmatchcase

from onnx_lint.common.deadline import look
from onnx_lint.common.record import Record, replace
from onnx_lint.engine.proposed_fixes import without_edits
from onnx_lint.input.globs import matches
from onnx_lint.ir.places.enclosing_names import EnclosingNames
from onnx_lint.model import Model
from onnx_lint.report import Diagnostic, FileReport, fold, unfold
from onnx_lint.rule import Finding
from onnx_lint.wording import report_name


class Suppression(Record):
    """One suppression."""

    where: str
    """The file, and the number of the entry in it, such as `onnx-lint.toml, suppress[0]`."""
    rule: str
    reason: str
    place: str = ""
    """A pattern for the place, or for the name of its node or value; empty for every place."""
    file: str = ""
    """A pattern for the path; empty for every file."""
    directory: str = ""
    """The folder that the pattern for the path is relative to."""
    until: datetime.date | None = None
    """The last day on which it suppresses; None for no end."""

    @property
    def description(self) -> str:
        """The text that suppressed findings have in `suppressed_by`."""
        return f"{self.where}: {self.reason}"

    def is_expired(self, today: datetime.date) -> bool:
        """Return whether the last day is over."""
        return self.until is not None and today > self.until

    def is_for(self, path: str) -> bool:
        """Return whether it applies to the file at `path`."""
        return not self.file or matches(self.file, path, self.directory)

    def covers(self, finding: Diagnostic) -> bool:
        """Return whether it suppresses a finding in such a file."""
        return finding.rule == self.rule and self.is_about(
            finding.place, finding.subject, EnclosingNames(node=finding.node, scope=finding.scope)
        )

    def is_about(self, place: str, subject: str | None, around: EnclosingNames) -> bool:
        """Return whether the pattern for the place matches it, or a name: of the subject, node or value."""
        innermost = next(filter(None, reversed(around.scope)), None)
        names = (place, subject, around.node, innermost)
        return not self.place or any(name is not None and _is_like(name, self.place) for name in names)


def apart(finding: Finding, entries: Iterable[Suppression], model: Model) -> list[Finding]:
    """Return a finding about several faults as one for each entry that suppresses some of them, and one for the rest.

    `entries`: those for the rule and the file.
    """

    def entry_for(part: Finding) -> Suppression | None:
        around = model.places.enclosing_names(part.place)
        subject = None if part.subject is None else report_name(part.subject)
        return next((entry for entry in entries if entry.is_about(str(part.place), subject, around)), None)

    return [finding] if finding.parts is None else finding.parts.split(finding, entry_for)


def _is_like(text: str, pattern: str) -> bool:
    """Return whether the text matches a pattern in which `*` matches any characters; places have brackets."""
    return fnmatchcase(text, pattern.replace("[", "[[]").replace("?", "[?]"))


def with_suppressed(file: FileReport, entries: Iterable[Suppression]) -> FileReport:
    """Return the report with the findings suppressed that an entry covers. The fixes of these are not made."""
    entries = [entry for entry in entries if entry.is_for(file.path)]
    if not entries or not file.diagnostics:
        return file
    left: list[Diagnostic] = []
    suppressed: list[Diagnostic] = []
    for finding in unfold(file.diagnostics):
        look()
        entry = next((each for each in entries if each.covers(finding)), None)
        if entry is None:
            left.append(finding)
        else:
            suppressed.append(replace(finding, suppressed_by=entry.description))
    if not suppressed:
        return file
    return replace(file, diagnostics=fold(left), suppressed=(*file.suppressed, *without_edits(fold(suppressed))))


def used_in(file: FileReport) -> set[str]:
    """Return the descriptions of the suppressions that suppress a finding of the file."""
    return {item.suppressed_by for item in unfold(file.suppressed) if item.suppressed_by is not None}


def complaints(
    entries: Iterable[Suppression], paths: Collection[str], used: Container[str], rules: Container[str]
) -> Iterator[str]:
    """Yield a sentence for each entry that has expired, or suppressed nothing although its rule ran on its files.

    `used`: the descriptions of those that suppress a finding.
    """
    today = datetime.date.today()
    for entry in entries:
        if entry.until is not None and entry.is_expired(today):
            yield f"{entry.where}: the suppression of {entry.rule} expired on {entry.until.isoformat()}"
        elif entry.description not in used and entry.rule in rules and any(map(entry.is_for, paths)):
            yield f"{entry.where}: the suppression of {entry.rule} matches no finding"
