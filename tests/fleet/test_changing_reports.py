# SPDX-License-Identifier: Apache-2.0
"""Who reads a folder of reports while a scan changes it has what was there before, or after, and nothing between."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from support.processes.interruption import at_step

from onnx_lint.engine.settings import Settings
from onnx_lint.fleet import reports as reports_module
from onnx_lint.fleet import shards as shards_module
from onnx_lint.fleet import totals as totals_module
from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.jobs import Outcome
from onnx_lint.fleet.records import outcome_of
from onnx_lint.fleet.reports import Reports, open_to_read, open_to_scan, read_at_once
from onnx_lint.fleet.scan import head_of
from onnx_lint.fleet.totals import Totals
from onnx_lint.report import FileReport
from onnx_lint.spec.clauses import Severity

HEAD = head_of(["m"], [], None, Settings(), Severity.NOTE) | {"models": 3}


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards_module.os, "fsync", lambda _: None)
    monkeypatch.setattr(shards_module, "write_tables", lambda *_: None)
    monkeypatch.setattr(reports_module, "_WAIT_SECONDS", 0)


def _outcome(path: str, size: int) -> Outcome:
    return outcome_of(path, FileReport(path, size), {"size": size, "version": str(size), "settings": "0"})


def _at_its_end(folder: Path) -> Reports:
    """A folder with a report of three models, one of which was linted again since, and has landed."""
    folder.mkdir()
    (folder / "scan.json").write_text(json.dumps(HEAD))
    reports = open_to_read(str(folder))
    reports.land([_outcome(path, 1) for path in ("a", "b" * 100, "c")])
    reports.finish(["a", "b" * 100, "c"])
    reports.land([_outcome("a", 1000)])
    return reports


def _finish(reports: Reports) -> None:
    reports.finish(["a", "c"])


def _bytes(scans: list[Reports]) -> int:
    totals = Totals()
    for reports in scans:
        totals.add(reports)
    return totals.bytes


BEFORE, AFTER = 1002, 1001
"""The sizes of all models together. Behind a model that is gone the records of others stand elsewhere."""


def test_what_is_read_is_of_one_time(tmp_path: Path) -> None:
    """A scan comes to its end before each third line of the reader, so several times between any two files it opens."""
    found = set()
    for number in count(0, 3):
        folder = tmp_path / str(number)
        writer = _at_its_end(folder)
        read: list[int] = []
        finish = partial(_finish, writer)
        if not at_step(
            number,
            (reports_module, shards_module, totals_module),
            finish,
            lambda folder=folder, read=read: read.append(read_at_once([str(folder)], _bytes)),
        ):
            break
        assert read[0] in (BEFORE, AFTER), number
        found.add(read[0])
    assert found == {BEFORE, AFTER}


_CHANGES = {"open", "os.mkdir", "os.remove", "os.rename", "os.rmdir"}
"""What Python tells before it does it, of what changes a folder."""


def _is_killed(number: int, act: Callable[[], None]) -> bool:
    """Run `act` in another process, which is killed before its change of this number; whether it has so many."""
    child = os.fork()
    if not child:
        left = number

        def look(event: str, _: object) -> None:
            nonlocal left
            left -= event in _CHANGES
            if left < 0:
                os._exit(9)

        sys.addaudithook(look)
        with contextlib.suppress(BaseException):
            act()
            os._exit(0)
        os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 9


@pytest.mark.fleet
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the process that is killed is a copy of this one")
def test_a_scan_that_is_killed_at_any_time_of_its_end_leaves_what_can_be_read(tmp_path: Path) -> None:
    for number in count():
        folder = tmp_path / str(number)
        writer = _at_its_end(folder)
        if not _is_killed(number, partial(_finish, writer)):
            break
        assert read_at_once([str(folder)], _bytes) in (BEFORE, AFTER)
        with open_to_scan(str(folder), HEAD, anew=False) as reports:
            _finish(reports)
        assert read_at_once([str(folder)], _bytes) == AFTER
        assert {path.name for path in folder.iterdir()} - {"lock"} == {"report", "scan.json"}
    assert number > 20


@pytest.mark.fleet
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the process that is killed is a copy of this one")
def test_a_scan_anew_that_is_killed_at_any_time_leaves_what_can_be_read(tmp_path: Path) -> None:
    def begin(folder: Path) -> None:
        with open_to_scan(str(folder), HEAD, anew=True) as reports:
            assert not reports.entries

    for number in count():
        folder = tmp_path / str(number)
        _at_its_end(folder)
        if not _is_killed(number, partial(begin, folder)):
            break
        assert read_at_once([str(folder)], _bytes) in (BEFORE, 3, 0), (
            "of what has landed, and of the report, all or none"
        )
        begin(folder)
        assert open_to_read(str(folder)).entries == {}
    assert number > 20


def test_damage_is_told_at_once(tmp_path: Path) -> None:
    """Where no scan changes anything, there is nothing to wait for."""
    writer = _at_its_end(tmp_path / "r")
    (tmp_path / "r" / "report" / "00000" / "files.jsonl").unlink()
    reads: list[None] = []
    with pytest.raises(FleetError, match=r"files\.jsonl is missing"):
        read_at_once([str(tmp_path / "r")], lambda _: reads.append(None))
    assert (reads, writer.is_whole) == ([], False)


def test_what_changes_all_the_time_is_told(tmp_path: Path) -> None:
    writer = _at_its_end(tmp_path / "r")

    def change(_: list[Reports]) -> None:
        writer.land([_outcome("a", 5)])
        _finish(writer)

    with pytest.raises(FleetError, match="is a scan going on"):
        read_at_once([str(tmp_path / "r")], change)


def test_a_scan_that_goes_on_beside_the_reader(tmp_path: Path) -> None:
    """In earnest: another thread lands and finishes all the time that is read."""
    writer = _at_its_end(tmp_path / "r")
    _finish(writer)
    is_over = threading.Event()

    def write() -> None:
        while not is_over.wait(0.02):
            writer.land([_outcome("a", 1000)])
            _finish(writer)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        found = {read_at_once([str(tmp_path / "r")], _bytes) for _ in range(50)}
    finally:
        is_over.set()
        thread.join()
    assert found == {AFTER}
