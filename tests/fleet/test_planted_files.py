# SPDX-License-Identifier: Apache-2.0
"""What somebody has put among the reports of a scan is neither waited for nor written through."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from onnx_lint.engine.settings import Settings
from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.jobs import Job
from onnx_lint.fleet.records import unreadable
from onnx_lint.fleet.reports import open_to_read, open_to_scan
from onnx_lint.fleet.scan import head_of
from onnx_lint.spec.clauses import Severity

HEAD = {**head_of(["models"], [], None, Settings(), Severity.NOTE), "models": 1}
FILES = (
    "scan.json",
    "report/report.json",
    "report/00000/shard.json",
    "report/00000/files.jsonl",
    "report/00000/findings.jsonl",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "reports"
    with open_to_scan(str(path), HEAD, anew=False) as reports:
        job = Job("a.onnx", "a.onnx", {"size": 1, "version": "1", "settings": "0"}, b"", b"", 1)
        reports.land([unreadable(job, "a.onnx: is not there")])
        reports.finish(["a.onnx"])
    return path


@pytest.mark.parametrize("kind", ["pipe", "device", "directory"])
@pytest.mark.parametrize("name", [name for name in FILES if name != "report/report.json"])
def test_what_is_no_regular_file_is_a_sentence(folder: Path, name: str, kind: str) -> None:
    path = folder / name
    path.unlink()
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            path.mkdir()
    with pytest.raises(FleetError):
        open_to_read(str(folder))
    with pytest.raises(FleetError), open_to_scan(str(folder), HEAD, anew=False):
        pass


@pytest.mark.parametrize("name", ["lock", "scan.json.tmp"])
@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_nothing_is_written_through_a_link(folder: Path, tmp_path: Path, name: str, kind: str) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(b"model")
    path = folder / name
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(model)
    if name == "lock":
        with pytest.raises(FleetError, match="none that a scan writes"), open_to_scan(str(folder), HEAD, anew=False):
            pass
    else:
        with open_to_scan(str(folder), HEAD, anew=False) as reports:
            assert list(reports.entries) == ["a.onnx"]
        assert json.loads((folder / "scan.json").read_text())["models"] == 1
    assert model.read_bytes() == b"model"
