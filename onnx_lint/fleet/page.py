# SPDX-License-Identifier: Apache-2.0
"""The totals of scans as an HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TextIO

from onnx_lint import __version__
from onnx_lint.fleet.columns import LEVELS
from onnx_lint.fleet.summary import by_size, most_frequent, new_of, total_of
from onnx_lint.fleet.totals import Difference, Group, Totals
from onnx_lint.fleet.trend import Point, RuleCount, rules_in
from onnx_lint.reporters import html
from onnx_lint.reporters.html import chart, documentation_of, tiles_of
from onnx_lint.reporters.html_findings import prose_of, rule_link, text_of
from onnx_lint.reporters.wording import counted
from onnx_lint.spec.clauses import Severity

RELOAD_SECONDS: Final = 10
"""The seconds after which the page of a running scan reloads itself."""

_MAX_ROWS: Final = 200
_WIDTH: Final = 240
_HEIGHT: Final = 72
_DOT: Final = 3
"""The size of a curve, and the radius of its dots, in pixels."""


def write_page(
    totals: Totals, new: Difference | None, stream: TextIO, trend: Sequence[Point] = (), *, is_live: bool = False
) -> None:
    """Write the page. Like that of a run, it is one file that needs no network.

    `trend`: earlier scans, the oldest first, and this one. `is_live`: whether the page is written again while the scan
    runs; then a browser loads it again and again.
    """
    reload = RELOAD_SECONDS if is_live else None
    html.write_page(stream, total_of(totals), _body(totals, new, trend), reload=reload)


def _body(totals: Totals, new: Difference | None, trend: Sequence[Point]) -> Iterator[str]:
    yield f"<header><h1>onnx-lint</h1><p>{text_of(total_of(totals))}</p>"
    held = ", ".join(name for name, _ in by_size(totals.editions))
    yield f'<p class="faint">Checked against {text_of(held or "nothing")} by onnx-lint {__version__}.</p></header>'
    if totals.missing:
        done = totals.all.models
        yield f'<p class="warning">Incomplete: {counted(totals.missing, "model")} not linted yet.</p>'
        yield f'<p><progress value="{done}" max="{done + totals.missing}" aria-label="Models linted"></progress></p>'
    yield "<main>"
    yield tiles_of(
        [
            (counted(totals.all.models, "model"), "", ""),
            *([(f"{totals.crashed:,} with internal errors", "error", "")] if totals.crashed else []),
            *((counted(totals.all.findings[level], level), level, "") for level in LEVELS),
            (f"{totals.conforming:,} conform", "good", ""),
        ]
    )
    if len(trend) > 1:
        yield from _trend(trend)
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


def _trend(points: Sequence[Point]) -> Iterator[str]:
    """Yield the section with a curve for each number, and the numbers of all scans as tables."""
    yield '<section aria-labelledby="trend"><h2 id="trend">Trend</h2><div class="trend">'
    yield _curve("Conforming", "good", [100 * point.share for point in points], "{:.1f} %", most=100)
    for level in LEVELS:
        counts = [float(point.totals.all.findings[level]) for point in points]
        yield _curve(f"{level.capitalize()}s", level, counts, "{:,.0f}")
    yield _curve("Models", "", [float(point.totals.all.models) for point in points], "{:,.0f}")
    yield "</div>"
    head = ("Scan", "Models", "Conform", *(f"{level.capitalize()}s" for level in LEVELS), "New findings", "Gone")
    yield from _table(head, [(text_of(point.name), *_numbers_of(point)) for point in reversed(points)])
    yield "</section><section><h2>Findings of each rule in each scan</h2>"
    names = [text_of(point.name) for point in points]
    rows = [
        (rule_link(rule), *map(_cell_of, counts), f"{counts[-1].findings - counts[0].findings:+,}")
        for rule, counts in rules_in(points)
    ]
    yield '<p class="faint">After each number, the findings that are new and gone since the scan before.</p>'
    yield from _table(("Rule", *names, "Change"), rows)
    yield "</section>"


def _cell_of(count: RuleCount) -> str:
    since = [f"+{count.new:,}"] if count.new else []
    since += [f"\N{MINUS SIGN}{count.gone:,}"] if count.gone else []
    return f"{count.findings:,}" + (f' <span class="faint">{" ".join(since)}</span>' if since else "")


def _numbers_of(point: Point) -> Iterator[str]:
    yield f"{point.totals.all.models:,}"
    yield f"{100 * point.share:.1f} %"
    yield from (f"{point.totals.all.findings[level]:,}" for level in LEVELS)
    yield from (f"{point.new.findings.total():,}", f"{point.new.gone.total():,}") if point.new is not None else ("", "")


def _curve(title: str, level: str, values: Sequence[float], form: str, most: float = 0) -> str:
    """Return a curve from the first scan to the last, with the last value in words. It begins at zero."""
    top = most or max(values) or 1
    step = (_WIDTH - 2 * _DOT) / (len(values) - 1)
    dots = [
        (_DOT + number * step, _HEIGHT - _DOT - value / top * (_HEIGHT - 2 * _DOT))
        for number, value in enumerate(values)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots)
    marks = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_DOT}"><title>{form.format(value)}</title></circle>'
        for (x, y), value in zip(dots, values, strict=True)
    )
    said = f"{title}: from {form.format(values[0])} to {form.format(values[-1])} in {len(values)} scans"
    return (
        f'<figure class="{level}"><figcaption>{title} <b>{form.format(values[-1])}</b></figcaption>'
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{said}">'
        f'<line x1="0" x2="{_WIDTH}" y1="{_HEIGHT - _DOT}" y2="{_HEIGHT - _DOT}"/>'
        f'<polyline points="{line}"/>{marks}</svg></figure>'
    )


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
    yield f'<div class="scroller" tabindex="0" role="region" aria-label="{head[0]}s"><table class="totals">'
    yield f"<thead><tr>{names}</tr></thead><tbody>"
    for first, *others in rows[:_MAX_ROWS]:
        cells = "".join(f"<td>{cell}</td>" for cell in others)
        yield f'<tr><th scope="row">{first}</th>{cells}</tr>'
    yield "</tbody></table></div>"
    if len(rows) > _MAX_ROWS:
        yield f'<p class="faint">{len(rows) - _MAX_ROWS:,} more; the JSON form has all.</p>'


def _new(new: Difference) -> Iterator[str]:
    models = f"models: {new.new_models:,} new, {new.gone_models:,} removed"
    yield f"<section><h2>New</h2><p>{text_of(new_of(new))}; {counted(new.gone.total(), 'finding')} gone; {models}.</p>"
    yield '<ul class="findings">'
    for item in new.listed[:_MAX_ROWS]:
        where = f"{text_of(item['path'])}: <code>{text_of(item['place'])}</code>"
        yield f'<li><b class="{text_of(item["severity"])}">{text_of(item["severity"])}</b>'
        yield f' <span class="chip">{text_of(item["rule"])}</span> {prose_of(item["message"])}'
        yield f'<span class="where">{where}</span></li>'
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
