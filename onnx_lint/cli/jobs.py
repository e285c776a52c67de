# SPDX-License-Identifier: Apache-2.0
"""Lints many files, in this process or in several."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Sequence

from onnx_lint.cli.lint_one import Task, lint_one
from onnx_lint.common.model_limits import NO_LIMITS, ModelLimits
from onnx_lint.input.locations import is_remote
from onnx_lint.report import FileReport

_LEAST_BYTES = 1 << 16
"""For how many bytes a file counts that is smaller: what it takes to lint one at all."""

_BYTES_OF_A_WORKER = 128 * _LEAST_BYTES
"""How much is to do before another process is worth its start."""


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worthwhile_jobs(tasks: Sequence[Task], most: int) -> int:
    """How many processes there is enough to do for, by the sizes of the files: at most so many, at least one."""
    work = 0
    for task in tasks:
        work += max(_size(task.path), _LEAST_BYTES)
        if work >= most * _BYTES_OF_A_WORKER:
            return most
    return max(work // _BYTES_OF_A_WORKER, 1)


def _size(path: str) -> int:
    if is_remote(path):
        return _BYTES_OF_A_WORKER // 2  # it is waited for most of the time
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0  # that it cannot be read takes no time


def lint_each(
    tasks: Sequence[Task],
    jobs: int,
    done: dict[int, FileReport],
    on_done: Callable[[str], None],
    limits: ModelLimits = NO_LIMITS,
) -> Generator[int, None, None]:
    """The indices of all tasks in their order, each as soon as its report is in `done`, made by up to `jobs` processes.

    With 0 for `jobs` these are as many as this process has processors, and as there is enough to do for. `on_done` is
    called with the path of each file when its report is there, which may be before its turn. Under `limits` each file
    but standard input is linted in another process, which can be ended.
    """
    here = [index for index, task in enumerate(tasks) if task.path == "-" or task.problem is not None]
    kept = set(here)
    elsewhere = [index for index in range(len(tasks)) if index not in kept]
    workers = min(jobs or worthwhile_jobs([tasks[index] for index in elsewhere], processors()), len(elsewhere))
    if workers <= 1 and not (limits.are_any and elsewhere):
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
    with contextlib.closing(in_workers(tasks, elsewhere, workers, limits)) as reports:
        for index, report in reports:
            done[index] = report
            on_done(tasks[index].name or tasks[index].path)
            while turn in done:
                yield turn
                turn += 1
    yield from range(turn, len(tasks))
