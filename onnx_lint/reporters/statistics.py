# SPDX-License-Identifier: Apache-2.0
"""The number of findings of each rule and of each producer of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from onnx_lint.report import Report
from onnx_lint.reporters.escape import shortened, visible
from onnx_lint.spec.clauses import Severity


def statistics(report: Report) -> list[tuple[str, Severity, int]]:
    """Return rule, severity and count, the most frequent first."""
    rows = [(rule, severity, count) for (rule, severity), count in report.totals.findings.items()]
    return sorted(rows, key=lambda row: (-row[2], row[0], -row[1]))


def by_producer(report: Report) -> list[tuple[str, Counter[Severity | None]]]:
    """Return each producer with its version, and its counts: those with most errors first, then most models."""
    return sorted(report.totals.producers.items(), key=lambda row: (-row[1][Severity.ERROR], -row[1][None], row[0]))


def statistics_lines(report: Report) -> Iterator[str]:
    """Yield tables with headings: of the rules with findings, if any, and of the producers of models, if any."""
    yield from _rule_lines(report)
    rows = [("models", "findings", "errors", "producer")]
    for producer, counts in by_producer(report):
        findings = counts.total() - counts[None]
        shown = shortened(visible(producer), _MOST_OF_A_NAME) or "(none)"
        rows.append((f"{counts[None]:,}", f"{findings:,}", f"{counts[Severity.ERROR]:,}", shown))
    if len(rows) > 1:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for models, found, errors, name in rows:
            yield f"{models:>{widths[0]}}  {found:>{widths[1]}}  {errors:>{widths[2]}}  {name}"


_MOST_OF_A_NAME: Final = 100


def _rule_lines(report: Report) -> Iterator[str]:
    files = report.totals.files_with
    rows = [("findings", "files", "severity", "rule")]
    for rule, severity, count in statistics(report):
        rows.append((f"{count:,}", f"{files[rule, severity]:,}", severity.label, visible(rule)))
    if len(rows) > 1:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for findings, among, label, name in rows:
            yield f"{findings:>{widths[0]}}  {among:>{widths[1]}}  {label:<{widths[2]}}  {name}"
