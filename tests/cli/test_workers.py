# SPDX-License-Identifier: Apache-2.0
"""What several processes tell of many files when one of them ends, or one of the files is slow."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from onnx_lint.cli import workers
from onnx_lint.cli.lint_one import Task
from onnx_lint.common.model_limits import NO_LIMITS, ModelLimits, resident
from onnx_lint.engine.settings import Settings
from onnx_lint.report import OWN_ERRORS, FileReport, InternalError

PATIENCE_SECONDS: Final = 60
COUNT: Final = 300
UNNAMED_SIGNAL: Final = getattr(signal, "SIGRTMIN", 34) + 1
Judge = Callable[[Task], FileReport]

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="what is put in place of linting goes with a fork"
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """The file to which each process adds what it began."""
    return tmp_path / "log"


@pytest.fixture
def linting(log: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Judge], None]:
    """Puts something quick in place of linting, and writes down what was begun."""

    def put(judge: Judge) -> None:
        def lint_one(task: Task) -> FileReport:
            with log.open("a") as file:
                file.write(f"{task.path}\n")
            return judge(task)

        monkeypatch.setattr(workers, "lint_one", lint_one)
        monkeypatch.setattr(workers, "_context", lambda _: multiprocessing.get_context("fork"))

    return put


def _reports(count: int = 2, limits: ModelLimits = NO_LIMITS) -> list[FileReport]:
    """The reports on files that are named by their numbers, in their order."""
    settings = Settings()
    tasks = [Task(str(number), settings) for number in range(COUNT)]
    found = dict(workers.in_workers(tasks, range(COUNT), count, limits))
    assert sorted(found) == list(range(COUNT))
    return [found[number] for number in range(COUNT)]


def _report(task: Task) -> FileReport:
    return FileReport(task.path, int(task.path))


def _ended(path: str, how: str) -> FileReport:
    error = InternalError(OWN_ERRORS, f"the process that linted the file ended {how}", "")
    return FileReport(path, 0, internal_errors=(error,))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_each_file_is_linted_once(log: Path, linting: Callable[[Judge], None], count: int):
    linting(_report)
    assert _reports(count) == [FileReport(str(number), number) for number in range(COUNT)]
    assert sorted(map(int, log.read_text().split())) == list(range(COUNT))


def test_a_file_that_ends_its_worker_takes_no_other_with_it(log: Path, linting: Callable[[Judge], None]):
    """Neither those that the worker has done, nor those that it was told of: these are linted by another."""

    def judge(task: Task) -> FileReport:
        if task.path in ("0", "100", "299"):
            os._exit(7)
        if task.path in ("101", "200"):
            os.kill(os.getpid(), signal.SIGKILL)
        if task.path == "150":
            os.kill(os.getpid(), UNNAMED_SIGNAL)
        return _report(task)

    linting(judge)
    expected = [FileReport(str(number), number) for number in range(COUNT)]
    for number, how in {0: "with exit code 7", 100: "with exit code 7", 101: "by signal SIGKILL"}.items():
        expected[number] = _ended(str(number), how)
    expected[150] = _ended("150", f"by signal {UNNAMED_SIGNAL}")
    expected[200], expected[299] = _ended("200", "by signal SIGKILL"), _ended("299", "with exit code 7")
    assert _reports() == expected
    assert sorted(map(int, log.read_text().split())) == list(range(COUNT))


def _given_up(path: str, words: str) -> FileReport:
    return FileReport(path, 0, unreadable=f"{path}: {words}")


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_file_that_takes_too_long_is_given_up(log: Path, linting: Callable[[Judge], None], count: int):
    """No other one is: the files that its worker had been given are linted by another."""
    endless = ("0", "1", "150", "299")

    def judge(task: Task) -> FileReport:
        if task.path in endless:
            time.sleep(PATIENCE_SECONDS)
        return _report(task)

    linting(judge)
    expected = [FileReport(str(number), number) for number in range(COUNT)]
    for path in endless:
        expected[int(path)] = _given_up(path, "the model took longer than 3 seconds (option --time-limit)")
    assert _reports(count, ModelLimits(seconds=3)) == expected
    assert sorted(map(int, log.read_text().split())) == list(range(COUNT))


@pytest.mark.skipif(not resident(os.getpid()), reason="the system does not tell how much memory a process takes up")
def test_a_file_that_takes_too_much_memory_is_given_up(linting: Callable[[Judge], None]):
    most = resident(os.getpid()) // 1_000_000 + 200

    def judge(task: Task) -> FileReport:
        if task.path == "100":
            hoard = [bytearray(b"x" * 10_000_000) for _ in range(60)]
            time.sleep(PATIENCE_SECONDS)
            del hoard
        return _report(task)

    linting(judge)
    expected = [FileReport(str(number), number) for number in range(COUNT)]
    expected[100] = _given_up("100", f"the model took more than {most:,} MB of memory (option --memory-limit)")
    assert _reports(2, ModelLimits(megabytes=most)) == expected


def test_a_file_that_is_done_when_its_worker_is_ended_is_not_blamed(linting: Callable[[Judge], None]):
    """Nor is the one behind it: it is linted again."""
    linting(_report)
    settings = Settings()
    tasks = [Task(str(number), settings) for number in range(2)]

    class Process:
        exitcode = -9

        def join(self) -> None: ...

    mine, theirs = multiprocessing.Pipe()
    worker = workers._Worker(Process(), mine, tasks)  # type: ignore[arg-type]  # of which only this is asked
    worker.ahead.extend((0, 1))
    worker._given_up = 0, "it took too long"
    theirs.send_bytes(pickle.dumps((1.0, _report(tasks[0]))))
    theirs.close()
    assert worker.answers() == [(0, _report(tasks[0]))]
    assert worker.answers() == []
    assert (worker.has_ended, list(worker.ahead)) == (True, [1])


def test_a_slow_file_holds_back_only_what_its_worker_was_told_of(log: Path, linting: Callable[[Judge], None]):
    """The first file ends only when the other worker has done all the rest."""

    def judge(task: Task) -> FileReport:
        if task.path == "0":
            end = time.monotonic() + PATIENCE_SECONDS
            while len(log.read_text().split()) < COUNT:
                assert time.monotonic() < end
                time.sleep(0.01)
        return _report(task)

    linting(judge)
    assert _reports() == [FileReport(str(number), number) for number in range(COUNT)]


def test_slow_files_are_handed_out_one_at_a_time(linting: Callable[[Judge], None], monkeypatch: pytest.MonkeyPatch):
    """Each takes longer than a worker is to have work ahead for, so none waits behind another."""
    linting(_report)
    monkeypatch.setattr(workers, "_SECONDS_AHEAD", 0)
    chunks: list[int] = []
    assign = workers._Worker.assign

    def watched(worker: workers._Worker, *arguments: object) -> None:
        before = len(worker.ahead)
        assign(worker, *arguments)  # type: ignore[arg-type]  # which only passes
        chunks.append(len(worker.ahead) - before)
        assert len(worker.ahead) <= 1

    monkeypatch.setattr(workers._Worker, "assign", watched)
    _reports()
    assert sum(chunks) == COUNT


def test_quick_files_are_handed_out_many_at_a_time(linting: Callable[[Judge], None], monkeypatch: pytest.MonkeyPatch):
    linting(_report)
    ahead: list[int] = []
    assign = workers._Worker.assign

    def watched(worker: workers._Worker, *arguments: object) -> None:
        assign(worker, *arguments)  # type: ignore[arg-type]  # which only passes
        ahead.append(len(worker.ahead))

    monkeypatch.setattr(workers._Worker, "assign", watched)
    _reports()
    assert 8 <= max(ahead) <= COUNT // 4


def test_workers_have_what_nearly_any_model_needs():
    """And not what few models need."""
    code = "; ".join(
        (
            "import sys; from onnx_lint.cli.workers import _prepare; from onnx_lint.engine.settings import Settings",
            "_prepare(Settings())",
            "print([f'onnx_lint.rules.{rule}' in sys.modules for rule in sys.argv[1:]])",
        )
    )
    rules = ("name.non_c90_name", "external_data.missing_external_file")
    done = subprocess.run([sys.executable, "-c", code, *rules], capture_output=True, text=True, check=True)
    assert done.stdout == "[True, False]\n"
