# SPDX-License-Identifier: Apache-2.0
"""The report for people: what is wrong, where, which clause says so, and how to learn more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TextIO

from onnx_lint.record import replace
from onnx_lint.report import Diagnostic, FileReport, Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.escape import shown_path, visible
from onnx_lint.reporters.links import documentation_url
from onnx_lint.reporters.paint import Line, link, painter, plain
from onnx_lint.reporters.statistics import statistics_lines
from onnx_lint.reporters.wording import (
    bytes_of,
    counted,
    counted_of,
    is_ignored,
    not_verified_of,
    praise_of,
    state_of,
    total_of,
    weakened_of,
    what_of,
)
from onnx_lint.spec.clauses import Severity

SHOWN_PER_RULE: Final = 3
"""Further findings of one rule and clause in one file are counted, not shown."""

_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
_FRAME: Final = "bold blue"


def write(report: Report, stream: TextIO, options: Options) -> None:
    """Write the findings of each file, folded, a line that sums each file up, and one for all files."""
    write_line = painter(stream, color=options.color, width=options.width)
    begun = False
    for file in report.files:
        blocks = list(_findings(file, options))
        if options.show_suppressed:
            blocks += _findings(replace(file, diagnostics=file.suppressed), options, mark=" (suppressed)")
        if not options.quiet:
            blocks.append([_summary(file, report), *_remarks(file)])
        for index, block in enumerate(blocks):
            # Clean files stand one below the other; whatever is longer than a line gets room.
            if begun and (index > 0 or len(blocks) > 1):
                write_line(plain(""))
            for line in block:
                write_line(line)
            begun = True
    if (len(report.files) > 1 or report.stale) and not options.quiet:
        write_line(plain(""))
        write_line(((total_of(report), "bold"),))
    if options.statistics and report.diagnostics:
        write_line(plain(""))
        for row in statistics_lines(report):
            write_line(plain(row))
    if report.weakened and not options.quiet:
        write_line(plain(""))
        for what in weakened_of(report):
            write_line(((what, "bold yellow"),))


def _findings(file: FileReport, options: Options, mark: str = "") -> Iterator[list[Line]]:
    """A block of lines for each finding that is shown, those of one rule and clause together."""
    groups: dict[tuple[str, str, Severity], list[Diagnostic]] = {}
    for diagnostic in file.diagnostics:
        groups.setdefault((diagnostic.rule, diagnostic.clause, diagnostic.severity), []).append(diagnostic)
    explained: set[str] = set()
    for group in groups.values():
        shown = group[:SHOWN_PER_RULE]
        for index, diagnostic in enumerate(shown):
            block = [*_headline(diagnostic, file, options, mark)]
            if index == 0:
                block.append(_detail("clause", _clause(diagnostic)))
            if diagnostic.allowed and (index == 0 or diagnostic.allowed != shown[index - 1].allowed):
                block.append(_detail("allowed", visible(diagnostic.allowed)))
            if diagnostic.rule not in explained:
                block.append(_detail("help", _help(diagnostic.rule, options)))
                explained.add(diagnostic.rule)
            if index == SHOWN_PER_RULE - 1 and len(group) > SHOWN_PER_RULE:
                block.append(_folded(len(group) - SHOWN_PER_RULE))
            yield block


def _headline(diagnostic: Diagnostic, file: FileReport, options: Options, mark: str) -> Iterator[Line]:
    style = _STYLES[diagnostic.severity]
    rule = visible(diagnostic.rule)
    url = documentation_url(diagnostic.rule, options.documentation) if options.links else None
    yield (
        (f"{diagnostic.severity.label}[{link(rule, url) if url is not None else rule}]{mark}", style),
        (f": {visible(diagnostic.message)}", "bold"),
    )
    yield (
        ("  --> ", _FRAME),
        (f"{shown_path(file.path)}: {visible(diagnostic.place)}{_bytes(diagnostic.byte_range)}", ""),
    )
    for related in diagnostic.related:
        where = f"{visible(related.place)}{_bytes(related.byte_range)}"
        yield (("  ::: ", _FRAME), (f"{where}: {visible(related.message)}", ""))


def _help(rule: str, options: Options) -> str:
    """How to learn more: by a command that always works, and where there can be no link, by the address."""
    command = f"onnx-lint explain {visible(rule)}"
    url = documentation_url(rule, options.documentation) if options.documentation and not options.links else None
    return command if url is None else f"{command}, {url}"


def _bytes(byte_range: tuple[int, int] | None) -> str:
    return f" ({bytes_of(byte_range)})" if byte_range is not None else ""


def _clause(diagnostic: Diagnostic) -> str:
    said = f"{diagnostic.clause} {diagnostic.keyword} ({diagnostic.anchor}): {diagnostic.clause_summary}"
    return visible(said)


def _detail(label: str, text: str) -> Line:
    return (("   = ", _FRAME), (f"{label}:", "bold"), (f" {text}", ""))


def _folded(count: int) -> Line:
    return (("   = ", _FRAME), (f"{count:,} more like it", "bold"), (" (--format concise shows all)", ""))


def _summary(file: FileReport, report: Report) -> Line:
    path = (f"{shown_path(file.path)}: ", "bold")
    if file.unreadable is not None:
        # The reason goes to standard error.
        return (path, ("not checked", "bold red"))
    what = what_of(file)
    facts = f"; {what}" if what else ""
    if file.internal_errors:
        crashed = f"; not judged in full: {counted(len(file.internal_errors), 'internal error')}"
        return (path, (state_of(file), ""), (crashed, "bold red"), (facts, ""))
    if file.diagnostics:
        return (path, (state_of(file), _STYLES[_worst(file.diagnostics)]), (facts, ""))
    if file.not_judged is not None:
        return (path, ("not judged", "bold red"), (f": {visible(file.not_judged)}", ""))
    if file.suppressed:
        return (path, (state_of(file), ""), (facts, ""))
    if is_ignored(file, report):
        return (path, ("not judged", "bold yellow"), (f": every rule is ignored{facts}", ""))
    return (path, ("conforms", "bold green"), (f" {praise_of(file, report)}{facts}", ""))


def _remarks(file: FileReport) -> Iterator[Line]:
    """What the verdict leaves open, and what is only counted."""
    for what in not_verified_of(file):
        yield _detail("not verified", what)
    if file.counted:
        yield _detail("counted", counted_of(file))


def _worst(diagnostics: Sequence[Diagnostic]) -> Severity:
    return max(diagnostic.severity for diagnostic in diagnostics)
