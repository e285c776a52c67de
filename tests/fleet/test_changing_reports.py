# SPDX-License-Identifier: Apache-2.0
"""A reader of a scan that is running, or was killed, sees the reports of one point in time, and never a mixture."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from itertools import count
from pathlib import Path

import pytest
from support.reports.scans import faulty, head, scanned, sound

from onnx_lint.fleet.database import Reports, open_to_read, open_to_scan
from onnx_lint.fleet.totals import Totals

BEFORE, AFTER = 1002, 1001
"""The sizes of all models together."""


def _bytes(folder: Path) -> int:
    with open_to_read(str(folder)) as reports:
        totals = Totals()
        totals.add(reports)
        return totals.bytes


def _at_its_end(folder: Path) -> None:
    """Make a folder with three models. One was linted again since, and has landed."""
    scanned(folder, [sound(path, size=1) for path in "abc"], "abc")
    scanned(folder, [sound("a", "2", size=1000)], models=3)


def _finish(reports: Reports) -> None:
    reports.finish("ac")


def test_what_is_read_is_of_one_time(tmp_path: Path) -> None:
    """The scan ends between two queries of the reader."""
    folder = tmp_path / "r"
    _at_its_end(folder)
    with open_to_scan(str(folder), head(), anew=False) as writer, open_to_read(str(folder)) as reader:
        assert reader.count() == 3
        _finish(writer)
        totals = Totals()
        totals.add(reader)
        assert (totals.bytes, totals.all.models) == (BEFORE, 3)
        assert _bytes(folder) == AFTER


def test_a_scan_that_goes_on_beside_the_reader(tmp_path: Path) -> None:
    """In earnest: all the time that is read, another thread lands pairs of models whose sizes add up to the same."""
    folder = tmp_path / "r"
    _at_its_end(folder)
    is_over, is_begun = threading.Event(), threading.Event()

    def write() -> None:
        with open_to_scan(str(folder), head(), anew=False) as writer:
            while not is_over.is_set():
                writer.land([sound("a", size=1), sound("b", size=1000)])
                writer.land([sound("a", size=1000), sound("b", size=1)])
                writer.finish("abc")
                is_begun.set()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert is_begun.wait(600)
        found = {_bytes(folder) for _ in range(40)}
    finally:
        is_over.set()
        thread.join()
    assert found == {BEFORE}


@pytest.mark.fleet
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the process that is killed is a copy of this one")
def test_a_scan_that_is_killed_at_any_time_leaves_what_can_be_read(tmp_path: Path) -> None:
    """Models land in pairs. At any time of the other process, both models of a pair are there, or neither."""
    rng = random.Random(3)
    outcomes = [faulty(f"{index:03}") for index in range(200)]
    landed = set()
    for number in range(25):
        folder = tmp_path / str(number)
        child = os.fork()
        if not child:
            try:
                with open_to_scan(str(folder), head(200), anew=False) as reports:
                    for index in range(0, 200, 2):
                        reports.land(outcomes[index : index + 2])
                    reports.finish(f"{index:03}" for index in range(200))
            finally:
                os._exit(0)
        time.sleep(rng.uniform(0, 0.3))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with open_to_scan(str(folder), head(200), anew=False) as reports:
            known = reports.count()
            assert known % 2 == 0
            landed.add(known)
            reports.land(outcomes)
            reports.finish(f"{index:03}" for index in range(200))
        with open_to_read(str(folder)) as reports:
            assert (reports.count(), reports.is_whole) == (200, True)
    assert len(landed) > 3


@pytest.mark.fleet
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the process that is killed is a copy of this one")
@pytest.mark.parametrize("anew", [False, True])
def test_a_scan_that_is_killed_at_any_step_of_sqlite(tmp_path: Path, anew: bool) -> None:
    """The process ends before each instruction of SQLite of this number, on and on in larger steps."""
    number = 0
    for turn in count():
        folder = tmp_path / str(turn)
        _at_its_end(folder)
        child = os.fork()
        if not child:
            try:
                with open_to_scan(str(folder), head(), anew=anew) as reports:
                    left = [number]

                    def look(left: list[int] = left) -> int:
                        left[0] -= 1
                        if left[0] < 0:
                            os._exit(9)
                        return 0

                    reports.connection.set_progress_handler(look, 1)
                    reports.land([sound("c", size=1), sound("a", size=1000)])
                    _finish(reports)
            finally:
                os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert _bytes(folder) in ({0, AFTER} if anew else {BEFORE, AFTER})
        with open_to_scan(str(folder), head(), anew=False) as reports:
            reports.land([sound("c", size=1), sound("a", size=1000)])
            _finish(reports)
        assert _bytes(folder) == AFTER
        assert {path.name for path in folder.iterdir()} == {"lock", "scan.db"}
        if code == 0:
            break
        number += 1 + number // 8
    assert turn > 20
