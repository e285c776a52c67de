# SPDX-License-Identifier: Apache-2.0
"""A scan: lints the models without a verdict, stores their outcomes, and completes the report."""

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
from onnx_lint.engine.reports import report_of
from onnx_lint.engine.settings import Settings
from onnx_lint.fleet.database import Reports
from onnx_lint.fleet.jobs import Job, Outcome
from onnx_lint.fleet.records import unreadable
from onnx_lint.input.locations import is_remote
from onnx_lint.remote import RemoteError, listed
from onnx_lint.remote.access import access_of
from onnx_lint.report import FileReport
from onnx_lint.reporters.records import json_safe, path_of, tool_record
from onnx_lint.spec.clauses import Severity

_LANDING_SECONDS: Final = 5.0
_LANDING_BYTES: Final = 8_000_000
"""Outcomes are written after this time, or when they have this many bytes."""


class ScannedFile(Record):
    """An object to lint."""

    path: str
    name: str
    """The name in reports: its path, or its address without credentials."""
    settings: Settings
    size: int | None
    version: str
    """Identifies this state of the object; empty if unknown."""
    problem: str | None = None
    """Why there is nothing to lint."""
    is_numbered: bool = False
    """True if another object may get its name in the next scan, so that earlier results by that name are not used."""


class Cluster(Record):
    """The cluster that a scan runs on."""

    scheduler: str | None
    """The address of the scheduler; None for processes on this machine."""
    workers: int
    """The number of processes on this machine."""


class Standing(Record):
    """The progress of a scan."""

    done: int
    """Models with a verdict, including those of earlier scans."""
    linted: int
    """Models that were linted by this run of the scan."""
    findings: int
    """The number of findings in these."""
    bytes_read: int


def with_unique_names(targets: Iterable[ScannedFile]) -> list[ScannedFile]:
    """Return the targets. Of several with one name in reports one is left, with that as its problem.

    Parts that reports do not show may distinguish objects: parts of an address, or bytes of a name that is not UTF-8.
    """
    found: dict[str, ScannedFile] = {}
    for target in targets:
        name = shown_name(target.name)
        if name in found:
            problem = f"{name}: several objects have this name in reports, so none of them was linted"
            target = ScannedFile(target.path, target.name, target.settings, None, "", problem)
        found[name] = target
    return list(found.values())


def scan(
    reports: Reports,
    targets: Sequence[ScannedFile],
    usual: Settings,
    level: Severity,
    limits: ModelLimits,
    cluster: Cluster,
    on_progress: Callable[[Standing], None],
    cache: str = "",
) -> None:
    """Lint the targets without a verdict in the reports, and complete the reports.

    `cache`: the folder of the cache of verdicts; empty if none is used.

    If the scan is ended before, all outcomes that arrived until then are stored. Raises FleetError if the cluster
    cannot lint, or the disk is full.
    """
    jobs, ended = _jobs(reports, targets, usual, level, cache)
    reports.land(ended)
    if jobs:
        _lint(reports, jobs, len(targets), limits, cluster, on_progress)
    reports.finish(shown_name(target.name) for target in targets)


def _jobs(
    reports: Reports, targets: Iterable[ScannedFile], usual: Settings, level: Severity, cache: str
) -> tuple[list[Job], list[Outcome]]:
    """Return the jobs for the models to lint, and the outcomes of targets that cannot be linted."""
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
        job = Job(target.path, target.name, identity, settings, usual_pickle, int(level), folder, cache)
        if target.problem is not None:
            ended.append(unreadable(job, target.problem))
        elif (
            target.is_numbered
            or not target.version
            or reports.identity_of(shown_name(target.name)) != json.dumps(identity, sort_keys=True)
        ):
            jobs.append(job)
    return jobs, ended


def _looked_up(target: ScannedFile) -> ScannedFile:
    """Return the target with size and version from its store; unchanged if that fails. No listing had them."""
    access = access_of(target.settings.limits, download=target.settings.download)
    try:
        (found,) = listed(target.path, access)
    except (RemoteError, ValueError):
        return target  # linting it will report the error
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
    """The outcomes that have arrived and are not written yet."""

    def __init__(self, reports: Reports) -> None:
        self._reports = reports
        self._waiting: list[Outcome] = []
        self._size = 0
        self._landed = time.monotonic()

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Add outcomes."""
        for item in outcomes:
            self._waiting.append(item)
            self._size += len(item.file) + len(item.findings)

    def land_if_due(self) -> None:
        """Write the outcomes if they are large or old. Raises FleetError as `land` does."""
        if self._size > _LANDING_BYTES or time.monotonic() - self._landed > _LANDING_SECONDS:
            self.land()

    def land(self) -> None:
        """Write the outcomes. Raises FleetError if that fails; then they are discarded, and linted again later.

        After an interrupt, outcomes that were not written are kept.
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
    """Return the description of a scan. Only a scan with the same description resumes it."""
    return {
        "tool": tool_record(report_of((), usual)),
        "targets": [shown_name(target) for target in targets],
        "exclude": list(exclude),
        "part": part,
        "min_severity": level.label,
        "settings": key_of(usual),
    }


def key_of(settings: Settings) -> str:
    """Return a digest of the settings, the versions of onnx-lint and of plugins, and the operator descriptions."""
    said = [__version__, repr(settings)]
    plugins = {entry.plugin for entry in registry().values() if entry.plugin is not None}
    files = {os.path.basename(path) for path in settings.plugins}
    said += (f"{plugin} {version(plugin)}" for plugin in sorted(plugins - files))
    digest = hashlib.sha256("\n".join(said).encode("utf-8", "surrogatepass"))
    for path in (*settings.opset_schemas, *settings.plugins):
        with open(path, "rb") as stream:
            digest.update(stream.read())
    return digest.hexdigest()[:16]


def shown_name(path: str) -> str:
    """Return a path as in the record of the file."""
    name: str = json_safe(path_of(FileReport(path, 0)))
    return name
