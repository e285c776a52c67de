# SPDX-License-Identifier: Apache-2.0
"""Lints many files, in this process or in several."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Sequence

from onnx_lint.cli.lint_one import Task, lint_one
from onnx_lint.report import FileReport


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def lint_each(
    tasks: Sequence[Task], jobs: int, done: dict[int, FileReport], on_done: Callable[[str], None]
) -> Generator[int, None, None]:
    """The indices of all tasks in their order, each as soon as its report is in `done`, made by up to `jobs` processes.

    `on_done` is called with the path of each file when its report is there, which may be before its turn.
    """
    here = [index for index, task in enumerate(tasks) if task.path == "-" or task.problem is not None]
    kept = set(here)
    elsewhere = [index for index in range(len(tasks)) if index not in kept]
    workers = min(jobs, len(elsewhere))
    if workers <= 1:
        for index, task in enumerate(tasks):
            done[index] = lint_one(task)
            on_done(task.name or task.path)
            yield index
        return
    for index in here:
        done[index] = lint_one(tasks[index])
        on_done(tasks[index].name or tasks[index].path)
    from onnx_lint.cli.workers import in_workers

    turn = 0
    with contextlib.closing(in_workers(tasks, elsewhere, workers)) as reports:
        for index, report in reports:
            done[index] = report
            on_done(tasks[index].name or tasks[index].path)
            while turn in done:
                yield turn
                turn += 1
    yield from range(turn, len(tasks))
