# SPDX-License-Identifier: Apache-2.0
"""The tables of a run: the operators that are used, the findings of each rule and of each producer of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from onnx_lint.report.totals import Report
from onnx_lint.reporters.escape import shortened, visible
from onnx_lint.spec.clauses import Severity


def statistics(report: Report) -> list[tuple[str, Severity, int]]:
    """Return rule, severity and count, the most frequent first."""
    rows = [(rule, severity, count) for (rule, severity), count in report.totals.findings.items()]
    return sorted(rows, key=lambda row: (-row[2], row[0], -row[1]))


def by_producer(report: Report) -> list[tuple[str, Counter[Severity | None]]]:
    """Return each producer with its version, and its counts: those with most errors first, then most models."""
    return sorted(report.totals.producers.items(), key=lambda row: (-row[1][Severity.ERROR], -row[1][None], row[0]))


def by_operator(report: Report) -> list[tuple[tuple[str, int | None, str], tuple[int, int]]]:
    """Return each operator with its domain and version, and the number of nodes and of models: the most nodes first."""
    return sorted(
        report.totals.operators.items(), key=lambda row: (-row[1][0], row[0][0], -(row[0][1] or 0), row[0][2])
    )


def statistics_lines(report: Report) -> Iterator[str]:
    """Yield tables with headings: of the operators, of the rules with findings, and of the producers, if any."""
    operators = (
        (
            f"{nodes:,}",
            f"{models:,}",
            f"{_shown(domain) or 'ai.onnx'} {'(not imported)' if version is None else version}",
            _shown(name),
        )
        for (domain, version, name), (nodes, models) in by_operator(report)
    )
    yield from _table(("nodes", "models", "operator set", "operator"), operators, left=2)
    files = report.totals.files_with
    rules = (
        (f"{count:,}", f"{files[rule, severity]:,}", severity.label, visible(rule))
        for rule, severity, count in statistics(report)
    )
    yield from _table(("findings", "files", "severity", "rule"), rules, left=2)
    producers = (
        (
            f"{counts[None]:,}",
            f"{counts.total() - counts[None]:,}",
            f"{counts[Severity.ERROR]:,}",
            _shown(name) or "(none)",
        )
        for name, counts in by_producer(report)
    )
    yield from _table(("models", "findings", "errors", "producer"), producers, left=1)


_MOST_OF_A_NAME: Final = 100


def _shown(name: str) -> str:
    return shortened(visible(name), _MOST_OF_A_NAME)


def _table(heads: tuple[str, ...], found: Iterable[tuple[str, ...]], left: int) -> Iterator[str]:
    """Yield the lines of a table, whose last `left` columns are aligned to the left; nothing if there are no rows."""
    rows = [heads, *found]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = ">" * (len(heads) - left) + "<" * left
    for row in rows if len(rows) > 1 else ():
        yield "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
