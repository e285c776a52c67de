# SPDX-License-Identifier: Apache-2.0
"""The worker processes that lint many files."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.model_limits import NO_LIMITS, ModelLimits
from onnx_lint.common.watched_process import Answered, Ended, ProcessPool, WatchedProcess
from onnx_lint.engine.lint import import_usual_rules
from onnx_lint.report.file_report import OWN_ERRORS, FileReport, InternalError
from onnx_lint.tasks.lint_one import Task, is_opened_ahead, lint_one, opening_of

if TYPE_CHECKING:
    from onnx_lint.input.source import Source
    from onnx_lint.remote.ahead import Ahead

_STARTS: Final = 3
"""The number of times to start a process that is killed before it is ready. No job is to blame for that."""

_FILES_AHEAD: Final = 2
"""How many files a process has while many wait: the one that it lints, and the next one, so that it is never idle.

If there are models in stores, it has as many as it opens at a time.
"""


def in_workers(
    tasks: Sequence[Task], indices: Sequence[int], count: int, limits: ModelLimits = NO_LIMITS
) -> Generator[tuple[int, FileReport], None, None]:
    """Yield the reports of the tasks at `indices` as they arrive, each with its index. `count` processes lint."""
    # All tasks are sent at once, so that equal settings are one object in the process: the rules are not selected
    # again for each file (docs/performance.md: selection-kept).
    pool = ProcessPool(partial(prepared, tasks), limits)
    try:
        for event in run_jobs(pool, deque(indices), count, files_ahead(tasks[index] for index in indices)):
            if isinstance(event, Answered):
                yield event.job, event.result
            else:
                yield event.job, report_of_end(tasks[event.job], event.words, event.is_limit)
    finally:
        pool.close_all()


def files_ahead(tasks: Iterable[Task]) -> int:
    """Return how many of these files a process has at a time."""
    if not any(map(is_opened_ahead, tasks)):
        return _FILES_AHEAD
    from onnx_lint.remote.ahead import AHEAD

    return AHEAD


def run_jobs(
    pool: ProcessPool, jobs: deque[Any], count: int, most_ahead: int, *, tries: int = 1, end: float = math.inf
) -> Generator[Answered | Ended, None, None]:
    """Yield how each job ended, in `count` processes of the pool: its answer, or what it did to its process.

    A job that ends its process is done again until it had `tries`. After the time `end`, no more jobs are begun.
    Precondition: there are at least `count` jobs.
    """
    _start_processes(pool, count)
    for process in pool.processes:
        process.give(jobs.popleft())
    blame = _Blame(tries)
    while any(process.jobs for process in pool.processes):
        process, event = pool.wait()
        if isinstance(event, Answered):
            if time.monotonic() < end:
                # Near the end, fewer: the processes that are idle first take the rest.
                _give(process, jobs, max(1, min(most_ahead, len(jobs) // (2 * count))))
            yield event
        elif isinstance(event, Ended):
            left = list(process.jobs)
            pool.close(process)
            is_done = blame.gives_up(event)
            jobs.extendleft(reversed(left[1:] if is_done else left))
            if jobs:
                _give(pool.start(), jobs, 1)  # until its first answer, as that may take long
            if is_done:
                yield event


def _start_processes(pool: ProcessPool, count: int) -> None:
    """Start processes until `count` of them run."""
    for process in [each for each in pool.processes if not each.is_running]:
        pool.close(process)
    while len(pool.processes) < count:
        pool.start()


def _give(process: WatchedProcess, jobs: deque[Any], most: int) -> None:
    """Give the process jobs until it has `most`."""
    while jobs and len(process.jobs) < most:
        process.give(jobs.popleft())


class _Blame:
    """Decides which jobs are to blame for the ends of their processes."""

    def __init__(self, tries: int) -> None:
        self._tries = tries
        self._restarts = _STARTS
        self._ends: Counter[Any] = Counter()

    def gives_up(self, event: Ended) -> bool:
        """Return whether to report the job that ended its process, instead of doing it again; false without a job."""
        if not event.was_ready and event.code < 0 and self._restarts:  # a signal before it was ready blames no job
            self._restarts -= 1
            return False
        if event.job is None:
            return False
        self._ends[event.job] += 1
        return event.is_limit or not event.was_ready or self._ends[event.job] >= self._tries


def report_of_end(task: Task, words: str, is_limit: bool) -> FileReport:
    """Return the report of a file that ended its process, or exceeded a limit. `words`: as in `Ended`."""
    path = task.reported_path
    if is_limit:
        return FileReport(path, 0, unreadable=f"{path}: {words}")
    error = InternalError(OWN_ERRORS, f"the process that linted the file ended {words}", "")
    return FileReport(path, 0, internal_errors=(error,))


def prepared(tasks: Sequence[Task]) -> Callable[[int], FileReport]:
    """Prepare this process; return the function that lints the file of a task, by its index."""
    import_usual_rules(tasks[0].settings)
    return Linter(tasks)


class Linter:
    """Lints the files of tasks. Models in stores are opened before their turn."""

    def __init__(self, tasks: Sequence[Task] | Mapping[int, Task]) -> None:
        self._tasks = tasks
        self._ahead: Ahead | None = None

    def expect(self, index: int) -> None:
        """Begin to open the model of a task if it is in a store."""
        task = self._tasks[index]
        if is_opened_ahead(task):
            if self._ahead is None:
                from onnx_lint.remote.ahead import Ahead

                self._ahead = Ahead()
            self._ahead.begin(index, opening_of(task))

    def opening(self, index: int) -> Callable[[], Source] | None:
        """Return the function that returns the source of a task; None if `expect` was not called for it."""
        return self._ahead.take(index) if self._ahead is not None else None

    def __call__(self, index: int) -> FileReport:
        """Return the report of a task."""
        return lint_one(self._tasks[index], self.opening(index))
