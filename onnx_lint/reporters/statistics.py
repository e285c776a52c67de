# SPDX-License-Identifier: Apache-2.0
"""The tables of a run: the operators that are used, the findings of each rule and of each producer of models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.report.totals import OperatorKey, OperatorTotals, ProducerTotals, Report
from onnx_lint.reporters.escape import shortened, visible
from onnx_lint.spec.clauses import Severity


def statistics(report: Report) -> list[tuple[str, Severity, int]]:
    """Return rule, severity and count, the most frequent first."""
    rows = [(rule, severity, count) for (rule, severity), count in report.totals.findings.by_rule.items()]
    return sorted(rows, key=lambda row: (-row[2], row[0], -row[1]))


def by_producer(report: Report) -> list[tuple[str, ProducerTotals]]:
    """Return each producer with its version, and its counts: those with most errors first, then most models."""

    def order(row: tuple[str, ProducerTotals]) -> tuple[int, int, str]:
        name, counts = row
        return -counts.findings[Severity.ERROR], -counts.models, name

    return sorted(report.totals.producers.items(), key=order)


def by_operator(report: Report) -> list[tuple[OperatorKey, OperatorTotals]]:
    """Return each operator with its domain and version, and its counts: those with most nodes first."""

    def order(row: tuple[OperatorKey, OperatorTotals]) -> tuple[int, str, int, str]:
        (domain, version, name), counts = row
        return -counts.nodes, domain, -(version or 0), name

    return sorted(report.totals.operators.items(), key=order)


class Table(Record):
    """A table of a run."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    left: int
    """The number of last columns that are aligned to the left."""
    is_by_rule: bool = False
    """True if the last column has rules."""


def statistics_tables(report: Report) -> Iterator[Table]:
    """Yield the tables that have rows: of the operators, of the rules with findings, and of the producers."""
    operators = [
        (
            f"{counts.nodes:,}",
            f"{counts.models:,}",
            f"{_shown(domain) or 'ai.onnx'} {'(not imported)' if version is None else version}",
            _shown(name),
        )
        for (domain, version, name), counts in by_operator(report)
    ]
    files = report.totals.findings.files_by_rule
    rules = [
        (f"{count:,}", f"{files[rule, severity]:,}", severity.label, visible(rule))
        for rule, severity, count in statistics(report)
    ]
    producers = [
        (
            f"{counts.models:,}",
            f"{counts.findings.total():,}",
            f"{counts.findings[Severity.ERROR]:,}",
            _shown(name) or "(none)",
        )
        for name, counts in by_producer(report)
    ]
    tables = (
        Table(("nodes", "models", "operator set", "operator"), operators, 2),
        Table(("findings", "files", "severity", "rule"), rules, 2, is_by_rule=True),
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
