# SPDX-License-Identifier: Apache-2.0
"""The sentence with the verdict on all files of a run.

Every format takes its sentences from here. The verdict on several files has the same facts as that on one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record
from onnx_lint.report.verdict_totals import FileGroup
from onnx_lint.wording import counted

if TYPE_CHECKING:
    from onnx_lint.report.totals import Report, Totals

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
    verdicts, findings = totals.verdicts, totals.findings
    if verdicts.without_model and totals.files > 1:
        files = "file holds" if verdicts.without_model == 1 else "files hold"
        parts.append(f"{verdicts.without_model:,} {files} no readable model")
    if verdicts.incomplete:
        parts.append(f"{verdicts.incomplete:,} not verified in full")
    if findings.fixed:
        parts.append(f"{counted(findings.fixed, 'finding')} fixed")
    if totals.internal_errors:
        parts.append(f"not judged in full: {counted(totals.internal_errors, 'internal error')}")
    if findings.suppressed or findings.fixable:
        from onnx_lint.report.finding_counts import fixable_in_words, suppressed_in_words

        parts += [*suppressed_in_words(findings.suppressed), fixable_in_words(findings.fixable)]
    if report.stale:
        entries = f"{report.stale:,} {'entry' if report.stale == 1 else 'entries'}"
        parts.append(f"{entries} of the baseline no longer found")
    if report.not_linted:
        parts.append(interruption_in_words(report))
    return "; ".join(filter(None, parts))


def verdict_lines(report: Report, *, shows_reasons: bool = False) -> Iterator[str]:
    """Yield the verdict on all files and what follows it, each as a line of plain text.

    `shows_reasons`: whether the line of a program says why its answer is unknown for a single file.
    """
    from onnx_lint.report.remarks import remarks_on_run

    yield verdict_in_words(report)
    for label, what in remarks_on_run(report, shows_reasons=shows_reasons):
        yield f"{label}: {what}"


# --- the files by their groups


class _Phrase(Record):
    """A phrase about one file, and about several."""

    one: str
    several: str

    def about(self, files: int) -> str:
        """Return the phrase about a number of files."""
        return self.one if files == 1 else self.several


_OF_ALL_FILES: Final = {
    FileGroup.CONFORMING: _Phrase("{files} conforms to {standard}", "{files} conform to {standard}"),
    FileGroup.VIOLATING: _Phrase("{files} does not conform to {standard}", "{files} do not conform to {standard}"),
    FileGroup.NOTHING_NEW_VIOLATING: _Phrase(
        "{files} has no new findings but does not conform to {standard}",
        "{files} have no new findings but do not conform to {standard}",
    ),
    FileGroup.NOTHING_NEW: _Phrase("{files}: no new findings", "{files}: no new findings"),
    FileGroup.UNDECIDED: _Phrase("{files}", "{files}"),
    FileGroup.NOT_JUDGED: _Phrase("{files}: not judged", "{files}: none judged"),
    FileGroup.NOT_CHECKED: _Phrase("{files}: not checked", "{files}: none checked"),
}
"""The sentence if all files are in the group, without their findings."""

_OF_SOME_FILES: Final = {
    FileGroup.CONFORMING: _Phrase("conforms to {standard}", "conform to {standard}"),
    FileGroup.VIOLATING: _Phrase("does not conform to {standard}", "do not conform to {standard}"),
    FileGroup.NOTHING_NEW_VIOLATING: _Phrase(
        "has no new findings but does not conform", "have no new findings but do not conform"
    ),
    FileGroup.NOTHING_NEW: _Phrase("has no new findings", "have no new findings"),
    FileGroup.UNDECIDED: _Phrase("has no verdict", "have no verdict"),
    FileGroup.NOT_JUDGED: _Phrase("not judged", "not judged"),
    FileGroup.NOT_CHECKED: _Phrase("not checked", "not checked"),
}
"""What follows the number of files if there are other groups. A sentence lists the groups in this order."""

_AFTER_CONFORMING: Final = _Phrase("does not", "do not")
"""The phrase about violating files after the conforming ones: `2 conform to ONNX 1.23, 1 does not`."""


def _groups_in_words(report: Report, totals: Totals) -> str:
    """Return the number of files in each group, and of their findings."""
    groups = _files_by_group(report, totals)
    standard = _standard_in_words(report, totals)
    if len(groups) == 1:
        (group,) = groups
        return _all_files_in_words(group, totals, standard)
    phrases = [_some_files_in_words(group, groups, totals, standard) for group in _OF_SOME_FILES if group in groups]
    return f"{counted(totals.files, totals.noun)}: {', '.join(phrases) or 'none checked'}"


def _all_files_in_words(group: str, totals: Totals, standard: str) -> str:
    """Return the sentence about files that are all of one group: `2 models conform to ONNX 1.23; 1 warning`."""
    files = counted(totals.files, totals.noun)
    verdict = _OF_ALL_FILES[group].about(totals.files).format(files=files, standard=standard)
    findings = _findings_in_words(totals, group, totals.files)
    if group == FileGroup.UNDECIDED:
        findings = findings or "no findings"
    # After a colon, findings explain the verdict. They do not explain why files conform.
    mark = ";" if group == FileGroup.CONFORMING else ":"
    return f"{verdict}{mark} {findings}" if findings else verdict


def _some_files_in_words(group: str, groups: Mapping[str, int], totals: Totals, standard: str) -> str:
    """Return the words for a group beside others, with its number of files: `2 conform to ONNX 1.23 (1 warning)`."""
    count = groups[group]
    is_after_conforming = group == FileGroup.VIOLATING and FileGroup.CONFORMING in groups
    phrase = _AFTER_CONFORMING if is_after_conforming else _OF_SOME_FILES[group]
    verdict = f"{count:,} {phrase.about(count).format(standard=standard)}"
    details = _findings_in_words(totals, group, count)
    if group == FileGroup.NOTHING_NEW_VIOLATING:
        from onnx_lint.report.remarks import paths_in_words

        details = paths_in_words(totals.verdicts.violating_paths, count)
    return f"{verdict} ({details})" if details else verdict


def _files_by_group(report: Report, totals: Totals) -> dict[str, int]:
    """Return the number of files by group. In a run without rules, no file counts as conforming."""
    groups = {group: each.files for group, each in totals.verdicts.groups.items()}
    unjudged = totals.verdicts.conforming_by_rules_of_run
    if not report.rules and unjudged:
        groups[FileGroup.CONFORMING] -= unjudged
        groups[FileGroup.NOT_JUDGED] = groups.get(FileGroup.NOT_JUDGED, 0) + unjudged
    return {group: count for group, count in groups.items() if count}


def _findings_in_words(totals: Totals, group: str, count: int) -> str:
    """Return the numbers of findings in the `count` files of a group, and in how many of these, if not in all."""
    found = totals.verdicts.groups.get(group)
    if found is None or not found.findings:
        return ""
    from onnx_lint.report.finding_counts import findings_in_words

    # "hygiene: 1 warning in 2 of them" would count the files of other findings.
    is_of_one_kind = len({plugin for plugin, _ in found.findings}) == 1
    some = f" in {found.files_with_findings:,} of them" if found.files_with_findings < count and is_of_one_kind else ""
    return findings_in_words(found.findings) + some


def _standard_in_words(report: Report, totals: Totals) -> str:
    """Return the standard that the files were checked against: `the configured ONNX edition (1.16 or 1.23)`."""
    names = sorted({report.standard(*each) for each in totals.verdicts.standards})
    if len(names) < 2:
        return names[0] if names else "ONNX"
    return f"the configured ONNX edition ({' or '.join(name.removeprefix('ONNX ') for name in names)})"


def _gaps_in_words(totals: Totals) -> Iterator[str]:
    """Yield what the settings left out, with the number of files if it was not left out in all judged ones."""
    verdicts = totals.verdicts
    judged = totals.files - verdicts.unreadable - verdicts.not_judged
    noun = totals.noun if judged == totals.files else f"judged {totals.noun}"
    by_files = verdicts.files_by_gap.most_common()
    for gap, count in by_files[:_MAX_GAPS]:
        yield gap if count >= judged else f"{gap} in {count:,} of {counted(judged, noun)}"
    if len(by_files) > _MAX_GAPS:
        yield f"{counted(len(by_files) - _MAX_GAPS, 'more setting')} left something out"


def interruption_in_words(report: Report) -> str:
    """Return the state of an interrupted run: `interrupted: 12 of 1,196 files were linted`."""
    done = report.totals.files
    were = "was" if done == 1 else "were"
    return f"interrupted: {done:,} of {counted(done + len(report.not_linted), 'file')} {were} linted"
