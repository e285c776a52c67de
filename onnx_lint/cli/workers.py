# SPDX-License-Identifier: Apache-2.0
"""The worker processes that lint many files."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from onnx_lint.cli.lint_one import Task, is_opened_ahead, lint_one
from onnx_lint.common.model_limits import NO_LIMITS, ModelLimits
from onnx_lint.common.watched_process import STARTS, Answered, Ended, ProcessPool, Ready
from onnx_lint.engine.lint import import_usual_rules
from onnx_lint.report import OWN_ERRORS, FileReport, InternalError

if TYPE_CHECKING:
    from onnx_lint.remote.ahead import Ahead

_FILES_AHEAD: Final = 2
"""How many files a process has while many wait: the one that it lints, and the next one, so that it is never idle.

If there are models in stores, it has as many as it opens at a time.
"""


def in_workers(
    tasks: Sequence[Task], indices: Sequence[int], count: int, limits: ModelLimits = NO_LIMITS
) -> Generator[tuple[int, FileReport], None, None]:
    """Yield the reports of the tasks at `indices` as they arrive, each with its index. `count` processes lint."""
    waiting = deque(indices)
    most_ahead = _FILES_AHEAD
    if any(is_opened_ahead(tasks[index]) for index in indices):
        from onnx_lint.remote.ahead import AHEAD

        most_ahead = AHEAD
    missing = len(waiting)
    # All tasks are sent at once, so that equal settings are one object in the process: the rules are not selected
    # again for each file (docs/performance.md: selection-kept).
    pool = ProcessPool(partial(prepared, tasks), limits)
    restarts = STARTS
    try:
        for _ in range(count):
            pool.start().give(waiting.popleft())
        while missing:
            found = pool.wait()
            assert found is not None
            process, event = found
            done: tuple[int, FileReport] | None = None
            ahead = max(1, min(most_ahead, len(waiting) // (2 * count)))
            if isinstance(event, Answered):
                done = event.job, event.result
            elif isinstance(event, Ended):
                left = list(process.jobs)
                pool.close(process)
                if not process.is_ready and event.code < 0 and restarts:
                    restarts -= 1
                elif event.job is not None:
                    done = event.job, _report_of(left.pop(0), tasks, event)
                waiting.extendleft(reversed(left))
                process = pool.start() if waiting else process
                ahead = 1  # until its first answer, as that may take long
            while waiting and len(process.jobs) < ahead and not isinstance(event, Ready):
                process.give(waiting.popleft())
            if done is not None:
                missing -= 1
                yield done
    finally:
        pool.close_all()


def _report_of(index: int, tasks: Sequence[Task], event: Ended) -> FileReport:
    """Return the report of a file that ended its process, or exceeded a limit."""
    path = tasks[index].name or tasks[index].path
    if event.is_limit:
        return FileReport(path, 0, unreadable=f"{path}: {event.words}")
    return FileReport(path, 0, internal_errors=(InternalError(OWN_ERRORS, event.words, ""),))


def prepared(tasks: Sequence[Task]) -> Callable[[int], FileReport]:
    """Prepare this process; return the function that lints the file of a task, by the index of that."""
    import_usual_rules(tasks[0].settings)
    return _Linter(tasks)


class _Linter:
    """Lints the files of tasks. Models in stores are opened before their turn."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self._ahead: Ahead | None = None

    def expect(self, index: int) -> None:
        """Begin to open the model of a task if it is in a store."""
        task = self._tasks[index]
        if is_opened_ahead(task):
            if self._ahead is None:
                from onnx_lint.remote.ahead import Ahead

                self._ahead = Ahead()
            self._ahead.begin(index, task.path, task.settings)

    def __call__(self, index: int) -> FileReport:
        return lint_one(self._tasks[index], self._ahead.take(index) if self._ahead is not None else None)
