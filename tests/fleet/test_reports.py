# SPDX-License-Identifier: Apache-2.0
"""The folder of a scan: what lands, what becomes the report, and where a scan is killed meanwhile."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from onnx_lint.engine.settings import Settings
from onnx_lint.fleet import reports as module
from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.jobs import Job, Outcome
from onnx_lint.fleet.records import failed, outcome_of
from onnx_lint.fleet.reports import Reports, open_to_read
from onnx_lint.fleet.scan import head_of
from onnx_lint.report import FileReport
from onnx_lint.spec.clauses import Severity


def _head() -> dict[str, Any]:
    return head_of(["models"], [], None, Settings(), Severity.NOTE)


def _outcome(path: str, version: str = "1") -> Outcome:
    identity = {"size": 3, "version": version, "settings": "0"}
    return outcome_of(path, FileReport(path, 3), identity)


def _reports(folder: Path) -> Reports:
    (folder / "scan.json").write_text(json.dumps(_head() | {"models": 3}))
    return open_to_read(str(folder))


def _content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_report_has_the_same_bytes_in_whatever_order_models_land(tmp_path: Path) -> None:
    contents = []
    for name, shards in (("a", [["x", "y"], ["z"]]), ("b", [["z"], ["y"], ["x"]])):
        folder = tmp_path / name
        folder.mkdir()
        reports = _reports(folder)
        for paths in shards:
            reports.land([_outcome(path) for path in paths])
        assert not reports.is_whole
        reports.finish(["y", "z", "x"])
        assert reports.is_whole
        assert not (folder / "landing").exists()
        contents.append(_content(folder))
    assert contents[0] == contents[1]
    assert [json.loads(line)["path"] for line in contents[0]["report/00000/files.jsonl"].splitlines()] == [
        "x",
        "y",
        "z",
    ]


def test_the_newest_word_on_a_model_counts(tmp_path: Path) -> None:
    reports = _reports(tmp_path)
    reports.land([_outcome("x", "1"), _outcome("y")])
    reports.finish(["x", "y"])
    reports = _reports(tmp_path)
    reports.land([_outcome("x", "2")])
    reports.land([_outcome("x", "3")])
    for known in (reports, _reports(tmp_path)):
        assert json.loads(known.identity_of("x") or "")["version"] == "3"
    reports.finish(["x"])
    assert list(_reports(tmp_path).entries) == ["x"]
    assert json.loads(_reports(tmp_path).identity_of("x") or "")["version"] == "3"


def test_what_has_no_verdict_is_asked_for_again(tmp_path: Path) -> None:
    reports = _reports(tmp_path)
    identity = {"size": 3, "version": "1", "settings": "0"}
    unread = outcome_of("u", FileReport("u", 0, unreadable="u: is not there"), identity)
    reports.land([failed(Job("f", "f", identity, b"", b"", 1), "it ended"), unread, _outcome("g")])
    assert [reports.identity_of(path) is None for path in ("f", "u", "g")] == [True, True, False]
    assert set(reports.entries) == {"f", "u", "g"}


@pytest.mark.parametrize("calls", range(11))
def test_a_report_that_is_put_in_place_is_never_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    """The process ends before each of the steps with which the next report takes the place of the last one."""
    reports = _reports(tmp_path)
    reports.land([_outcome("x"), _outcome("y")])
    reports.finish(["x", "y"])
    reports.land([_outcome("x", "2")])

    class KilledError(BaseException):
        pass

    left = [calls]

    def counted(step: Any) -> Any:
        def take(*arguments: Any, **options: Any) -> Any:
            if not left[0]:
                raise KilledError
            left[0] -= 1
            return step(*arguments, **options)

        return take

    with monkeypatch.context() as patch:
        patch.setattr(module.Reports, "_put_in_place", _put_in_place_with(counted))
        with pytest.raises(KilledError):
            reports.finish(["x", "y"])
    known = _reports(tmp_path)
    assert set(known.entries) == {"x", "y"}
    assert json.loads(known.identity_of("x") or "")["version"] == "2"
    module._recover(str(tmp_path))
    again = _reports(tmp_path)
    again.land([_outcome("x", "3")])
    again.finish(["x", "y"])
    assert {path.name for path in tmp_path.iterdir()} == {"report", "scan.json"}
    assert json.loads(_reports(tmp_path).identity_of("x") or "")["version"] == "3"


def _put_in_place_with(counted: Any) -> Any:
    """The method with `os.rename` and `shutil.rmtree` that may end the process."""
    own = Reports._put_in_place

    def put(self: Reports) -> None:
        rename, rmtree = os.rename, module.shutil.rmtree
        os.rename, module.shutil.rmtree = counted(rename), counted(rmtree)
        try:
            own(self)
        finally:
            os.rename, module.shutil.rmtree = rename, rmtree

    return put


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is none that a scan writes"),
        (b"[]", "is none that a scan writes"),
        (b'{"format": "something"}', "is none that a scan writes"),
        (b'{"format": "onnx-lint scan", "version": 2, "tool": {}}', "has version 2"),
        (b'{"format": "onnx-lint scan", "version": 1, "tool": {}}', "is none that a scan writes"),
        (json.dumps(_head() | {"models": "all"}).encode(), "is none that a scan writes"),
    ],
)
def test_a_folder_of_something_else_is_told(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "scan.json").write_bytes(content)
    with pytest.raises(FleetError, match=said):
        open_to_read(str(tmp_path))


def test_a_folder_without_a_scan_is_told(tmp_path: Path) -> None:
    with pytest.raises(FleetError, match="holds no reports of a scan"):
        open_to_read(str(tmp_path))
    with pytest.raises(FleetError, match="is not there"):
        open_to_read(str(tmp_path / "nowhere"))
    (tmp_path / "file").touch()
    with pytest.raises(FleetError, match="is no folder"):
        open_to_read(str(tmp_path / "file"))
