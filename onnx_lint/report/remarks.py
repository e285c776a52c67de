# SPDX-License-Identifier: Apache-2.0
"""The lines after the verdict on all files of a run: the targets, what was not verified, and what is only counted.

Every format takes its sentences from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from onnx_lint.common.visible import shown_path, visible
from onnx_lint.report.finding_counts import counted_in_words
from onnx_lint.report.remark_totals import TargetTotals
from onnx_lint.report.totals import Report, Totals
from onnx_lint.wording import counted

MAX_UNVERIFIED: Final = 5
"""The most sentences about what was not verified."""

MAX_REASONS: Final = 3
"""The most reasons why it is not known whether a program loads files."""

NOT_VERIFIED: Final = "not verified"
"""The label of what was not verified."""

_FORMS: Final = {
    "load": ("loads", "refuses"),
    "accept": ("accepts", "refuses"),
    "support": ("supports", "does not support"),
}
"""The positive and the negative answer for each `TargetVerdict.verb`."""


def remarks_on_run(report: Report, *, quiet: bool = False, shows_reasons: bool = False) -> Iterator[tuple[str, str]]:
    """Yield what follows the verdict on all files: a label, and a text.

    The answer for each target, what was not verified, and what is only counted.
    `quiet`: only what limits the verdict. `shows_reasons`: see `answer_in_words`.
    """
    totals = report.totals
    targets = totals.remarks.targets if totals.remarks is not None else {}
    for program, target in targets.items():
        yield program, answer_in_words(target, totals, shows_reasons=shows_reasons)
    for what in not_verified_in_run(totals):
        yield NOT_VERIFIED, what
    if totals.counted and not quiet:
        yield "pedantic", counted_in_words(totals.counted.values())


def answer_in_words(target: TargetTotals, totals: Totals, *, shows_reasons: bool = False) -> str:
    """Return the answer of a program for all files: `loads 2, as far as its data say; refuses 1 (b.onnx)`.

    `shows_reasons`: whether the reasons follow for a single file whose answer is unknown. Reports that print them with
    the file do not need them here. For several files they always follow.
    """
    answers = []
    loads, refuses = _FORMS[target.verb]
    if count := target.answers[True]:
        answers.append(f"{loads} {count:,}{target.basis}")
    if count := target.answers[False]:
        answers.append(f"{refuses} {count:,} ({paths_in_words(target.refusing, count)})")
    if count := target.answers[None]:
        names = paths_in_words(target.unproven_paths, count)
        reasons = f": {_reasons(target)}" if totals.files > 1 or shows_reasons else ""
        answers.append(f"not proven to {target.verb} {count:,} ({names}){reasons}")
    if others := totals.files - target.answers.total():
        answers.append(f"{others:,} not judged")
    return visible("; ".join(answers) + target.suffix)


def _reasons(target: TargetTotals) -> str:
    """Return why the answer is unknown for some files, the most frequent reason first."""
    if len(target.unproven) == 1:
        return next(iter(target.unproven))
    reasons = [f"{reason} (in {count:,})" for reason, count in target.unproven.most_common(MAX_REASONS)]
    more = len(target.unproven) - len(reasons)
    return " / ".join([*reasons, counted(more, "more reason")] if more else reasons)


def paths_in_words(paths: Sequence[str], count: int) -> str:
    """Return the first paths, and how many more there are."""
    more = [f"{count - len(paths):,} more"] if count > len(paths) else []
    return ", ".join([*map(shown_path, paths), *more])


def not_verified_in_run(totals: Totals) -> Iterator[str]:
    """Yield what was not verified in the files, each with the number of files, or the path if it is one of several."""
    remarks = totals.remarks
    if remarks is None:
        return
    for each in list(remarks.unverified.values())[:MAX_UNVERIFIED]:
        where = shown_path(each.path) if each.files == 1 else f"{each.files:,} of {totals.files:,} {totals.noun}s"
        words = each.unverified.describe()
        yield f"{words} ({where})" if totals.files > 1 else words
    left = len(remarks.unverified) - MAX_UNVERIFIED
    if remarks.has_more_unverified:
        yield "more; --verbose lists them by file"
    elif left > 0:
        yield f"{left:,} more; --verbose lists {'it' if left == 1 else 'them'} by file"
