# SPDX-License-Identifier: Apache-2.0
"""The number of findings of each rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from onnx_lint.report import Report
from onnx_lint.reporters.escape import visible
from onnx_lint.spec.clauses import Severity


def statistics(report: Report) -> list[tuple[str, Severity, int]]:
    """Return rule, severity and count, the most frequent first."""
    found = Counter((item.rule, item.severity) for item in report.diagnostics)
    rows = [(rule, severity, count) for (rule, severity), count in found.items()]
    return sorted(rows, key=lambda row: (-row[2], row[0], -row[1]))


def statistics_lines(report: Report) -> Iterator[str]:
    """Yield the statistics as lines with aligned columns; none if there are no findings."""
    rows = [(f"{count:,}", severity.label, visible(rule)) for rule, severity, count in statistics(report)]
    counts = max((len(count) for count, _, _ in rows), default=0)
    labels = max((len(label) for _, label, _ in rows), default=0)
    for count, label, rule in rows:
        yield f"{count:>{counts}}  {label:<{labels}}  {rule}"
