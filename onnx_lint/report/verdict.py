# SPDX-License-Identifier: Apache-2.0
"""What reports say of all files of a run: the verdict, each target, and what was not verified.

Every format takes its sentences from here. They say of several files whatever they would say of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from onnx_lint.report.totals import (
    CONFORMING,
    NOT_CHECKED,
    NOT_JUDGED,
    NOTHING_NEW,
    NOTHING_NEW_VIOLATING,
    UNDECIDED,
    VIOLATING,
)
from onnx_lint.wording import counted

if TYPE_CHECKING:
    from onnx_lint.report.totals import Report, Totals
    from onnx_lint.spec.clauses import Severity

MAX_SHOWN: Final = 5
"""The most sentences of one kind."""


def verdict_of(report: Report) -> str:
    """Return the verdict on all files, on one line: `3 models: 2 conform to ONNX 1.23, 1 does not (4 errors)`.

    What limits the verdict follows, such as settings that leave out rules, and what went wrong.
    """
    totals = report.totals
    if report.not_linted and not totals.files:
        return interrupted_of(report)
    parts = [_groups_of(report, totals), *_gaps_of(totals)]
    if totals.without_model and totals.files > 1:
        files = "file holds" if totals.without_model == 1 else "files hold"
        parts.append(f"{totals.without_model:,} {files} no readable model")
    if totals.incomplete:
        parts.append(f"{totals.incomplete:,} not verified in full")
    if totals.fixed:
        parts.append(f"{counted(totals.fixed, 'finding')} fixed")
    if totals.internal_errors:
        parts.append(f"not judged in full: {counted(totals.internal_errors, 'internal error')}")
    if totals.suppressed or totals.fixable:
        from onnx_lint.report.outcome import fixable_of, suppressed_of

        parts += [*suppressed_of(totals.suppressed), *filter(None, [fixable_of(totals.fixable)])]
    if report.stale:
        entries = f"{report.stale:,} {'entry' if report.stale == 1 else 'entries'}"
        parts.append(f"{entries} of the baseline no longer found")
    if report.not_linted:
        parts.append(interrupted_of(report))
    return "; ".join(parts)


def verdict_lines(report: Report) -> Iterator[str]:
    """Yield the verdict on all files and what follows it, each as a line of plain text."""
    from onnx_lint.report.remarks import remarks_on_run

    yield verdict_of(report)
    for label, what in remarks_on_run(report):
        yield f"{label}: {what}"


# --- the files by what is known of them


_PHRASES: Final = {
    CONFORMING: ("conforms to {}", "conform to {}"),
    VIOLATING: ("does not conform to {}", "do not conform to {}"),
    NOTHING_NEW_VIOLATING: ("has no new findings but does not conform", "have no new findings but do not conform"),
    NOTHING_NEW: ("has no new findings", "have no new findings"),
    UNDECIDED: ("has no verdict", "have no verdict"),
    NOT_JUDGED: ("not judged", "not judged"),
    NOT_CHECKED: ("not checked", "not checked"),
}
"""What is said of one file and of several, in the order of a sentence about both kinds; `{}` is the standard."""


def _groups_of(report: Report, totals: Totals) -> str:
    """Return the number of files of each group, and their findings."""
    groups = _judged_groups(report, totals)
    noun = totals.noun
    standard = _standard_of(report, totals)
    if len(groups) == 1:
        (group,) = groups
        return _alone(group, totals, counted(totals.files, noun), standard)
    phrases: list[str] = []
    for group in filter(groups.__contains__, _PHRASES):
        count = groups[group]
        phrase = _PHRASES[group][count != 1].format(standard)
        if phrases and group == VIOLATING and CONFORMING in groups:
            phrase = phrase.partition(" conform ")[0]  # "2 conform to ONNX 1.23, 1 does not"
        found = _numbers(totals, group, count)
        if group == NOTHING_NEW_VIOLATING:
            from onnx_lint.report.remarks import names_of

            found = names_of(totals.violating_paths, count)
        phrases.append(f"{count:,} {phrase}{f' ({found})' if found else ''}")
    return f"{counted(totals.files, noun)}: {', '.join(phrases) or 'none checked'}"


def _alone(group: str, totals: Totals, files: str, standard: str) -> str:
    """Return the phrase for files that are all of one group: `2 models conform to ONNX 1.23`."""
    found = _numbers(totals, group, totals.files)
    if group == UNDECIDED:
        return f"{files}: {found or 'no findings'}"
    if group == NOTHING_NEW:
        return f"{files}: no new findings"
    if group in (NOT_JUDGED, NOT_CHECKED):
        return f"{files}: {'not' if totals.files == 1 else 'none'} {group.removeprefix('not ')}"
    phrase = _PHRASES[group][totals.files != 1].format(standard)
    if group == NOTHING_NEW_VIOLATING:
        phrase += f" to {standard}"
    between = ": " if group == VIOLATING else "; "
    return f"{files} {phrase}{between if found else ''}{found}"


def _judged_groups(report: Report, totals: Totals) -> dict[str, int]:
    """Return the number of files by group. Without any rule no file conforms."""
    groups = dict(totals.groups)
    if not report.rules and totals.clean_by_rules_of_run:
        groups[CONFORMING] -= totals.clean_by_rules_of_run
        groups[NOT_JUDGED] = groups.get(NOT_JUDGED, 0) + totals.clean_by_rules_of_run
    return {group: count for group, count in groups.items() if count}


def _numbers(totals: Totals, group: str, count: int) -> str:
    """Return the findings in the files of a group, and in how many of these they are if not in all."""
    levels: dict[tuple[str | None, Severity], int] = {}
    for (of_group, plugin, level), found in totals.levels_by_group.items():
        if of_group == group:
            levels[plugin, level] = found
    if not levels:
        return ""
    from onnx_lint.report.outcome import numbers_of

    files = totals.with_findings[group]
    # "hygiene: 1 warning in 2 of them" would count the files of other findings.
    is_of_one_kind = len({plugin for plugin, _ in levels}) == 1
    return numbers_of(levels) + (f" in {files:,} of them" if files < count and is_of_one_kind else "")


def _standard_of(report: Report, totals: Totals) -> str:
    """Return the standard that the files were checked against: `the configured ONNX edition (1.16 or 1.23)`."""
    names = sorted({report.standard(*each) for each in totals.standards})
    if len(names) < 2:
        return names[0] if names else "ONNX"
    return f"the configured ONNX edition ({' or '.join(name.removeprefix('ONNX ') for name in names)})"


def _gaps_of(totals: Totals) -> Iterator[str]:
    """Yield what the settings left out, each with the number of files if it is not left out in all."""
    judged = totals.files - totals.unreadable - totals.not_judged
    by_files = sorted(totals.gaps.items(), key=lambda each: -each[1])
    for gap, count in by_files[:MAX_SHOWN]:
        yield gap if count >= judged else f"{gap} in {count:,} of {counted(totals.files, totals.noun)}"
    if len(totals.gaps) > MAX_SHOWN:
        yield f"other settings left out {len(totals.gaps) - MAX_SHOWN:,} more"


def interrupted_of(report: Report) -> str:
    """Return the state of an interrupted run: `interrupted: 12 of 1,196 files were linted`."""
    done = report.totals.files
    were = "was" if done == 1 else "were"
    return f"interrupted: {done:,} of {counted(done + len(report.not_linted), 'file')} {were} linted"
