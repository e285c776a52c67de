# SPDX-License-Identifier: Apache-2.0
"""What reports for people say of one file: its verdict, and what was only counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from onnx_lint.common.visible import visible
from onnx_lint.report.findings import SUPPRESSORS
from onnx_lint.spec.clauses import Severity
from onnx_lint.wording import counted

if TYPE_CHECKING:
    from onnx_lint.report.file_report import Counted, FileReport
    from onnx_lint.report.totals import Report


def outcome_of(file: FileReport, report: Report) -> str:
    """Return the last line about a file that was read, without its facts: `conforms to ONNX 1.23; 98 rules checked`.

    Rules without anything to look at do not count.
    """
    if is_ignored(file, report) and not file.suppressed:
        return "not judged: every rule is ignored"
    if file.conformity[0] and not file.diagnostics:
        return f"conforms to {report.standard(file.edition, file.variant)}; {counted(file.judged_by, 'rule')} checked"
    return state_of(file, report)


def is_ignored(file: FileReport, report: Report) -> bool:
    """Return whether the selection leaves no rule for this file, so that there is no verdict."""
    rules = report.rules if file.rules is None else file.rules
    return not (rules or file.diagnostics or file.unreadable)


def state_of(file: FileReport, report: Report) -> str:
    """Return the numbers of findings of a file, first of ONNX's clauses, then of each plugin's, and of suppressed ones.

    `2 errors; house_rules.py: 1 warning; 3 suppressed by the baseline`. The verdict comes first if the numbers do not
    show it: if the file conforms, and if each violation is suppressed or has a lower severity.
    """
    conforms, _ = file.conformity
    standard = report.standard(file.edition, file.variant)
    levels = Counter((item.counted_under, item.severity) for item in file.diagnostics)
    parts: list[str] = []
    if conforms and file.diagnostics:
        parts.append(f"conforms to {standard}")
    elif not any(plugin is None for plugin, _ in levels):
        but = f" but does not conform to {standard}" if conforms is False else ""
        parts.append(f"no {'new ' if file.suppressed else ''}findings{but}")
    elif not levels[None, Severity.ERROR] and conforms is False:
        parts.append(f"does not conform to {standard}")
    if file.diagnostics:
        parts.append(numbers_of(levels))
    parts += suppressed_of(Counter(item.suppressor for item in file.suppressed))
    parts += file.gaps
    if file.internal_errors:
        parts.append(f"not judged in full: {counted(len(file.internal_errors), 'internal error')}")
    return "; ".join(parts)


def numbers_of(levels: Mapping[tuple[str | None, Severity], int]) -> str:
    """Return numbers of findings by plugin and severity, those of ONNX's clauses first; empty for none.

    `2 errors, 1 warning; house_rules.py: 1 warning`
    """
    by_plugin: dict[str | None, Counter[Severity]] = {None: Counter()}
    for (plugin, level), count in levels.items():
        by_plugin.setdefault(plugin, Counter())[level] += count
    own = levels_in_words(by_plugin.pop(None))
    others = [f"{visible(str(plugin))}: {levels_in_words(found)}" for plugin, found in by_plugin.items()]
    return "; ".join([own, *others] if own else others)


def levels_in_words(counts: Mapping[Severity, int]) -> str:
    """Return numbers of findings, errors first: `1 error, 2 warnings`; empty for none."""
    return ", ".join(counted(counts[level], level.label) for level in reversed(Severity) if counts.get(level))


def fixable_of(counts: Counter[bool]) -> str:
    """Return numbers of fixable findings: `2 fixable with --fix, 1 fixable with --fix --unsafe-fixes`, or nothing."""
    found = [(counts[True], "--fix"), (counts[False], "--fix --unsafe-fixes")]
    return ", ".join(f"{count:,} fixable with {option}" for count, option in found if count)


def suppressed_of(counts: Counter[str]) -> list[str]:
    """Return the numbers of suppressed findings, such as `3 suppressed by the baseline`."""
    return [f"{counts[source]:,} suppressed by the {source}" for source in SUPPRESSORS if counts[source]]


def counted_of(found: Iterable[Counted]) -> str:
    """Return what is only counted: `215 names are not C90 identifiers: --pedantic lists them`; empty if nothing is."""
    found = tuple(found)
    numbers = ", ".join(item.describe() for item in found)
    them = "it" if sum(item.count for item in found) == 1 else "them"
    return f"{numbers}: --pedantic lists {them}" if numbers else ""
