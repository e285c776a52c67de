# SPDX-License-Identifier: Apache-2.0
"""The totals of a scan by rule, producer and edition; and its new findings since another one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from onnx_lint.fleet.columns import LEVELS
from onnx_lint.fleet.database import Reports
from onnx_lint.fleet.errors import FleetError
from onnx_lint.reporters.escape import visible

MAX_LISTED: Final = 1_000
"""The models without a verdict, and the new findings, that are listed. All are counted."""


class Group:
    """The totals of models with one property."""

    def __init__(self) -> None:
        self.models = 0
        self.with_errors = 0
        self.findings: Counter[str] = Counter()
        """The number of findings by severity."""

    def add(self, models: int, with_errors: int, *findings: int) -> None:
        """Add models, and their findings by severity in the order of LEVELS."""
        self.models += models
        self.with_errors += with_errors
        self.findings.update(dict(zip(LEVELS, findings, strict=True)))


class Totals:
    """The totals of scans."""

    def __init__(self) -> None:
        self.all = Group()
        self.worst: Counter[str] = Counter()
        """The number of models by the severity of their worst finding."""
        self.conforming = 0
        """Models that were judged and have no errors."""
        self.bytes = 0
        """The sizes of all objects that were read."""
        self.rules: Counter[tuple[str, str]] = Counter()
        """The number of findings of each rule and severity."""
        self.models_of_rules: Counter[tuple[str, str]] = Counter()
        """The number of models that have them."""
        self.producers: dict[str, Group] = {}
        self.editions: dict[str, Group] = {}
        self.unreadable = 0
        self.not_judged = 0
        """Models that were read but not judged, without findings."""
        self.crashed = 0
        """Models in which a rule crashed, or whose lint ended its process."""
        self.not_linted = 0
        """Models of `crashed` without any verdict."""
        self.without_verdict: list[tuple[str, str]] = []
        """The first models without a verdict: path and reason."""
        self.suppressed = 0
        """The number of findings that the configuration or the models suppress."""
        self.missing = 0
        """Models that a scan has not reached."""

    @property
    def without_any(self) -> int:
        """The number of models without a verdict."""
        return self.unreadable + self.not_judged + self.crashed

    def add(self, reports: Reports) -> None:
        """Add the models of a scan."""
        ask = reports.connection.execute
        if not reports.is_whole:
            self.missing += max(reports.head.get("models", 0) - reports.count(), 0)
        ((total, conforming, unreadable, crashed, not_linted, without),) = ask(_STATES)
        self.bytes += total
        self.suppressed += reports.suppressed()
        self.conforming += conforming
        self.unreadable += unreadable
        self.crashed += crashed
        self.not_linted += not_linted
        self.not_judged += without - unreadable - crashed
        for level, count in ask(_WORST):
            self.worst[level] += count
        of_all = {"": self.all}
        for groups, name in ((of_all, "''"), (self.producers, "coalesce(producer, '')"), (self.editions, "edition")):
            for key, *numbers in ask(_GROUPS.format(name=name)):
                groups.setdefault(key, Group()).add(*numbers)
        for rule, level, count, models in ask(_RULES):
            self.rules[rule, level] += count
            self.models_of_rules[rule, level] += models
        left = MAX_LISTED - len(self.without_verdict)
        self.without_verdict += ask(_WITHOUT_VERDICT, (left,)).fetchall()


_STATES: Final = """
    SELECT coalesce(sum(size), 0),
           count(*) FILTER (WHERE unreadable IS NULL AND NOT internal_errors AND not_judged IS NULL AND NOT errors),
           count(unreadable),
           count(*) FILTER (WHERE unreadable IS NULL AND internal_errors),
           count(*) FILTER (WHERE unreadable IS NULL AND internal_errors AND NOT settled),
           count(reason)
    FROM models
"""

_WORST: Final = """
    SELECT CASE WHEN errors THEN 'error' WHEN warnings THEN 'warning' ELSE 'note' END, count(*)
    FROM models WHERE errors OR warnings OR notes GROUP BY 1
"""

_GROUPS: Final = """
    SELECT {name}, count(*), count(*) FILTER (WHERE errors), sum(errors), sum(warnings), sum(notes)
    FROM models GROUP BY 1
"""

_RULES: Final = "SELECT rule, severity, count(*), count(DISTINCT path) FROM findings GROUP BY 1, 2"

_WITHOUT_VERDICT: Final = "SELECT path, reason FROM models WHERE reason IS NOT NULL ORDER BY path LIMIT ?"


class Difference:
    """The findings of scans that are not in an earlier one."""

    def __init__(self) -> None:
        self.findings: Counter[str] = Counter()
        """New findings by severity."""
        self.rules: Counter[tuple[str, str]] = Counter()
        self.models = 0
        """Models with new findings."""
        self.listed: list[dict[str, Any]] = []
        """The records of the first new findings, in the order of the paths."""
        self.new_models = 0
        self.gone: Counter[str] = Counter()
        """Findings of the earlier scan that no longer occur, by rule, in models that still exist."""
        self.gone_models = 0


def difference(scans: Iterable[Reports], old: Reports) -> Difference:
    """Return the new findings of the scans. Path and fingerprint identify a finding."""
    found = Difference()
    seen: set[str] = set()
    for reports in scans:
        with reports.beside(old):
            _add(found, reports)
        seen.update(path for (path,) in reports.connection.execute("SELECT path FROM models"))
    found.gone_models = sum(path not in seen for (path,) in old.connection.execute("SELECT path FROM models"))
    return found


def _add(found: Difference, reports: Reports) -> None:
    ask = reports.connection.execute
    for rule, level, count in ask(f"SELECT rule, severity, count(*) {_NEW} GROUP BY 1, 2"):
        found.rules[rule, level] += count
        found.findings[level] += count
    ((models, new_models),) = ask(f"SELECT (SELECT count(DISTINCT path) {_NEW}), ({_NEW_MODELS})")
    found.models += models
    found.new_models += new_models
    for rule, count in ask(_GONE):
        found.gone[rule] += count
    left = MAX_LISTED - len(found.listed)
    for (record,) in ask(f"SELECT record {_NEW} ORDER BY path, id LIMIT ?", (left,)):
        found.listed.append(record_of(reports, record))


_NEW: Final = """
    FROM main.findings AS now WHERE NOT EXISTS (
        SELECT 1 FROM old.findings AS before WHERE before.path = now.path AND before.fingerprint = now.fingerprint
    )
"""

_NEW_MODELS: Final = "SELECT count(*) FROM main.models WHERE path NOT IN (SELECT path FROM old.models)"

_GONE: Final = """
    SELECT rule, count(*) FROM (
        SELECT path, fingerprint, rule FROM old.findings WHERE path IN (SELECT path FROM main.models)
        EXCEPT SELECT path, fingerprint, rule FROM main.findings
    ) GROUP BY 1
"""


def record_of(reports: Reports, text: str) -> dict[str, Any]:
    """Return the record of a finding as an object. Raises FleetError if no scan can have written it."""
    try:
        record = json.loads(text)
        if all(isinstance(record[name], str) for name in _SHOWN):
            return {**record}
    except (ValueError, TypeError, LookupError, RecursionError):
        pass
    raise FleetError(f"{visible(reports.folder)}: the record of a finding is malformed")


_SHOWN: Final = ("path", "severity", "rule", "message", "place")
