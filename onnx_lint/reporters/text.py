# SPDX-License-Identifier: Apache-2.0
"""The report for people: what is wrong, where, the clause, and how to learn more."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import TYPE_CHECKING, Final, TextIO

from onnx_lint.common.record import replace
from onnx_lint.engine.plugins import files_in_use
from onnx_lint.engine.registry import registry
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.finding_counts import fixable_in_words, fixes_of
from onnx_lint.report.outcome import findings_line, outcome_of
from onnx_lint.report.totals import Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.escape import shown_path, visible
from onnx_lint.reporters.paint import Line, painter, plain
from onnx_lint.reporters.wording import (
    MAX_SHOWN_PER_RULE,
    allowed_unless_said,
    bytes_in_words,
    file_description,
    fix_in_words,
    grouped_findings,
    is_unremarkable,
    labelled_remarks,
    mark_under,
    more_like_it,
    more_places_in_words,
    path_at,
    reworded_related,
    weakenings_in_words,
    worst_finding,
    worst_first,
)
from onnx_lint.spec.clauses import Severity

if TYPE_CHECKING:
    from onnx_lint.report.findings import ContextLine, Diagnostic, RelatedPlace

_WIDTH_OFF_TERMINAL: Final = 120
_LEAST_ROOM: Final = 40
"""The least width for a line of the model, even in a very narrow terminal."""
_LEAST_MARGIN: Final = 4

_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
_OUTCOME_STYLES: Final = {"conforms": "bold green", "not judged": "bold yellow", "findings": ""}
_FRAME: Final = "bold blue"


class Writer:
    """Writes the findings of each file, folded and the most severe first, then a line that summarizes the file.

    Of several files, those without findings or remarks have no line. A line at the end counts all files.
    The arguments are those of `onnx_lint.reporters.FileWriter`.
    """

    def __init__(self, head: Report, stream: TextIO, options: Options, count: int) -> None:
        self._head = head
        self._options = options
        self._is_alone = count <= 1
        self._write_line = painter(stream, color=options.color, width=options.width)
        self._begun = False

    def file(self, file: FileReport) -> None:
        """Write the report on the file."""
        blocks = list(_findings(file, self._options))
        if self._options.show_suppressed:
            blocks += _findings(replace(file, diagnostics=file.suppressed), self._options, suffix=" (suppressed)")
        has_line = self._is_alone or self._options.verbose or not is_unremarkable(file, self._head)
        if has_line and not self._options.quiet:
            blocks.append([self._summary(file), *starmap(_detail, labelled_remarks(file))])
        for index, block in enumerate(blocks):
            # Consecutive lines about files have no blank line between them; longer blocks do.
            self._write(block, after_blank=index > 0 or len(blocks) > 1)

    def end(self, report: Report) -> None:
        """Write the line about all files, the statistics, and the settings that weaken the verdict."""
        is_needed = report.not_linted or (report.stale and not self._options.quiet)
        if not self._is_alone or is_needed:
            from onnx_lint.report.remarks import remarks_on_run
            from onnx_lint.report.verdict import verdict_in_words

            remarks = () if self._is_alone else remarks_on_run(report, quiet=self._options.quiet)
            style = "bold red" if report.not_linted else "bold"
            self._write([((verdict_in_words(report), style),), *starmap(_detail, remarks)])
        if self._options.statistics:
            from onnx_lint.reporters.statistics import statistics_lines

            if lines := [plain(row) for row in statistics_lines(report)]:
                self._write(lines)
        if weakened := list(weakenings_in_words(report.weakened, quiet=self._options.quiet)):
            self._write([((what, "bold yellow"),) for what in weakened])

    def _summary(self, file: FileReport) -> Line:
        return _summary(file, self._head, shows_reason=self._options.shows_reasons)

    def _write(self, block: list[Line], *, after_blank: bool = True) -> None:
        if self._begun and after_blank:
            self._write_line(plain(""))
        for line in block:
            self._write_line(line)
        self._begun = True


def _findings(file: FileReport, options: Options, suffix: str = "") -> Iterator[list[Line]]:
    """Yield a block of lines for each finding that is shown, grouped by rule and clause."""
    explained: set[str] = set()
    for group in grouped_findings(worst_first(file.diagnostics)):
        shown = group[:MAX_SHOWN_PER_RULE]
        for index, diagnostic in enumerate(shown):
            block = [_headline(diagnostic, suffix), *_places(diagnostic, file, options)]
            block += _details(diagnostic, shown[index - 1] if index else None, options)
            if diagnostic.rule not in explained:
                block.append(_detail("help", _help(diagnostic.rule, options)))
                explained.add(diagnostic.rule)
            if index == MAX_SHOWN_PER_RULE - 1 and len(group) > MAX_SHOWN_PER_RULE:
                block.append(_folded(len(group) - MAX_SHOWN_PER_RULE))
            yield block


def _details(diagnostic: Diagnostic, before: Diagnostic | None, options: Options) -> Iterator[Line]:
    """Yield the lines below a finding. What is the same for the finding before it in the group is not repeated."""
    allowed, fix = allowed_unless_said(diagnostic), diagnostic.first_with_fix.fix
    if before is None:
        yield _detail("clause", _clause(diagnostic))
    if allowed and (before is None or allowed != allowed_unless_said(before)):
        yield _detail("allowed", visible(allowed))
    if before is None or diagnostic.by_target.answers != before.by_target.answers:
        yield from (_detail(program, visible(said)) for program, said in diagnostic.by_target.answers)
    if fix is not None and (before is None or fix != before.first_with_fix.fix):
        yield _detail("fix", fix_in_words(fix, "onnx-lint fix" if options.has_command else "--fix"))
    if hint := diagnostic.hint_with_reason if options.verbose else diagnostic.hint:
        yield _detail("help", visible(hint))


def _headline(diagnostic: Diagnostic, suffix: str) -> Line:
    return (
        (f"{diagnostic.severity.label}[{visible(diagnostic.rule)}]{suffix}", _STYLES[diagnostic.severity]),
        (f": {visible(diagnostic.message)}", "bold"),
    )


def _places(diagnostic: Diagnostic, file: FileReport, options: Options) -> Iterator[Line]:
    """Yield the place of a finding, the lines of the model around it, and the related places."""
    yield (
        ("  --> ", _FRAME),
        (f"{path_at(file.path, diagnostic.position)}: {_place(diagnostic)}", ""),
    )
    yield from _context(diagnostic.context, options.width)
    for related in reworded_related(diagnostic):
        at = f"{path_at(file.path, related.position)}: " if related.position is not None else ""
        yield (("  ::: ", _FRAME), (f"{at}{_place(related)}: {visible(related.message)}", ""))
    if more := more_places_in_words(diagnostic):
        yield (("  ::: ", _FRAME), (more, ""))


def _context(lines: Sequence[ContextLine], width: int | None) -> Iterator[Line]:
    """Yield the lines of the model around a finding, cut to the width of the terminal."""
    if not lines:
        return
    from onnx_lint.surroundings.line_writer import cut_around

    margin = max([_LEAST_MARGIN, *(len(line.label) for line in lines)])
    room = max((width or _WIDTH_OFF_TERMINAL) - margin - len("   |  "), _LEAST_ROOM)
    for line in lines:
        shown = cut_around(line, room)
        yield ((f" {line.label:>{margin}} | ", _FRAME), (f" {shown.text}", ""))
        if mark := mark_under(shown):
            yield ((f" {'':>{margin}} | ", _FRAME), (" ", ""), (mark, _STYLES[Severity.ERROR]))


def _help(rule: str, options: Options) -> str:
    """Return how to learn more: the command `explain`, or without it the first sentence on how to fix the fault."""
    entry = None if options.has_command else registry().get(rule)
    said = entry.first_step if entry is not None else ""
    return visible(said) if said else f"onnx-lint explain {visible(rule)}{_plugin_option(rule)}"


def _plugin_option(rule: str) -> str:
    """Return the option that other commands need to find the rule of a plugin file; empty for other rules."""
    files = files_in_use()
    if not files:
        return ""
    entry = registry().get(rule)
    if entry is None or entry.module not in files:
        return ""
    path = entry.module
    with contextlib.suppress(ValueError):  # on another drive
        path = min(os.path.relpath(path), path, key=len)  # the shorter of the two
    return f" --plugin {visible(path)}"


def _place(item: Diagnostic | RelatedPlace) -> str:
    """Return the place, with its bytes if it has no line."""
    where = bytes_in_words(item.byte_range) if item.position is None else ""
    return f"{visible(item.place)} ({where})" if where else visible(item.place)


def _clause(diagnostic: Diagnostic) -> str:
    anchor = diagnostic.anchor or diagnostic.cited.declared_by
    said = f"{diagnostic.clause} {diagnostic.keyword} ({anchor}): {diagnostic.clause_summary}"
    return visible(said)


def _detail(label: str, text: str) -> Line:
    return (("   = ", _FRAME), (f"{label}:", "bold"), (f" {text}", ""))


def _folded(count: int) -> Line:
    return (("   = ", _FRAME), (more_like_it(count), "bold"), (" (--format concise shows all)", ""))


def _summary(file: FileReport, report: Report, *, shows_reason: bool) -> Line:
    """Return the line about a file. `shows_reason`: whether it says why the file was not checked."""
    path = (f"{shown_path(file.path)}: ", "bold")
    if file.unreadable is not None:
        reason = f": {visible(file.unreadable.removeprefix(f'{file.path}: '))}" if shows_reason else ""
        return (path, ("not checked", "bold red"), (reason, ""))
    facts = "".join(f"; {what}" for what in (fixable_in_words(fixes_of(file)), file_description(file)) if what)
    worst = worst_finding(file)
    if file.internal_errors or worst is not None:
        style = _STYLES[worst] if worst is not None and not file.internal_errors else "bold red"
        return (path, (findings_line(file, report), style), (facts, ""))
    if file.failure is not None:
        label, reason = file.failure.state, file.failure.reason
        return (path, (label, "bold red"), (f": {visible(reason)}", ""))
    outcome = outcome_of(file, report)
    return (path, (outcome.verdict, _OUTCOME_STYLES[outcome.kind]), (f"{outcome.details}{facts}", ""))
