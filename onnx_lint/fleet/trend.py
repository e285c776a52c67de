# SPDX-License-Identifier: Apache-2.0
"""The totals of several scans, the oldest first, and what changed from each to the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from onnx_lint.common.record import Record
from onnx_lint.common.visible import visible
from onnx_lint.fleet.columns import LEVELS
from onnx_lint.fleet.database import Reports
from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.totals import Difference, Totals, difference


class Point(Record):
    """A scan in a trend."""

    name: str
    """The folder of its reports."""
    totals: Totals
    new: Difference | None
    """The changes since the scan before; None for the first scan, and while the scan runs."""

    @property
    def share(self) -> float:
        """The share of models that conform, from 0 to 1."""
        return self.totals.conforming / self.totals.all.models if self.totals.all.models else 0.0


def totals_of(scans: Iterable[Reports]) -> Totals:
    """Return the totals of scans."""
    totals = Totals()
    for reports in scans:
        totals.add(reports)
    return totals


def check_parts(earlier: Iterable[Reports], parts: Iterable[str | None]) -> None:
    """Raise FleetError for an earlier scan of one part, unless all scans that it is compared with are of that part.

    Otherwise every finding in the other parts would be new. `parts`: those of the new scan, None if it is whole.
    """
    compared = set(parts)
    for reports in earlier:
        part = reports.head.get("part")
        if part is not None and compared != {part}:
            raise FleetError(
                f"{visible(reports.folder)} holds only part {visible(str(part))} of a scan: compare it with the same"
                " part of the new scan"
            )


def points_of(scans: Sequence[Reports]) -> list[Point]:
    """Return earlier scans as points, each compared with the one before it."""
    points: list[Point] = []
    for number, reports in enumerate(scans):
        new = difference([reports], scans[number - 1]) if number else None
        points.append(Point(reports.folder, totals_of([reports]), new))
    return points


def record_of_point(point: Point) -> dict[str, Any]:
    """Return a point for the JSON form."""
    return {
        "reports": point.name,
        "complete": not point.totals.missing,
        "models": point.totals.all.models,
        "models_with_errors": point.totals.all.with_errors,
        "conforming": point.totals.conforming,
        **{f"{level}s": point.totals.all.findings[level] for level in LEVELS},
        "new": point.new.findings.total() if point.new is not None else None,
        "gone": point.new.gone.total() if point.new is not None else None,
        "by_rule": [
            {"rule": rule, "findings": count.findings, "new": count.new, "gone": count.gone}
            for rule in sorted({rule for rule, _ in point.totals.rules} | set(point.new.gone if point.new else ()))
            for count in (_count(point, rule),)
        ],
    }


class RuleCount(NamedTuple):
    """The findings of a rule in a scan; those that are new, and gone, since the scan before."""

    findings: int
    new: int | None
    gone: int | None


def rules_in(points: Sequence[Point]) -> list[tuple[str, list[RuleCount]]]:
    """Return each rule with its findings in each scan; those that changed most since the first scan come first."""
    names = {rule for point in points for rule, _ in point.totals.rules}
    rows = [(name, [_count(point, name) for point in points]) for name in names]
    return sorted(
        rows,
        key=lambda row: (
            -abs(row[1][-1].findings - row[1][0].findings),
            -max(count.findings for count in row[1]),
            row[0],
        ),
    )


def _count(point: Point, rule: str) -> RuleCount:
    findings = sum(point.totals.rules[rule, level] for level in LEVELS)
    if point.new is None:
        return RuleCount(findings, None, None)
    return RuleCount(findings, sum(point.new.rules[rule, level] for level in LEVELS), point.new.gone[rule])
