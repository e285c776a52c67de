# SPDX-License-Identifier: Apache-2.0
"""The tables of a run: the operators that are used, the findings of each rule and of each producer of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.report.totals import Report
from onnx_lint.reporters.escape import shortened, visible
from onnx_lint.spec.clauses import Severity


def statistics(report: Report) -> list[tuple[str, Severity, int]]:
    """Return rule, severity and count, the most frequent first."""
    rows = [(rule, severity, count) for (rule, severity), count in report.totals.findings_by_rule.items()]
    return sorted(rows, key=lambda row: (-row[2], row[0], -row[1]))


def by_producer(report: Report) -> list[tuple[str, Counter[Severity | None]]]:
    """Return each producer with its version, and its counts: those with most errors first, then most models."""
    return sorted(report.totals.producers.items(), key=lambda row: (-row[1][Severity.ERROR], -row[1][None], row[0]))


def by_operator(report: Report) -> list[tuple[tuple[str, int | None, str], tuple[int, int]]]:
    """Return each operator with its domain and version, and the number of nodes and of models: the most nodes first."""
    return sorted(
        report.totals.operators.items(), key=lambda row: (-row[1][0], row[0][0], -(row[0][1] or 0), row[0][2])
    )


class Table(Record):
    """A table of a run."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    left: int
    """The number of last columns that are aligned to the left."""


def statistics_tables(report: Report) -> Iterator[Table]:
    """Yield the tables that have rows: of the operators, of the rules with findings, and of the producers."""
    operators = [
        (
            f"{nodes:,}",
            f"{models:,}",
            f"{_shown(domain) or 'ai.onnx'} {'(not imported)' if version is None else version}",
            _shown(name),
        )
        for (domain, version, name), (nodes, models) in by_operator(report)
    ]
    files = report.totals.files_by_rule
    rules = [
        (f"{count:,}", f"{files[rule, severity]:,}", severity.label, visible(rule))
        for rule, severity, count in statistics(report)
    ]
    producers = [
        (
            f"{counts[None]:,}",
            f"{counts.total() - counts[None]:,}",
            f"{counts[Severity.ERROR]:,}",
            _shown(name) or "(none)",
        )
        for name, counts in by_producer(report)
    ]
    tables = (
        Table(("nodes", "models", "operator set", "operator"), operators, 2),
        Table(("findings", "files", "severity", "rule"), rules, 2),
        Table(("models", "findings", "errors", "producer"), producers, 1),
    )
    yield from (table for table in tables if table.rows)


def statistics_lines(report: Report) -> Iterator[str]:
    """Yield the lines of the tables, with headings."""
    for table in statistics_tables(report):
        rows = [table.heads, *table.rows]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        sides = ">" * (len(table.heads) - table.left) + "<" * table.left
        for row in rows:
            yield "  ".join(
                f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)
            ).rstrip()


_MAX_OF_A_NAME: Final = 100


def _shown(name: str) -> str:
    return shortened(visible(name), _MAX_OF_A_NAME)
