# SPDX-License-Identifier: Apache-2.0
"""Replacements of linting in processes. Each process that a test starts imports them from here."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from onnx_lint.report.file_report import FileReport
from onnx_lint.tasks.lint_one import Task

PATIENCE_SECONDS: Final = 600
"""Far longer than any test takes, on a busy machine too; nobody waits for it."""
UNNAMED_SIGNAL: Final = getattr(signal, "SIGRTMIN", 34) + 1
Judge = Callable[[Task, Path], FileReport]


def judging(judge: Judge, log: Path, tasks: Sequence[Task]) -> Callable[[int], FileReport]:
    """Return what judges the file of a task, by its index, and adds the path to the log before."""

    def lint(index: int) -> FileReport:
        with log.open("a") as file:
            file.write(f"{tasks[index].path}\n")
        return judge(tasks[index], log)

    return lint


def number(task: Task, log: Path) -> FileReport:
    """The report of a file that is named by its size."""
    return FileReport(task.path, int(task.path))


def sleeping(task: Task, log: Path) -> FileReport:
    """Take long with each file."""
    time.sleep(PATIENCE_SECONDS)
    return FileReport(task.path, 0)


def ending(task: Task, log: Path) -> FileReport:
    """End the process in some files."""
    if task.path in ("0", "100", "299"):
        os._exit(7)
    if task.path in ("101", "200"):
        os.kill(os.getpid(), signal.SIGKILL)
    if task.path == "150":
        os.kill(os.getpid(), UNNAMED_SIGNAL)
    return number(task, log)


ENDLESS = (0, 1, 150, 299)
"""The files that are never done, in `endless`."""


def endless(task: Task, log: Path) -> FileReport:
    """Take long with some files."""
    return sleeping(task, log) if int(task.path) in ENDLESS else number(task, log)


def hoarding(task: Task, log: Path) -> FileReport:
    """Take much memory with one file."""
    if task.path == "100":
        hoard = [bytearray(b"x" * 10_000_000) for _ in range(60)]
        time.sleep(PATIENCE_SECONDS)
        del hoard
    return number(task, log)


def waiting(task: Task, log: Path) -> FileReport:
    """Wait in the first file until all others were begun."""
    if task.path == "0":
        end = time.monotonic() + PATIENCE_SECONDS
        while len(log.read_text().split()) < 300:
            assert time.monotonic() < end
            time.sleep(0.01)
    return number(task, log)


def unprepared(tasks: Sequence[Task]) -> Callable[[int], FileReport]:
    """End the process by itself before it is ready."""
    raise RuntimeError("no room")


def killed(log: Path, tasks: Sequence[Task]) -> Callable[[int], FileReport]:
    """Kill each process but the fourth one before it is ready."""
    with log.open("a") as file:
        file.write("x")
    if log.stat().st_size < 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return lambda index: FileReport(tasks[index].path, int(tasks[index].path))
