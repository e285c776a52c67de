# SPDX-License-Identifier: Apache-2.0
"""An interrupt at any step of a landing loses nothing that is counted, and keeps nothing back that can land."""

from __future__ import annotations

import contextlib
import json
from functools import partial
from itertools import count, product
from pathlib import Path

import pytest
from support.processes.interruption import at_step

from onnx_lint.engine.settings import Settings
from onnx_lint.fleet import reports as reports_module
from onnx_lint.fleet import scan as scan_module
from onnx_lint.fleet import shards as shards_module
from onnx_lint.fleet.jobs import Outcome
from onnx_lint.fleet.records import outcome_of
from onnx_lint.fleet.reports import Reports, open_to_read
from onnx_lint.fleet.scan import Landing, head_of
from onnx_lint.report import FileReport
from onnx_lint.spec.clauses import Severity

MODULES = (reports_module, scan_module, shards_module)


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards_module.os, "fsync", lambda _: None)
    monkeypatch.setattr(shards_module, "write_tables", lambda *_: None)


def _outcome(path: str) -> Outcome:
    return outcome_of(path, FileReport(path, 3), {"size": 3, "version": "1", "settings": "0"})


HEAD = json.dumps(head_of(["m"], [], None, Settings(), Severity.NOTE) | {"models": 4})


def _opened(folder: Path) -> Reports:
    folder.mkdir(exist_ok=True)
    (folder / "scan.json").write_text(HEAD)
    return open_to_read(str(folder))


def _interrupt() -> None:
    raise KeyboardInterrupt


def _scan(reports: Reports, added: list[str]) -> None:
    """What a scan does with outcomes that come in two times; notes those that came."""
    landing = Landing(reports)
    try:
        for names in ("ab", "cd"):
            landing.add(map(_outcome, names))
            added += names
            landing.land()
    finally:
        landing.land()


def test_what_has_come_lands_at_whatever_step_an_interrupt_comes(tmp_path: Path) -> None:
    for number in count():
        folder = tmp_path / str(number)
        reports = _opened(folder)
        added: list[str] = []
        with contextlib.suppress(KeyboardInterrupt):
            if not at_step(number, MODULES, _interrupt, partial(_scan, reports, added)):
                break
        on_disk = _opened(folder)
        landed = "".join(path.read_text() for path in (folder / "landing").glob("*/files.jsonl"))
        assert len(on_disk.entries) == landed.count("\n"), "nothing has landed twice"
        assert reports.entries.keys() <= on_disk.entries.keys(), "what is counted is not lost"
        assert on_disk.entries.keys() >= set(added), "what has come has landed"
        on_disk.land([_outcome(path) for path in "abcd" if path not in on_disk.entries])
        on_disk.finish("abcd")
        again = _opened(folder)
        assert (again.is_whole, sorted(again.entries)) == (True, list("abcd"))
    assert number > 200


def test_a_second_interrupt_leaves_whole_shards(tmp_path: Path) -> None:
    """What it keeps from landing is not counted."""
    for number, further in product(range(0, 150, 10), range(0, 150, 7)):
        folder = tmp_path / f"{number}-{further}"
        reports = _opened(folder)
        landing = Landing(reports)
        landing.add(map(_outcome, "ab"))
        for step in (number, further):
            with contextlib.suppress(KeyboardInterrupt):
                at_step(step, MODULES, _interrupt, landing.land)
        on_disk = _opened(folder)
        assert reports.entries.keys() <= on_disk.entries.keys()
        assert on_disk.entries.keys() in ({"a", "b"}, set())
