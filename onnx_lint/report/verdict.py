# SPDX-License-Identifier: Apache-2.0
"""The sentence with the verdict on all files of a run.

Every format takes its sentences from here. The verdict on several files has the same facts as that on one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record
from onnx_lint.report.file_report import NOT_CHECKED, NOT_JUDGED
from onnx_lint.report.totals import FileGroup
from onnx_lint.wording import counted

if TYPE_CHECKING:
    from onnx_lint.report.totals import Report, Totals
    from onnx_lint.spec.clauses import Severity

_MAX_GAPS: Final = 5
"""The most settings that the verdict names because they left something out."""


def verdict_in_words(report: Report) -> str:
    """Return the verdict on all files, on one line: `3 models: 2 conform to ONNX 1.23, 1 does not (4 errors)`.

    What limits the verdict follows, such as settings that leave out rules, and what went wrong.
    """
    totals = report.totals
    if report.not_linted and not totals.files:
        return interruption_in_words(report)
    parts = [_groups_in_words(report, totals), *_gaps_in_words(totals)]
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
        from onnx_lint.report.outcome import fixable_in_words, suppressed_in_words

        parts += [*suppressed_in_words(totals.suppressed), *filter(None, [fixable_in_words(totals.fixable)])]
    if report.stale:
        entries = f"{report.stale:,} {'entry' if report.stale == 1 else 'entries'}"
        parts.append(f"{entries} of the baseline no longer found")
    if report.not_linted:
        parts.append(interruption_in_words(report))
    return "; ".join(parts)


def verdict_lines(report: Report, *, explained: bool = False) -> Iterator[str]:
    """Yield the verdict on all files and what follows it, each as a line of plain text.

    `explained`: whether the line of a program says why its answer is unknown for a single file.
    """
    from onnx_lint.report.remarks import remarks_on_run

    yield verdict_in_words(report)
    for label, what in remarks_on_run(report, explained=explained):
        yield f"{label}: {what}"


# --- the files by their groups


_ORDER: Final = (
    FileGroup.CONFORMING,
    FileGroup.VIOLATING,
    FileGroup.NOTHING_NEW_VIOLATING,
    FileGroup.NOTHING_NEW,
    FileGroup.UNDECIDED,
    NOT_JUDGED,
    NOT_CHECKED,
)
"""The order in which a sentence lists the groups."""


def _groups_in_words(report: Report, totals: Totals) -> str:
    """Return the number of files in each group, and of their findings."""
    groups = _judged_groups(report, totals)
    standard = _standard_in_words(report, totals)
    files = counted(totals.files, totals.noun)
    if len(groups) == 1:
        (group,) = groups
        return _all_files_in_words(group, files, totals, standard)
    phrases = [
        f"{groups[group]:,} {_group_in_words(group, groups, totals, standard)}" for group in _ORDER if group in groups
    ]
    return f"{files}: {', '.join(phrases) or 'none checked'}"


class _Verbs(Record):
    """Verbs in the singular or plural."""

    conform: str
    do: str
    have: str


def _verbs(count: int) -> _Verbs:
    return _Verbs("conforms", "does", "has") if count == 1 else _Verbs("conform", "do", "have")


def _all_files_in_words(group: str, files: str, totals: Totals, standard: str) -> str:
    """Return the words for files that are all of one group: `2 models conform to ONNX 1.23`."""
    verbs = _verbs(totals.files)
    found = _findings(totals, group, totals.files)
    match group:
        case FileGroup.CONFORMING:
            return f"{files} {verbs.conform} to {standard}{f'; {found}' if found else ''}"
        case FileGroup.VIOLATING:
            return f"{files} {verbs.do} not conform to {standard}{f': {found}' if found else ''}"
        case FileGroup.NOTHING_NEW_VIOLATING:
            more = f"; {found}" if found else ""
            return f"{files} {verbs.have} no new findings but {verbs.do} not conform to {standard}{more}"
        case FileGroup.NOTHING_NEW:
            return f"{files}: no new findings"
        case FileGroup.UNDECIDED:
            return f"{files}: {found or 'no findings'}"
    # Not judged, or not checked.
    return f"{files}: {group if totals.files == 1 else group.replace('not ', 'none ')}"


def _group_in_words(group: str, groups: Mapping[str, int], totals: Totals, standard: str) -> str:
    """Return the words for a group beside others, after its number of files: `conform to ONNX 1.23 (1 warning)`."""
    count = groups[group]
    verbs = _verbs(count)
    found = _findings(totals, group, count)
    match group:
        case FileGroup.CONFORMING:
            phrase = f"{verbs.conform} to {standard}"
        case FileGroup.VIOLATING:
            # After the conforming files: `2 conform to ONNX 1.23, 1 does not`.
            verb = "" if FileGroup.CONFORMING in groups else f" conform to {standard}"
            phrase = f"{verbs.do} not{verb}"
        case FileGroup.NOTHING_NEW_VIOLATING:
            from onnx_lint.report.remarks import paths_in_words

            found = paths_in_words(totals.violating_paths, count)
            phrase = f"{verbs.have} no new findings but {verbs.do} not conform"
        case FileGroup.NOTHING_NEW:
            phrase = f"{verbs.have} no new findings"
        case FileGroup.UNDECIDED:
            phrase = f"{verbs.have} no verdict"
        case _:
            phrase = group  # not judged or not checked
    return f"{phrase} ({found})" if found else phrase


def _judged_groups(report: Report, totals: Totals) -> dict[str, int]:
    """Return the number of files by group. In a run without rules, no file counts as conforming."""
    groups = dict(totals.files_by_group)
    if not report.rules and totals.conforming_by_rules_of_run:
        groups[FileGroup.CONFORMING] -= totals.conforming_by_rules_of_run
        groups[NOT_JUDGED] = groups.get(NOT_JUDGED, 0) + totals.conforming_by_rules_of_run
    return {group: count for group, count in groups.items() if count}


def _findings(totals: Totals, group: str, count: int) -> str:
    """Return the numbers of findings in the `count` files of a group, and in how many of these, if not in all."""
    counts: dict[tuple[str | None, Severity], int] = {}
    for (other, plugin, severity), found in totals.findings_by_group.items():
        if other == group:
            counts[plugin, severity] = found
    if not counts:
        return ""
    from onnx_lint.report.outcome import findings_in_words

    files = totals.files_with_findings_by_group[group]
    # "hygiene: 1 warning in 2 of them" would count the files of other findings.
    is_of_one_kind = len({plugin for plugin, _ in counts}) == 1
    return findings_in_words(counts) + (f" in {files:,} of them" if files < count and is_of_one_kind else "")


def _standard_in_words(report: Report, totals: Totals) -> str:
    """Return the standard that the files were checked against: `the configured ONNX edition (1.16 or 1.23)`."""
    names = sorted({report.standard(*each) for each in totals.standards})
    if len(names) < 2:
        return names[0] if names else "ONNX"
    return f"the configured ONNX edition ({' or '.join(name.removeprefix('ONNX ') for name in names)})"


def _gaps_in_words(totals: Totals) -> Iterator[str]:
    """Yield what the settings left out, with the number of files if it was not left out in all judged ones."""
    judged = totals.files - totals.unreadable - totals.not_judged
    noun = totals.noun if judged == totals.files else f"judged {totals.noun}"
    by_files = sorted(totals.files_by_gap.items(), key=lambda each: -each[1])
    for gap, count in by_files[:_MAX_GAPS]:
        yield gap if count >= judged else f"{gap} in {count:,} of {counted(judged, noun)}"
    if len(totals.files_by_gap) > _MAX_GAPS:
        yield f"other settings left out {len(totals.files_by_gap) - _MAX_GAPS:,} more"


def interruption_in_words(report: Report) -> str:
    """Return the state of an interrupted run: `interrupted: 12 of 1,196 files were linted`."""
    done = report.totals.files
    were = "was" if done == 1 else "were"
    return f"interrupted: {done:,} of {counted(done + len(report.not_linted), 'file')} {were} linted"
