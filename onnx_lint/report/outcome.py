# SPDX-License-Identifier: Apache-2.0
"""The sentences about one file in reports for people: its verdict, and the findings that are only counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from onnx_lint.common.record import Record
from onnx_lint.common.visible import visible
from onnx_lint.spec.clauses import Severity
from onnx_lint.wording import counted

if TYPE_CHECKING:
    from onnx_lint.report.file_report import Counted, FileReport
    from onnx_lint.report.totals import Report


class FileOutcome(Record):
    """What the last line about a file says, without its facts."""

    kind: Literal["conforms", "not judged", "findings"]
    verdict: str
    """The words that a terminal colours."""
    details: str = ""
    """The words after them."""

    @property
    def words(self) -> str:
        """All words: `conforms to ONNX 1.23; 98 rules checked`."""
        return self.verdict + self.details


def outcome_of(file: FileReport, report: Report) -> FileOutcome:
    """Return the outcome of a file that was read. Only rules that had something to check are counted."""
    if is_ignored(file, report) and not file.suppressed:
        return FileOutcome("not judged", "not judged: every rule is ignored")
    if file.conformity.conforms and not file.diagnostics:
        standard = report.standard(file.edition, file.variant)
        return FileOutcome("conforms", "conforms", f" to {standard}; {counted(file.judged_by, 'rule')} checked")
    return FileOutcome("findings", findings_line(file, report))


def is_ignored(file: FileReport, report: Report) -> bool:
    """Return whether every rule is ignored for this file, so that there is no verdict."""
    rules = report.rules if file.rules is None else file.rules
    return not (rules or file.diagnostics or file.unreadable)


def findings_line(file: FileReport, report: Report) -> str:
    """Return the numbers of findings in a file: under the clauses of ONNX, under those of each plugin, and suppressed.

    `2 errors; house_rules.py: 1 warning; 3 suppressed by the baseline`. The verdict comes first if the numbers do not
    show it: the file conforms, or each violation is suppressed or has a lower severity.
    """
    conforms = file.conformity.conforms
    standard = report.standard(file.edition, file.variant)
    counts = Counter((item.counted_under, item.severity) for item in file.diagnostics)
    parts: list[str] = []
    if conforms and file.diagnostics:
        parts.append(f"conforms to {standard}")
    elif not any(plugin is None for plugin, _ in counts):
        but = f" but does not conform to {standard}" if conforms is False else ""
        parts.append(f"no {'new ' if file.suppressed else ''}findings{but}")
    elif not counts[None, Severity.ERROR] and conforms is False:
        parts.append(f"does not conform to {standard}")
    if file.diagnostics:
        parts.append(findings_in_words(counts))
    parts += suppressed_in_words(Counter(item.suppressor for item in file.suppressed))
    parts += file.gaps
    if file.internal_errors:
        parts.append(f"not judged in full: {counted(len(file.internal_errors), 'internal error')}")
    return "; ".join(parts)


def findings_in_words(counts: Mapping[tuple[str | None, Severity], int]) -> str:
    """Return numbers of findings by plugin and severity, those under ONNX's clauses (None) first; empty for none.

    `2 errors, 1 warning; house_rules.py: 1 warning`
    """
    by_plugin: dict[str | None, Counter[Severity]] = {None: Counter()}
    for (plugin, severity), count in counts.items():
        by_plugin.setdefault(plugin, Counter())[severity] += count
    of_onnx = _severities_in_words(by_plugin.pop(None))
    others = [f"{visible(str(plugin))}: {_severities_in_words(found)}" for plugin, found in by_plugin.items()]
    return "; ".join([of_onnx, *others] if of_onnx else others)


def _severities_in_words(counts: Mapping[Severity, int]) -> str:
    """Return numbers of findings, errors first: `1 error, 2 warnings`; empty for none."""
    return ", ".join(counted(counts[each], each.label) for each in reversed(Severity) if counts.get(each))


def fixable_in_words(counts: Counter[bool]) -> str:
    """Return numbers of fixable findings: `2 fixable with --fix, 1 fixable with --fix --unsafe-fixes`; empty for none.

    `counts`: the number of findings by whether their fix is safe.
    """
    found = [(counts[True], "--fix"), (counts[False], "--fix --unsafe-fixes")]
    return ", ".join(f"{count:,} fixable with {option}" for count, option in found if count)


def suppressed_in_words(counts: Counter[str]) -> list[str]:
    """Return the numbers of suppressed findings, such as `3 suppressed by the baseline`."""
    return [
        f"{counts[source]:,} suppressed by the {source}" for source in ("baseline", "configuration") if counts[source]
    ]


def counted_in_words(found: Iterable[Counted]) -> str:
    """Return the findings that are only counted: `215 names are not C90 identifiers: --pedantic lists them`."""
    found = tuple(found)
    numbers = ", ".join(item.describe() for item in found)
    them = "it" if sum(item.count for item in found) == 1 else "them"
    return f"{numbers}: --pedantic lists {them}" if numbers else ""
