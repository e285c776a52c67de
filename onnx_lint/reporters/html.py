# SPDX-License-Identifier: Apache-2.0
"""One page for a browser: a summary of the run, and its findings with a filter and search.

The page needs no network, server or second file, and can be read without scripts. Its Content-Security-Policy allows
only its own script and its style, by their hashes; names from models are text, never markup.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Final, TextIO

from onnx_lint.common import package_data
from onnx_lint.common.digest import sha256
from onnx_lint.common.record import Record
from onnx_lint.engine.registry import registry
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.outcome import outcome_of
from onnx_lint.report.totals import Report
from onnx_lint.report.verdict import verdict_in_words, verdict_lines
from onnx_lint.reporters import Options
from onnx_lint.reporters.documentation import clauses_markdown, headed
from onnx_lint.reporters.escape import shown_path
from onnx_lint.reporters.html_findings import (
    PageEntry,
    common_folder,
    entries_of,
    escaped_text,
    filter_form,
    filter_link,
    findings_of,
    grouped_by_file,
    render_entries,
    rules_of,
    take_within,
)
from onnx_lint.reporters.statistics import statistics, statistics_tables
from onnx_lint.reporters.wording import file_description, labelled_remarks, weakenings_in_words, worst_finding
from onnx_lint.version import __version__
from onnx_lint.wording import counted

MAX_FINDINGS: Final = 2_000
"""The most findings on the page. The others, the least severe, are only counted, so that browsers stay fast."""

MAX_FILES: Final = 1_000
"""The most entries in the list of files. Files with nothing to say are left out first."""

MAX_MARKUP: Final = 3_500_000
"""The most bytes of findings with their pictures. With all else the page stays below 5 MB."""

MAX_MARKUP_OF_FILES: Final = 500_000
"""The most bytes of the list of files."""

_HEAD: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="onnx-lint {version}">
<title>onnx-lint: {title}</title>
<style>{style}</style>
</head>
<body>
"""
_TAIL: Final = """<script>{script}</script>
</body>
</html>
"""


class _PageFile(Record):
    """What the page says of a file."""

    path: str
    rank: tuple[int, bool]
    """The key that sorts the files with the most severe findings first, then those that failed, then the others."""
    lines: tuple[str, ...]


class Writer:
    """Keeps the worst findings and a few lines about the worst files, and writes the page."""

    def __init__(self, head: Report, stream: TextIO, options: Options, _count: int) -> None:
        self._stream = stream
        self._head = head
        self._options = options
        self._found: list[PageEntry] = []
        self._files: list[_PageFile] = []

    def file(self, file: FileReport) -> None:
        """Keep what the page says of the file."""
        lines = (_state(file, self._head), *(f"{label}: {what}" for label, what in labelled_remarks(file)))
        self._files.append(_PageFile(file.path, _rank(file), lines))
        if len(self._files) > 2 * MAX_FILES:
            self._files = self._worst_files()
        self._found += entries_of(file)
        if len(self._found) > 2 * MAX_FINDINGS:
            self._found = self._worst_findings()

    def end(self, report: Report) -> None:
        """Write the page."""
        style, script = _asset("page.css"), _asset("page.js")
        policy = (
            f"default-src 'none'; style-src {_csp_hash(style)}; script-src {_csp_hash(script)}; base-uri 'none'; "
            "form-action 'none'"
        )
        title = escaped_text(verdict_in_words(report))
        self._stream.write(_HEAD.format(policy=policy, version=__version__, title=title, style=style))
        self._stream.writelines(f"{part}\n" for part in self._body(report))
        self._stream.write(_TAIL.format(script=script))

    def _worst_files(self) -> list[_PageFile]:
        return sorted(self._files, key=lambda file: file.rank)[:MAX_FILES]

    def _worst_findings(self) -> list[PageEntry]:
        return sorted(self._found, key=lambda entry: -entry.item.severity)[:MAX_FINDINGS]

    def _body(self, report: Report) -> Iterator[str]:
        files = self._worst_files()
        entries = grouped_by_file(render_entries(self._worst_findings(), MAX_MARKUP))
        verdict, *remarks = map(escaped_text, verdict_lines(report))
        yield f"<header><h1>onnx-lint</h1><p>{verdict}</p>"
        if remarks:
            yield f"<p>{'<br>'.join(remarks)}</p>"
        standard = report.standard()
        yield f'<p class="faint">Checked against {escaped_text(standard)} by onnx-lint {__version__}.'
        folder = common_folder([shown_path(file.path) for file in files])
        if folder:
            yield f" All paths are below <code>{escaped_text(folder)}</code>."
        if self._options.origin:
            yield f"<br>{escaped_text(self._options.origin)}"
        yield "</p>"
        for what in weakenings_in_words(report.weakened):
            yield f'<p class="warning">{escaped_text(what)}</p>'
        yield "</header><main>"
        yield filter_form(report, entries)
        if len(report.totals.findings.by_rule) > 1:
            yield _rule_table(report)
        if self._options.statistics:
            yield from _statistics(report)
        if entries:
            yield from findings_of(report, entries, folder)
        yield from _file_section(report, files, folder, is_open=len(files) == 1 or not entries)
        yield from _documentation_of_rules(rules_of(entries))
        yield "</main>"


def _rule_table(report: Report) -> str:
    """Return a table of the rules with findings, each a link that filters the page by it."""
    found: dict[str, list[str]] = {}
    for rule, level, count in statistics(report):
        found.setdefault(rule, []).append(f'<span class="{level.label}">{counted(count, level.label)}</span>')
    rows = "".join(
        f'<tr data-about="{escaped_text(rule)}"><th scope="row">{filter_link("rule", rule)}</th>'
        f"<td>{', '.join(counts)}</td></tr>"
        for rule, counts in found.items()
    )
    return f"<section><h2>Rules</h2><table>{rows}</table></section>"


def _statistics(report: Report) -> Iterator[str]:
    """Yield the tables of operators, rules and producers. The filter hides rows of the rules without findings."""
    tables = list(statistics_tables(report))
    if not tables:
        return
    yield "<section><h2>Statistics</h2>"
    for table in tables:
        cells = "".join(f'<th scope="col">{head}</th>' for head in table.heads)
        yield f'<div class="table"><table class="numbers"><tr>{cells}</tr>'
        for row in table.rows:
            about = f' data-about="{escaped_text(row[-1])}"' if table.is_by_rule else ""
            yield f"<tr{about}>{''.join(f'<td>{escaped_text(cell)}</td>' for cell in row)}</tr>"
        yield "</table></div>"
    yield "</section>"


def _file_section(report: Report, files: Sequence[_PageFile], folder: str, *, is_open: bool) -> Iterator[str]:
    """Yield the section with the state of each file."""
    count = report.totals.files
    yield f'<section><details id="files"{" open" if is_open else ""}>'
    yield f"<summary><h2>Files ({count:,})</h2></summary><ul>"
    rows = take_within((_file_row(file, folder) for file in files), MAX_MARKUP_OF_FILES)
    yield from rows
    yield "</ul>"
    if left_out := count - len(rows):
        yield f"<p>{counted(left_out, 'more file')} left out; the JSON report has all.</p>"
    yield "</details></section>"


def _file_row(file: _PageFile, folder: str) -> str:
    lines = "<br>".join(f"<span>{escaped_text(line)}</span>" for line in file.lines)
    name = escaped_text(shown_path(file.path).removeprefix(folder))
    return f'<li data-file="{name}"><code>{name}</code> {lines}</li>'


def _asset(name: str) -> str:
    return package_data.read("onnx_lint.reporters", f"page/{name}").decode()


def _csp_hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def _rank(file: FileReport) -> tuple[int, bool]:
    """Return the key that sorts the files with the most severe findings first, then those that failed."""
    worst = worst_finding(file)
    has_failed = bool(file.internal_errors) or file.failure is not None
    return 0 if worst is None else -worst, not has_failed


def _state(file: FileReport, report: Report) -> str:
    if file.failure is not None:
        return f"{file.failure.state}: {file.failure.reason}"
    return "; ".join(part for part in (outcome_of(file, report).words, file_description(file)) if part)


# --- the rules


def _documentation_of_rules(names: Sequence[str]) -> Iterator[str]:
    """Yield the section with the documentation of rules; nothing without rules."""
    if not names:
        return
    yield "<section><h2>What the rules require</h2>"
    for name in names:
        shown = escaped_text(name)
        yield f'<article class="rule" id="rule-{shown}" data-about="{shown}"><h3>{shown}</h3>'
        yield f"{_documentation(name)}</article>"
    yield "</section>"


def _documentation(name: str) -> str:
    entry = registry().get(name)
    if entry is None:
        return ""
    from markdown_it import MarkdownIt  # a dependency of rich

    text = f"\n{headed(entry.documentation)}\n\n### Clauses\n\n{clauses_markdown(entry)}".replace("\n### ", "\n#### ")
    # No HTML in the documentation stays HTML, and no bare address becomes a link.
    return str(MarkdownIt("commonmark", {"html": False}).render(text))
