# SPDX-License-Identifier: Apache-2.0
"""Folders of reports that are made without a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from onnx_lint.engine.settings import Settings
from onnx_lint.fleet.database import open_to_read, open_to_scan
from onnx_lint.fleet.export import export
from onnx_lint.fleet.jobs import Job, Outcome
from onnx_lint.fleet.records import outcome_of
from onnx_lint.fleet.scan import head_of
from onnx_lint.library import lint
from onnx_lint.report import FileReport
from onnx_lint.spec.clauses import Severity

IDENTITY: Final = {"size": 3, "version": "1", "settings": "0"}

FAULTY: Final = b"\x08\x0a\x3a\x07\x0a\x05\x0a\x01z\x22\x00"
"""A model with a node that reads what nothing defines."""


def head(models: int = 3, part: str | None = None) -> dict[str, Any]:
    return head_of(["models"], [], part, Settings(), Severity.NOTE) | {"models": models}


def job(path: str) -> Job:
    return Job(path, path, IDENTITY, b"", b"", 1)


def sound(path: str, version: str = "1", size: int = 3) -> Outcome:
    """The outcome of a model without findings."""
    return outcome_of(path, FileReport(path, size), {"size": size, "version": version, "settings": "0"})


def faulty(path: str) -> Outcome:
    """The outcome of a model with findings."""
    (file,) = lint(FAULTY, filename=path).files
    found = outcome_of(path, file, IDENTITY)
    assert found.errors
    return found


def scanned(
    folder: Path,
    outcomes: Sequence[Outcome],
    paths: Iterable[str] | None = None,
    *,
    models: int | None = None,
    part: str | None = None,
) -> Path:
    """A folder with these outcomes; where there are `paths`, of a scan of these that came to its end."""
    with open_to_scan(str(folder), head(len(outcomes) if models is None else models, part), anew=False) as reports:
        reports.land(outcomes)
        if paths is not None:
            reports.finish(paths)
    return folder


def exported(folder: Path) -> dict[str, bytes]:
    """Return the exports of the scan in a folder: each file with its bytes."""
    target = folder.parent / f"{folder.name}.export"
    with open_to_read(str(folder)) as reports:
        export([reports], str(target))
    return {path.name: path.read_bytes() for path in sorted(target.iterdir())}
