# SPDX-License-Identifier: Apache-2.0
"""The reports of several processes when one of them ends, or when one of the files is slow."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest
from support.processes import stand_ins
from support.processes.stand_ins import UNNAMED_SIGNAL, Judge

from onnx_lint.common.exit_status import KILLED
from onnx_lint.common.model_limits import NO_LIMITS, ModelLimits, resident
from onnx_lint.common.watched_process import Answered, Ended, ProcessPool, WatchedProcess
from onnx_lint.engine.settings import Settings
from onnx_lint.report.file_report import OWN_ERRORS, FileReport, InternalError
from onnx_lint.tasks import workers
from onnx_lint.tasks.lint_one import Task

COUNT: Final = 300
NUMBERED: Final = [FileReport(str(number), number) for number in range(COUNT)]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes end by signals")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The file that each process adds the started jobs to."""
    return tmp_path / "log"


@pytest.fixture
def linting(log: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Judge], None]:
    """Replaces linting with something fast, and records the started jobs."""

    def put(judge: Judge) -> None:
        monkeypatch.setattr(workers, "prepared", partial(stand_ins.judging, judge, log))

    return put


def _reports(count: int = 2, limits: ModelLimits = NO_LIMITS) -> list[FileReport]:
    """The reports on files that are named by their numbers, in their order."""
    settings = Settings()
    tasks = [Task(str(number), settings) for number in range(COUNT)]
    found = dict(workers.in_workers(tasks, range(COUNT), count, limits))
    assert sorted(found) == list(range(COUNT))
    return [found[number] for number in range(COUNT)]


def _ended(path: str, how: str) -> FileReport:
    error = InternalError(OWN_ERRORS, f"the process that linted the file ended {how}", "")
    return FileReport(path, 0, internal_errors=(error,))


def _given_up(path: str, words: str) -> FileReport:
    return FileReport(path, 0, unreadable=f"{path}: {words}")


@pytest.mark.parametrize("count", [1, 3])
def test_each_file_is_linted_once(log: Path, linting: Callable[[Judge], None], count: int):
    linting(stand_ins.number)
    assert _reports(count) == NUMBERED
    assert sorted(map(int, log.read_text().split())) == list(range(COUNT))


def test_a_file_that_ends_its_worker_takes_no_other_with_it(log: Path, linting: Callable[[Judge], None]):
    """Neither files that the worker has finished, nor files that wait for it: another worker lints these."""
    linting(stand_ins.ending)
    expected = list(NUMBERED)
    for number, how in {0: "with exit code 7", 100: "with exit code 7", 101: KILLED}.items():
        expected[number] = _ended(str(number), how)
    expected[150] = _ended("150", f"by signal {UNNAMED_SIGNAL}")
    expected[200], expected[299] = _ended("200", KILLED), _ended("299", "with exit code 7")
    assert _reports() == expected
    assert sorted(map(int, log.read_text().split())) == list(range(COUNT))


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_a_file_that_takes_too_long_is_given_up(
    log: Path, linting: Callable[[Judge], None], count: int, monkeypatch: pytest.MonkeyPatch
):
    """No other one is: the files that its worker had been given are linted by another."""
    original = WatchedProcess.end_beyond

    def end_beyond(self: WatchedProcess, *arguments: Any) -> None:
        if self.jobs and self.jobs[0] in stand_ins.ENDLESS:  # other programs may hold up any file for as long
            original(self, *arguments)

    monkeypatch.setattr(WatchedProcess, "end_beyond", end_beyond)
    linting(stand_ins.endless)
    expected = list(NUMBERED)
    for number in stand_ins.ENDLESS:
        expected[number] = _given_up(str(number), "the model took longer than 0.1 seconds (option --time-limit)")
    assert _reports(count, ModelLimits(seconds=0.1)) == expected
    assert sorted(map(int, log.read_text().split())) == list(range(COUNT))


@pytest.mark.slow
@pytest.mark.skipif(not resident(os.getpid()), reason="the system does not report the memory of a process")
def test_a_file_that_takes_too_much_memory_is_given_up(linting: Callable[[Judge], None]):
    linting(stand_ins.hoarding)
    expected = list(NUMBERED)
    expected[100] = _given_up("100", "the model took more than 400 MB of memory (option --limit memory)")
    assert _reports(2, ModelLimits(memory=400_000_000)) == expected


def test_a_file_that_is_done_when_its_worker_is_ended_is_not_blamed(log: Path):
    """Nor is the one behind it: it is linted again."""
    tasks = [Task(str(number), Settings()) for number in range(2)]
    pool = ProcessPool(partial(stand_ins.judging, stand_ins.number, log, tasks))
    process = pool.start()
    pool.wait()
    process.give(0)
    found = pool._messages.get()  # the answer has come, and nobody has looked at it
    process.give(1)
    process._exceeded = process._answers, "it took too long"
    process._process.kill()
    assert process.handle(found[1]) == Answered(0, NUMBERED[0])
    while isinstance(event := process.handle(pool._messages.get()[1]), Answered):
        process.jobs.append(1)
    assert isinstance(event, Ended)
    assert (event.job, list(process.jobs)) == (None, [1])
    pool.close_all()


def test_a_process_that_is_killed_before_it_is_ready_blames_no_file(log: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers, "prepared", partial(stand_ins.killed, log))
    assert _reports(1) == NUMBERED


def test_processes_that_do_not_become_ready_have_each_file_say_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers, "prepared", stand_ins.unprepared)
    tasks = [Task(str(number), Settings()) for number in range(3)]
    found = dict(workers.in_workers(tasks, range(3), 2))
    assert found == {number: _ended(str(number), "with exit code 1") for number in range(3)}


class _Gone:
    """What a process is sent after the module with it was removed."""

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, ("onnx_lint.no_longer_there",)


def test_a_process_whose_modules_are_gone_ends():
    pool = ProcessPool(_Gone())  # type: ignore[arg-type] # it has no call, as it never arrives
    try:
        pool.start()
        _, event = pool.wait()
        assert isinstance(event, Ended)
        assert (event.code, event.was_ready) == (1, False)
    finally:
        pool.close_all()


def test_a_slow_file_holds_back_only_what_its_worker_was_told_of(log: Path, linting: Callable[[Judge], None]):
    """The first file ends only when the other worker has begun all the rest."""
    linting(stand_ins.waiting)
    assert _reports() == NUMBERED


def test_a_process_has_few_files_ahead(linting: Callable[[Judge], None], monkeypatch: pytest.MonkeyPatch):
    """So that few wait behind one that takes long, and none at the end."""
    linting(stand_ins.number)
    ahead: list[int] = []
    give = WatchedProcess.give

    def watched(process: WatchedProcess, job: Any) -> None:
        give(process, job)
        ahead.append(len(process.jobs))

    monkeypatch.setattr(WatchedProcess, "give", watched)
    _reports()
    assert (max(ahead), ahead[-1]) == (2, 1)


def test_workers_have_what_nearly_any_model_needs():
    """And not what few models need."""
    code = "; ".join(
        (
            "import sys; from onnx_lint.tasks.workers import prepared; from onnx_lint.tasks.lint_one import Task",
            "from onnx_lint.engine.settings import Settings; prepared([Task('a', Settings())])",
            "print([f'onnx_lint.rules.{rule}' in sys.modules for rule in sys.argv[1:]])",
        )
    )
    rules = ("name.non_c90_name", "external_data.missing_external_file")
    done = subprocess.run([sys.executable, "-c", code, *rules], capture_output=True, text=True, check=True)
    assert done.stdout == "[True, False]\n"
