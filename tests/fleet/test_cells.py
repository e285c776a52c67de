# SPDX-License-Identifier: Apache-2.0
"""The process that lints models, when it ends before it is ready: `python -m pytest -m fleet`."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.models.clean_model import CLEAN

from onnx_lint.common.model_limits import ModelLimits
from onnx_lint.engine.settings import Settings
from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.jobs import Job, Outcome

pytestmark = pytest.mark.fleet

UNNAMED_SIGNAL = getattr(signal, "SIGRTMIN", 34) + 1

Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    path = tmp_path / "clean.textproto"
    path.write_text(CLEAN)
    settings = pickle.dumps(Settings())
    identity = {"size": 3, "version": "1", "settings": "0"}
    return Job(str(path), str(path), identity, settings, settings, 1)


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Callable[[Start], list[None]]:
    """Puts something in place of the start of a process, and counts the starts."""

    def put(start: Start) -> list[None]:
        from onnx_lint.common import watched_process

        made: list[None] = []

        def counted(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
            made.append(None)
            return start(len(made), command, **options)

        monkeypatch.setattr(watched_process.subprocess, "Popen", counted)
        return made

    return put


def _killed_until(last: int, signal_number: int = signal.SIGKILL) -> Start:
    popen = subprocess.Popen

    def start(number: int, command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        process = popen(command, **options)
        if number <= last:
            process.send_signal(signal_number)
        return process

    return start


def _lint(job: Job) -> object:
    from onnx_lint.fleet.cells import LintProcess

    cell = LintProcess()
    try:
        return next(cell.lint(iter([job]), ModelLimits(300, 4 << 30)))
    finally:
        cell.close()


def test_a_process_that_is_killed_before_it_is_ready_is_started_again(
    job: Job, starts: Callable[[Start], list[None]]
) -> None:
    made = starts(_killed_until(2))
    found = _lint(job)
    assert isinstance(found, Outcome)
    assert found.settled
    assert len(made) == 3


@pytest.mark.parametrize(("number", "name"), [(signal.SIGKILL, "SIGKILL"), (UNNAMED_SIGNAL, str(UNNAMED_SIGNAL))])
def test_a_machine_that_kills_each_of_them_is_told(
    job: Job, starts: Callable[[Start], list[None]], number: int, name: str
) -> None:
    made = starts(_killed_until(99, number))
    with pytest.raises(FleetError, match=f"cannot start the process that lints: it ended by signal {name}$"):
        _lint(job)
    assert len(made) == 3


def test_a_process_that_ends_by_itself_is_started_once(job: Job, starts: Callable[[Start], list[None]]) -> None:
    popen = subprocess.Popen
    made = starts(lambda _, command, **options: popen([sys.executable, "-c", "raise SystemExit('no room')"], **options))
    with pytest.raises(FleetError, match="cannot start the process that lints: no room"):
        _lint(job)
    assert len(made) == 1
