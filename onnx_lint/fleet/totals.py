# SPDX-License-Identifier: Apache-2.0
"""The totals of a scan: by rule, producer and edition; and what is new since another one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from onnx_lint.fleet.checked import LEVELS
from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.reports import Reports
from onnx_lint.fleet.shards import Records
from onnx_lint.reporters.escape import visible

MAX_LISTED: Final = 1_000
"""Of models without a verdict, and of new findings, so many are listed; all are counted."""


class Group:
    """Models that have something in common, and what was found in them."""

    def __init__(self) -> None:
        self.models = 0
        self.with_errors = 0
        self.findings: Counter[str] = Counter()
        """By severity."""

    def add(self, summary: Mapping[str, int]) -> None:
        """Count a model."""
        self.models += 1
        self.with_errors += summary["errors"] > 0
        for level in LEVELS:
            self.findings[level] += summary[f"{level}s"]


class Totals:
    """What scans found, all in all."""

    def __init__(self) -> None:
        self.all = Group()
        self.worst: Counter[str] = Counter()
        """How many models have findings of this severity, and none that is worse."""
        self.conforming = 0
        """Models that were judged and break no requirement."""
        self.bytes = 0
        """The sizes of all objects that were read."""
        self.rules: Counter[tuple[str, str]] = Counter()
        """How many findings each rule has with each severity."""
        self.models_of_rules: Counter[tuple[str, str]] = Counter()
        """In how many models it has them."""
        self.producers: dict[str, Group] = {}
        self.editions: dict[str, Group] = {}
        self.unreadable = 0
        self.not_judged = 0
        """Models that were read and not judged, and of which nothing was found."""
        self.crashed = 0
        """Models in which a rule crashed, or whose lint ended its process."""
        self.without_verdict: list[tuple[str, str]] = []
        """The first of these: path and reason."""
        self.missing = 0
        """Models that a scan has not come to."""

    @property
    def without_any(self) -> int:
        """How many models are without a verdict."""
        return self.unreadable + self.not_judged + self.crashed

    def add(self, reports: Reports) -> None:
        """Count the models of a scan. Raises FleetError where its records cannot be read."""
        usual = _edition_of(reports.head["tool"]["specification"])
        self.missing += max(reports.head.get("models", 0) - len(reports.entries), 0) if not reports.is_whole else 0
        for path, records in reports.records():
            file, findings = parsed(reports, path, records)
            self._add(file, findings, usual)

    def _add(self, file: dict[str, Any], findings: Sequence[dict[str, Any]], usual: str) -> None:
        summary = file["summary"]
        self.bytes += file["size"] or 0
        edition = _edition_of(file["specification"]) if "specification" in file else usual
        producer = (file["facts"] or {}).get("producer") or ""
        for group in (
            self.all,
            self.producers.setdefault(producer, Group()),
            self.editions.setdefault(edition, Group()),
        ):
            group.add(summary)
        worst = next((level for level in LEVELS if summary[f"{level}s"]), None)
        if worst is not None:
            self.worst[worst] += 1
        self.rules.update((found["rule"], found["severity"]) for found in findings)
        self.models_of_rules.update({(found["rule"], found["severity"]) for found in findings})
        self._judge(file, is_found=bool(findings))

    def _judge(self, file: dict[str, Any], *, is_found: bool) -> None:
        """Count the model among those that conform, or are without a verdict."""
        reason = None
        if file["unreadable"] is not None:
            self.unreadable += 1
            reason = file["unreadable"]
        elif file["internal_errors"]:
            self.crashed += 1
            reason = "; ".join(f"{error['rule']}: {error['exception']}" for error in file["internal_errors"])
        elif file["not_judged"] is not None:
            self.not_judged += not is_found
            reason = None if is_found else file["not_judged"]
        elif not file["summary"]["errors"]:
            self.conforming += 1
        if reason is not None and len(self.without_verdict) < MAX_LISTED:
            self.without_verdict.append((file["path"], reason))


def parsed(reports: Reports, path: str, records: Records) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The records of a model as objects: its file, and its findings."""
    try:
        return json.loads(records[0]), [json.loads(line) for line in records[1].splitlines()]
    except (ValueError, RecursionError) as error:  # somebody has written to the folder since it was checked
        raise FleetError(f"{visible(reports.folder)}: the records of {visible(path)} are damaged") from error


def _edition_of(specification: Mapping[str, str]) -> str:
    variant = specification["variant"]
    return f"ONNX {specification['edition']}" + (f" ({variant})" if variant != "onnx-ml" else "")


class Difference:
    """What scans found that an earlier one did not."""

    def __init__(self) -> None:
        self.findings: Counter[str] = Counter()
        """New findings by severity."""
        self.rules: Counter[tuple[str, str]] = Counter()
        self.models = 0
        """Models with new findings."""
        self.listed: list[dict[str, Any]] = []
        """The records of the first new findings, in the order of the paths."""
        self.new_models = 0
        self.gone = 0
        """Findings of the earlier scan that are no longer there, in models that are."""
        self.gone_models = 0


def difference(scans: Iterable[Reports], old: Reports) -> Difference:
    """What the scans found that the old one did not; a finding is known by the path and its fingerprint."""
    found = Difference()
    seen: set[str] = set()
    for reports in scans:
        for path, records in reports.records():
            seen.add(path)
            _, now = parsed(reports, path, records)
            before = _fingerprints(old, path)
            if before is None:
                found.new_models += 1
                before = set()
            new = [finding for finding in now if finding["fingerprint"] not in before]
            found.gone += len(before) - (len(now) - len(new))
            found.models += bool(new)
            found.findings.update(finding["severity"] for finding in new)
            found.rules.update((finding["rule"], finding["severity"]) for finding in new)
            found.listed += new[: MAX_LISTED - len(found.listed)]
    found.gone_models = len(old.entries.keys() - seen)
    return found


def _fingerprints(reports: Reports, path: str) -> set[str] | None:
    """The fingerprints of what was found in a model; None where there is no such model."""
    records = reports.records_of(path)
    if records is None:
        return None
    return {finding["fingerprint"] for finding in parsed(reports, path, records)[1]}
