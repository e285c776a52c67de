# SPDX-License-Identifier: Apache-2.0
"""Lints many files, in this process or in several."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence

from onnx_lint.cli.lint_one import Task, lint_one
from onnx_lint.report import FileReport


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
