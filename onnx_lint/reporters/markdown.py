# SPDX-License-Identifier: Apache-2.0
"""Markdown for the summary of a CI step, or for a comment: a section for each file, with a table of its findings.

The table shows at most MAX_SHOWN_PER_RULE findings of one rule and clause.

GitHub rejects a step summary of more than 1 MiB as a whole, so sections beyond that are left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, TextIO

from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.outcome import outcome_of
from onnx_lint.report.remarks import remarks_on_run
from onnx_lint.report.totals import Report
from onnx_lint.report.verdict import verdict_in_words
from onnx_lint.reporters import Options
from onnx_lint.reporters.escape import shortened, shown_path, visible
from onnx_lint.reporters.markdown_text import MAX_CELL_CHARACTERS, inert
from onnx_lint.reporters.statistics import statistics
from onnx_lint.reporters.wording import (
    MAX_SHOWN_PER_RULE,
    file_description,
    grouped_findings,
    is_unremarkable,
    labelled_guidance,
    labelled_places,
    labelled_remarks,
    more_like_it,
    position_in_words,
    weakenings_in_words,
)
from onnx_lint.spec.clauses import Severity
from onnx_lint.wording import counted

MAX_BYTES: Final = 1024 * 1024 - 16 * 1024
"""The most bytes to write. The rest of 1 MiB is for the closing line, and for other summaries of the same step."""


class Writer:
    """Keeps the files that need a section, and writes the sections."""

    def __init__(self, head: Report, stream: TextIO, options: Options, count: int) -> None:
        self._stream = stream
        self._head = head
        self._options = options
        self._shows_all = count <= 1 or options.verbose
        self._files: list[FileReport] = []

    def file(self, file: FileReport) -> None:
        """Keep the file if there is something to say."""
        if self._shows_all or not is_unremarkable(file, self._head):
            self._files.append(file)

    def end(self, report: Report) -> None:
        """Write whole sections while there is room."""
        left = MAX_BYTES
        left_out = 0
        for section in _sections(report, self._files, self._options):
            size = len(section.encode())
            if size <= left and not left_out:
                self._stream.write(section)
                left -= size
            else:
                left_out += 1
        if left_out:
            self._stream.write(f"\n*{counted(left_out, 'more section')} left out: a step summary may have 1 MiB.*\n")


def _sections(report: Report, files: Sequence[FileReport], options: Options) -> Iterator[str]:
    is_alone = report.totals.files <= 1
    if not (options.quiet and is_alone):
        yield f"## onnx-lint: {inert(verdict_in_words(report))}\n"
        if not is_alone and (remarks := [*remarks_on_run(report, quiet=options.quiet)]):
            yield "".join(("\n", *(_remark(label, what) for label, what in remarks)))
    for what in weakenings_in_words(report.weakened, quiet=options.quiet):
        yield f"\n*{inert(what)}*\n"
    if options.statistics:
        yield _statistics(report)
    yield from _findings(report, files, options)


def _findings(report: Report, files: Sequence[FileReport], options: Options) -> Iterator[str]:
    """Yield the sections of the files, the most severe first across all files, since there may not be room for all.

    Files without a verdict come even before errors.
    """
    last: int | None = None
    headed: set[int] = set()
    for index, file in enumerate(files):
        if file.failure is not None or file.internal_errors:
            yield _heading(file, report)
            headed.add(index)
            last = index
    for level in reversed(Severity):
        for index, file in enumerate(files):
            rows = list(_rows(file, level))
            if not rows:
                continue
            if last != index:
                yield f"\n### {inert(shown_path(file.path))}\n" if index in headed else _heading(file, report)
            headed.add(index)
            last = index
            yield from rows
    for index, file in enumerate(files):
        if index not in headed and not options.quiet:
            yield _heading(file, report)


def _statistics(report: Report) -> str:
    rows = [f"| {count:,} | {severity.label} | {_code(rule)} |\n" for rule, severity, count in statistics(report)]
    return "".join(("\n| Findings | Severity | Rule |\n| ---: | --- | --- |\n", *rows)) if rows else ""


def _heading(file: FileReport, report: Report) -> str:
    remarks = (_remark(label, what) for label, what in labelled_remarks(file))
    return "".join((f"\n### {inert(shown_path(file.path))}\n\n{_state(file, report)}\n", *remarks))


def _remark(label: str, what: str) -> str:
    return f"- **{inert(label)}**: {inert(what)}\n"


def _rows(file: FileReport, level: Severity) -> Iterator[str]:
    """Yield the findings of one severity as rows of a table, grouped by rule and clause."""
    for index, group in enumerate(grouped_findings(item for item in file.diagnostics if item.severity is level)):
        heading = "\n| Severity | Rule | Finding |\n| --- | --- | --- |\n" if index == 0 else ""
        yield heading + "".join(_row(item) for item in group[:MAX_SHOWN_PER_RULE]) + _more(group)


def _state(file: FileReport, report: Report) -> str:
    if file.failure is not None:
        title, reason = file.failure.state, file.failure.reason
        return f"**{title.capitalize()}**: {inert(reason)}"
    what = file_description(file)
    facts = f"; {inert(what)}" if what else ""
    outcome = outcome_of(file, report).words
    return f"{outcome[0].upper()}{outcome[1:]}{facts}"


def _row(item: Diagnostic) -> str:
    where = position_in_words(item)
    place = f"{_code(item.place)} ({where})" if where else _code(item.place)
    labelled = (
        f"**{inert(label)}**: {inert(what)}" for label, what in (*labelled_places(item), *labelled_guidance(item))
    )
    lines = "<br>".join((inert(item.message), place, *labelled, inert(f"{item.clause} {item.keyword} ({item.anchor})")))
    return f"| {item.severity.label} | {_code(item.rule)} | {lines} |\n"


def _more(group: list[Diagnostic]) -> str:
    if len(group) <= MAX_SHOWN_PER_RULE:
        return ""
    first = group[0]
    more = more_like_it(len(group) - MAX_SHOWN_PER_RULE)
    return f"| {first.severity.label} | {_code(first.rule)} | {more} |\n"


def _code(text: str) -> str:
    """Return a code span; text with a backtick or the bar of a table is escaped instead."""
    shown = shortened(visible(text), MAX_CELL_CHARACTERS)
    return inert(text) if re.search("[`|]", shown) else f"`{shown}`"
