# SPDX-License-Identifier: Apache-2.0
"""A scan: what is not known yet is linted and lands, and at the end the report is made."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from typing import Any, Final

from onnx_lint import __version__
from onnx_lint.common.model_limits import ModelLimits
from onnx_lint.common.record import Record, replace
from onnx_lint.engine.registry import registry
from onnx_lint.engine.settings import Settings
from onnx_lint.fleet.database import Reports
from onnx_lint.fleet.jobs import Job, Outcome
from onnx_lint.fleet.records import unreadable
from onnx_lint.input.locations import is_remote
from onnx_lint.report import FileReport
from onnx_lint.reporters.records import json_safe, path_of, tool_record
from onnx_lint.spec.clauses import Severity

_LANDING_SECONDS: Final = 5.0
_LANDING_BYTES: Final = 8_000_000
"""After so long, or with so many bytes, what has come is written."""


class Target(Record):
    """An object to lint."""

    path: str
    name: str
    """What reports call it: its path, or its address without credentials."""
    settings: Settings
    size: int | None
    version: str
    """What tells this state of the object from others; empty where that cannot be told."""
    problem: str | None = None
    """Why there is nothing to lint."""
    is_numbered: bool = False
    """Whether another one may have its name in the next scan, so that what is known by that name is no use."""


class Cluster(Record):
    """Where a scan runs."""

    scheduler: str | None
    """The address of the scheduler; None for processes on this machine."""
    workers: int
    """Of these processes so many."""


class Standing(Record):
    """How far a scan is."""

    done: int
    """Models of which there is a verdict, those of former scans included."""
    linted: int
    """Models that were linted since the scan was started."""
    findings: int
    """What was found in these."""
    bytes_read: int


def told_apart(targets: Iterable[Target]) -> list[Target]:
    """The targets; of those that reports would call the same one is left, with that as its problem.

    What reports do not show of an address, or of a name that is not UTF-8, may be what tells two objects apart.
    """
    found: dict[str, Target] = {}
    for target in targets:
        name = shown_name(target.name)
        if name in found:
            problem = f"{name}: several objects have this name in reports, so that none of them was linted"
            target = Target(target.path, target.name, target.settings, None, "", problem)
        found[name] = target
    return list(found.values())


def scan(
    reports: Reports,
    targets: Sequence[Target],
    usual: Settings,
    level: Severity,
    limits: ModelLimits,
    cluster: Cluster,
    on_progress: Callable[[Standing], None],
) -> None:
    """Lint the targets of which the reports have no verdict, and make the report of all.

    Whatever ends the scan before, what has come until then has landed. Raises FleetError where the cluster cannot lint,
    or the disk takes no more.
    """
    jobs, ended = _jobs(reports, targets, usual, level)
    reports.land(ended)
    if jobs:
        _lint(reports, jobs, len(targets), limits, cluster, on_progress)
    reports.finish(shown_name(target.name) for target in targets)


def _jobs(
    reports: Reports, targets: Iterable[Target], usual: Settings, level: Severity
) -> tuple[list[Job], list[Outcome]]:
    """What is to be linted, and the outcomes of what need not be."""
    pickled: dict[int, tuple[bytes, str]] = {}
    usual_pickle = pickle.dumps(usual)
    folder = os.getcwd()
    jobs: list[Job] = []
    ended: list[Outcome] = []
    for target in targets:
        if id(target.settings) not in pickled:
            pickled[id(target.settings)] = pickle.dumps(target.settings), key_of(target.settings)
        settings, key = pickled[id(target.settings)]
        is_known = not target.is_numbered and reports.identity_of(shown_name(target.name)) is not None
        if not target.version and is_remote(target.path) and is_known:
            target = _looked_up(target)
        identity = {"size": target.size, "version": target.version, "settings": key}
        job = Job(target.path, target.name, identity, settings, usual_pickle, int(level), folder)
        if target.problem is not None:
            ended.append(unreadable(job, target.problem))
        elif (
            target.is_numbered
            or not target.version
            or reports.identity_of(shown_name(target.name)) != json.dumps(identity, sort_keys=True)
        ):
            jobs.append(job)
    return jobs, ended


def _looked_up(target: Target) -> Target:
    """The target with what its store tells of an object that no listing told of; as it was where that fails."""
    from onnx_lint.remote import RemoteError, listed
    from onnx_lint.remote.access import access_of

    access = access_of(target.settings.limits, download=target.settings.download)
    try:
        (found,) = listed(target.path, access)
    except (RemoteError, ValueError):
        return target  # whoever lints it tells why
    return replace(target, size=found.size, version=found.version or "")


def _lint(
    reports: Reports,
    jobs: Sequence[Job],
    count: int,
    limits: ModelLimits,
    cluster: Cluster,
    on_progress: Callable[[Standing], None],
) -> None:
    from onnx_lint.fleet.cluster import connected  # late: a scan that has nothing to lint needs no cluster
    from onnx_lint.fleet.dispatch import Dispatch, Progress

    progress = Progress()
    landing = Landing(reports)
    linted = findings = 0
    with connected(cluster.scheduler, cluster.workers) as client:
        try:
            for outcomes in Dispatch(client, jobs, limits, progress).outcomes():
                landing.add(outcomes)
                linted += len(outcomes)
                findings += sum(item.errors + item.warnings + item.notes for item in outcomes)
                on_progress(Standing(count - len(jobs) + linted, linted, findings, progress.bytes_read))
                landing.land_if_due()
        finally:
            landing.land()


class Landing:
    """Outcomes that have come, and wait to be written together."""

    def __init__(self, reports: Reports) -> None:
        self._reports = reports
        self._waiting: list[Outcome] = []
        self._size = 0
        self._landed = time.monotonic()

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Have further outcomes wait."""
        for item in outcomes:
            self._waiting.append(item)
            self._size += len(item.file) + len(item.findings)

    def land_if_due(self) -> None:
        """Write what waits, if it is much or waits for long. Raises FleetError as below."""
        if self._size > _LANDING_BYTES or time.monotonic() - self._landed > _LANDING_SECONDS:
            self.land()

    def land(self) -> None:
        """Write what waits. Raises FleetError where that fails: then it is forgotten, to be linted again.

        What an interrupt keeps from being written still waits.
        """
        try:
            self._reports.land(self._waiting)
        except Exception:
            self._waiting, self._size = [], 0
            raise
        self._waiting, self._size, self._landed = [], 0, time.monotonic()


def head_of(
    targets: Iterable[str], exclude: Iterable[str], part: str | None, usual: Settings, level: Severity
) -> dict[str, Any]:
    """What describes a scan: another one does not go on with its reports."""
    from onnx_lint.engine.lint import report_of

    return {
        "tool": tool_record(report_of((), usual)),
        "targets": [shown_name(target) for target in targets],
        "exclude": list(exclude),
        "part": part,
        "min_severity": level.label,
        "settings": key_of(usual),
    }


def key_of(settings: Settings) -> str:
    """What tells settings from others, with the version of onnx-lint, those of plugins, and operator descriptions."""
    said = [__version__, repr(settings)]
    plugins = {entry.plugin for entry in registry().values() if entry.plugin is not None}
    said += (f"{plugin} {version(plugin)}" for plugin in sorted(plugins))
    digest = hashlib.sha256("\n".join(said).encode("utf-8", "surrogatepass"))
    for path in settings.opset_schemas:
        with open(path, "rb") as stream:
            digest.update(stream.read())
    return digest.hexdigest()[:16]


def shown_name(path: str) -> str:
    """A path as the record of the file has it."""
    name: str = json_safe(path_of(FileReport(path, 0)))
    return name
