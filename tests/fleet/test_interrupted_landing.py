# SPDX-License-Identifier: Apache-2.0
"""An interrupt at any step of a landing loses nothing that is counted, and keeps nothing back that can land."""

from __future__ import annotations

import contextlib
from functools import partial
from itertools import count, product
from pathlib import Path

import pytest
from support.processes.interruption import at_step
from support.reports.scans import faulty, head

from onnx_lint.fleet import database as database_module
from onnx_lint.fleet import scan as scan_module
from onnx_lint.fleet.database import Reports, open_to_read, open_to_scan
from onnx_lint.fleet.jobs import Outcome
from onnx_lint.fleet.scan import Landing

MODULES = (database_module, scan_module)
OUTCOMES: dict[str, Outcome] = {}


@pytest.fixture(autouse=True, scope="module")
def outcomes() -> None:
    OUTCOMES.update({path: faulty(path) for path in "abcd"})


def _interrupt() -> None:
    raise KeyboardInterrupt


def _known(reports: Reports) -> set[str]:
    """The models that are known, each with its findings."""
    rows = reports.connection.execute("SELECT path, errors + warnings + notes FROM models").fetchall()
    findings = dict(reports.connection.execute("SELECT path, count(*) FROM findings GROUP BY path"))
    assert dict(rows) == findings
    return set(findings)


def _scan(reports: Reports, added: list[str]) -> None:
    """Land outcomes in two steps, as a scan does; add the names of those that came to `added`."""
    landing = Landing(reports)
    try:
        for names in ("ab", "cd"):
            landing.add(OUTCOMES[name] for name in names)
            added += names
            landing.land()
    finally:
        landing.land()


PARTS = 12
"""The default run interrupts at one step in this many, the heavy tests at the others."""


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.heavy) for part in range(1, PARTS))])
def test_what_has_come_lands_at_whatever_step_an_interrupt_comes(part: int, tmp_path: Path) -> None:
    for number in count(part, PARTS):
        folder = str(tmp_path / str(number))
        added: list[str] = []
        with open_to_scan(folder, head(4), anew=False) as reports:
            with contextlib.suppress(KeyboardInterrupt):
                if not at_step(number, MODULES, _interrupt, partial(_scan, reports, added)):
                    break
            counted = _known(reports)
        with open_to_read(folder) as on_disk:
            known = _known(on_disk)
        assert counted == known, "what is counted is not lost"
        assert known >= set(added), "what has come has landed"
        with open_to_scan(folder, head(4), anew=False) as again:
            again.land([OUTCOMES[path] for path in "abcd" if path not in known])
            again.finish("abcd")
        with open_to_read(folder) as on_disk:
            assert (on_disk.is_whole, _known(on_disk)) == (True, set("abcd"))
    assert number > 100


def test_a_second_interrupt_leaves_all_or_nothing(tmp_path: Path) -> None:
    """Reports that do not land because of the interrupt are not counted."""
    for number, further in product(range(0, 60, 14), range(0, 60, 7)):
        folder = str(tmp_path / f"{number}-{further}")
        with open_to_scan(folder, head(2), anew=False) as reports:
            landing = Landing(reports)
            landing.add(OUTCOMES[path] for path in "ab")
            for step in (number, further):
                with contextlib.suppress(KeyboardInterrupt):
                    at_step(step, MODULES, _interrupt, landing.land)
        with open_to_read(folder) as on_disk:
            assert _known(on_disk) in ({"a", "b"}, set())
