# SPDX-License-Identifier: Apache-2.0
"""Lints many files, in this process or in several."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.record import Record
from onnx_lint.report import FileReport, InternalError

if TYPE_CHECKING:
    from onnx_lint.selection import Settings


class Task(Record):
    """A file to lint, and how; or a path that leads to none, and why."""

    path: str
    settings: Settings
    problem: str | None = None


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def lint_all(tasks: Sequence[Task], jobs: int, on_done: Callable[[str], None]) -> list[FileReport]:
    """The reports of all tasks in their order, made by up to `jobs` processes.

    `on_done` is called with the path of each file when its report is there.
    """
    here = [index for index, task in enumerate(tasks) if task.path == "-" or task.problem is not None]
    kept = set(here)
    elsewhere = [index for index in range(len(tasks)) if index not in kept]
    workers = min(jobs, len(elsewhere))
    if workers <= 1:
        here, elsewhere = list(range(len(tasks))), []
    reports: dict[int, FileReport] = {}
    for index in here:
        reports[index] = lint_one(tasks[index])
        on_done(tasks[index].path)
    if elsewhere:
        from onnx_lint.cli.workers import in_workers

        with contextlib.closing(in_workers(tasks, elsewhere, workers)) as done:
            for index, report in done:
                reports[index] = report
                on_done(tasks[index].path)
    return [reports[index] for index in range(len(tasks))]


def lint_one(task: Task) -> FileReport:
    """The report of one task. A bug outside the rules is an internal error of that file."""
    from onnx_lint.engine import lint_file

    _let_go()
    if task.problem is not None:
        return FileReport(task.path, 0, unreadable=task.problem)
    try:
        return lint_file(task.path, task.settings)
    except Exception as error:
        return FileReport(task.path, 0, internal_errors=(InternalError.of(error),))


_MANY_OBJECTS: Final = 50_000
"""Of so many new ones enough are garbage for a look: a thousand nodes have a quarter of them."""


def _let_go() -> None:
    """Give back the memory of the files before, where the program holds the garbage collector to its end.

    The last file's memory goes with the process, which takes a tenth of the time that it takes to give it back object
    by object.
    """
    if not gc.isenabled() and gc.get_count()[0] > _MANY_OBJECTS:
        gc.collect(0)  # what is older belongs to the program
