# SPDX-License-Identifier: Apache-2.0
"""Lints many files, in this process or in several."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.common.model_limits import NO_LIMITS, ModelLimits
from onnx_lint.common.record import replace
from onnx_lint.input.locations import is_remote
from onnx_lint.report.file_report import FileReport
from onnx_lint.tasks.lint_one import Task, check_of, is_opened_ahead, lint_one, opening_of

if TYPE_CHECKING:
    from onnx_lint.input.source import Source

_LEAST_BYTES = 1 << 12
"""The size to assume for smaller files. It represents the fixed cost of linting a file."""

_DENSE_BYTES = 1 << 18
"""The bytes beyond this count as an eighth of them: most of these are weights, which take little time."""

_WORK_OF_A_PROCESS = 320 * _LEAST_BYTES
"""The bytes that make it worth starting another process. Measured: two processes are as fast as one if each has three
quarters of this."""

_MODELS_OF_A_WORKER = 32
"""The models in stores that make it worth starting another process. One process waits for this many at a time."""


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worthwhile_jobs(tasks: Sequence[Task], most: int) -> int:
    """Return for how many processes there is enough work, by the sizes of the files: from 1 to `most`."""
    work = 0
    for task in tasks:
        work += _work(task.path)
        if work >= most * _WORK_OF_A_PROCESS:
            return most
    return max(work // _WORK_OF_A_PROCESS, 1)


def _work(path: str) -> int:
    if is_remote(path):
        return _WORK_OF_A_PROCESS // _MODELS_OF_A_WORKER
    try:
        size = os.stat(path).st_size
    except (OSError, ValueError):
        size = 0  # reporting that it cannot be read takes no time
    return max(_LEAST_BYTES, min(size, _DENSE_BYTES) + max(size - _DENSE_BYTES, 0) // 8)


class Linting:
    """The lint of many files, in this process, in others or on a cluster."""

    def __init__(
        self,
        tasks: Sequence[Task],
        jobs: int,
        on_done: Callable[[str], None] = lambda _: None,
        limits: ModelLimits = NO_LIMITS,
        cluster: str | None = None,
    ) -> None:
        """`jobs`: the number of processes; 0 for as many as there are processors and enough work for.

        `on_done` is called with the path of a file when its report is there, which may be before its turn. Under
        `limits` each file except standard input is linted in another process, which can be killed. `cluster`: the
        scheduler whose workers lint instead.
        """
        self._tasks = tasks
        self._jobs = jobs
        self._on_done = on_done
        self._limits = limits
        self._cluster = cluster
        self.done: dict[int, FileReport] = {}
        """The reports that are there, by the index of their task. Whoever uses a report takes it out."""

    def indices(self) -> Generator[int, None, None]:
        """Yield the indices of all tasks in their order, each when its report is in `done`."""
        tasks, cached, with_cache = _with_first_look(self._tasks)
        local = {
            index for index, task in enumerate(tasks) if task.path == "-" or task.problem is not None or index in cached
        }
        others = [index for index in range(len(tasks)) if index not in local]
        made = _reports_of(tasks, others, self._jobs, self._limits, self._cluster)
        with with_cache, contextlib.closing(made) as reports:
            for turn, task in enumerate(tasks):
                if turn in local:  # at its turn, as reports need memory
                    # None: its report is in the cache, but was not kept in memory; `lint_one` reads it there.
                    self._add(turn, cached.pop(turn, None) or lint_one(task))
                while turn not in self.done:
                    self._add(*next(reports))
                yield turn

    def _add(self, index: int, report: FileReport) -> None:
        self.done[index] = report
        self._on_done(self._tasks[index].reported_path)


def _reports_of(
    tasks: Sequence[Task], indices: Sequence[int], jobs: int, limits: ModelLimits, cluster: str | None
) -> Generator[tuple[int, FileReport], None, None]:
    """Lint the tasks at `indices` on a cluster, in this process, or in other processes, as the arguments require."""
    if cluster is not None:
        from onnx_lint.cluster.client import on_cluster  # late, as its packages come with an extra

        return on_cluster(tasks, indices, cluster, limits)
    workers = min(jobs or worthwhile_jobs([tasks[index] for index in indices], processors()), len(indices))
    if workers <= 1 and limits.seconds is None:
        return _linted_here(tasks, indices)
    from onnx_lint.tasks.workers import in_workers

    return in_workers(tasks, indices, workers, limits)


def _with_first_look(
    tasks: Sequence[Task],
) -> tuple[Sequence[Task], dict[int, FileReport | None], contextlib.AbstractContextManager[None]]:
    """Return the tasks, the reports in the cache by the index of their tasks, and a context with an open cache.

    If the cache cannot be used, the tasks have none.
    """
    if all(task.cache is None for task in tasks):
        return tasks, {}, contextlib.nullcontext()
    from onnx_lint.cache.checks import closing_caches

    cached, is_usable = _find_cached(tasks)
    if not is_usable:  # otherwise each process would report the unusable cache again
        tasks = [replace(task, cache=None) for task in tasks]
    return tasks, cached, closing_caches()


_MAX_REPORTS: Final = 1_000
"""The reports that are kept from the first look into the cache. The others are read again at their turn."""


def _find_cached(tasks: Sequence[Task]) -> tuple[dict[int, FileReport | None], bool]:
    """Return the reports of files that the file system calls unchanged, by the index of their tasks.

    Keep only the first reports; the value of the others is None. The cache is closed afterwards. Return also whether it
    can be used.
    """
    from onnx_lint.cache.checks import closing_caches, verdicts_in

    found: dict[int, FileReport | None] = {}
    is_usable, verdicts = True, None
    with closing_caches():
        for index, check_and_folder in enumerate(map(check_of, tasks)):
            if check_and_folder is None:
                continue
            check, folder = check_and_folder
            verdicts = verdicts_in(folder)
            report = verdicts.find(check, may_read=False)
            is_usable = verdicts.is_usable
            if report is not None:
                found[index] = report if len(found) < _MAX_REPORTS else None
            if not is_usable:
                break
        if verdicts is not None:
            verdicts.report_damaged_entries()  # here only: whoever reads the cache later finds the same ones
    return found, is_usable


def _linted_here(tasks: Sequence[Task], indices: Sequence[int]) -> Generator[tuple[int, FileReport], None, None]:
    """Yield the reports of the tasks at `indices`, each with its index, from this process.

    Models in stores are linted last, in the order in which they arrive: the others do not wait for a server.
    """
    remote = [index for index in indices if is_opened_ahead(tasks[index])]
    for index, opening in _with_openings(tasks, indices, remote if len(remote) > 1 else ()):
        yield index, lint_one(tasks[index], opening)


def _with_openings(
    tasks: Sequence[Task], indices: Sequence[int], remote: Sequence[int]
) -> Iterator[tuple[int, Callable[[], Source] | None]]:
    """Yield each of the indices, with a function that returns its source, which another thread has opened.

    It is None for a file that is opened when it is linted. The `remote` ones come last, in the order in which they
    arrive.
    """
    waiting = deque(remote)
    ahead = None
    if waiting:
        from onnx_lint.remote.ahead import AHEAD, Ahead

        ahead = Ahead()

    def begin() -> None:
        while ahead is not None and waiting and len(ahead) < AHEAD:
            index = waiting.popleft()
            ahead.begin(index, opening_of(tasks[index]))

    try:
        begin()
        later = set(remote)
        yield from ((index, None) for index in indices if index not in later)
        while ahead:
            index = ahead.first()
            opening = ahead.take(index)
            begin()
            yield index, opening
    finally:
        if ahead is not None:
            ahead.close()
