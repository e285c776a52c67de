# SPDX-License-Identifier: Apache-2.0
"""The totals of scans as an HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TextIO

from onnx_lint import __version__
from onnx_lint.fleet.columns import LEVELS
from onnx_lint.fleet.summary import by_size, most_frequent, new_of, total_of
from onnx_lint.fleet.totals import Difference, Group, Totals
from onnx_lint.reporters import html
from onnx_lint.reporters.html import chart, documentation_of, tiles_of
from onnx_lint.reporters.html_findings import rule_link, text_of
from onnx_lint.reporters.wording import counted
from onnx_lint.spec.clauses import Severity

_MAX_ROWS: Final = 200


def write_page(totals: Totals, new: Difference | None, stream: TextIO) -> None:
    """Write the page. Like that of a run, it is one file that needs no network."""
    html.write_page(stream, total_of(totals), _body(totals, new))


def _body(totals: Totals, new: Difference | None) -> Iterator[str]:
    yield f"<header><h1>onnx-lint: {text_of(total_of(totals))}</h1>"
    held = ", ".join(name for name, _ in by_size(totals.editions))
    yield f'<p class="faint">Checked against {text_of(held or "nothing")} by onnx-lint {__version__}.</p></header>'
    if totals.missing:
        yield f'<p class="warning">Incomplete: {counted(totals.missing, "model")} not linted yet.</p>'
    yield "<main>"
    yield tiles_of(
        [
            (counted(totals.all.models, "model"), "", ""),
            *([(f"{totals.crashed:,} with internal errors", "error", "")] if totals.crashed else []),
            *((counted(totals.all.findings[level], level), level, "") for level in LEVELS),
            (f"{totals.conforming:,} conform", "good", ""),
        ]
    )
    if totals.rules:
        yield '<section class="charts" aria-label="Charts">'
        yield chart("Rules", "Rule", _rule_rows(totals.rules))
        producers = [(text_of(name or "(none)"), _levels(group)) for name, group in by_size(totals.producers)]
        yield chart("Producers", "Producer", sorted(filter(_has_any, producers), key=lambda row: -sum(row[1].values())))
        yield "</section>"
    if new is not None:
        yield from _new(new)
    for title, groups in (("Producers", totals.producers), ("Editions", totals.editions)):
        yield f"<section><h2>{title}</h2>"
        rows = [(text_of(name or "(none)"), *_numbers(group)) for name, group in by_size(groups)]
        yield from _table((title[:-1], "Models", "With errors", "Errors", "Warnings", "Notes"), rows)
        yield "</section>"
    yield from _without_verdict(totals)
    yield from documentation_of(sorted({rule for rule, _ in totals.rules}))
    yield "</main>"


def _rule_rows(rules: Mapping[tuple[str, str], int]) -> list[tuple[str, Mapping[Severity, int]]]:
    return [(rule_link(rule), {Severity.of(level): count}) for (rule, level), count in most_frequent(rules)]


def _levels(group: Group) -> Mapping[Severity, int]:
    return {Severity.of(level): group.findings[level] for level in LEVELS}


def _has_any(row: tuple[str, Mapping[Severity, int]]) -> bool:
    return any(row[1].values())


def _numbers(group: Group) -> Iterator[str]:
    yield f"{group.models:,}"
    yield f"{group.with_errors:,}"
    yield from (f"{group.findings[level]:,}" for level in LEVELS)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Return a table of markup."""
    names = "".join(f'<th scope="col">{name}</th>' for name in head)
    yield f'<table class="totals"><thead><tr>{names}</tr></thead><tbody>'
    for first, *others in rows[:_MAX_ROWS]:
        cells = "".join(f"<td>{cell}</td>" for cell in others)
        yield f'<tr><th scope="row">{first}</th>{cells}</tr>'
    yield "</tbody></table>"
    if len(rows) > _MAX_ROWS:
        yield f'<p class="faint">{len(rows) - _MAX_ROWS:,} more; the JSON form has all.</p>'


def _new(new: Difference) -> Iterator[str]:
    yield f"<section><h2>New</h2><p>{text_of(new_of(new))}; {counted(new.gone, 'finding')} gone.</p><ul>"
    for item in new.listed[:_MAX_ROWS]:
        where = f"{text_of(item['path'])}: <code>{text_of(item['place'])}</code>"
        yield f'<li><b class="{item["severity"]}">{item["severity"]}</b> {text_of(item["message"])} ({where})</li>'
    yield "</ul>"
    if new.findings.total() > _MAX_ROWS:
        yield f'<p class="faint">{new.findings.total() - _MAX_ROWS:,} more</p>'
    yield "</section>"


def _without_verdict(totals: Totals) -> Iterator[str]:
    count = totals.without_any
    if not count:
        return
    yield "<section><h2>Without a verdict</h2><ul>"
    for path, reason in totals.without_verdict[:_MAX_ROWS]:
        yield f"<li><code>{text_of(path)}</code>: {text_of(reason)}</li>"
    yield "</ul>"
    if count > _MAX_ROWS:
        yield f'<p class="faint">{count - _MAX_ROWS:,} more</p>'
    yield "</section>"
