# SPDX-License-Identifier: Apache-2.0
"""Runs on a worker of a Dask cluster: lints a batch of files in a watched process beside the worker.

The process outlives the batch, since to start it for each batch would cost much of the run.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from onnx_lint.cluster.messages import Answer, Job, digest_of_files, packed, program
from onnx_lint.common.cached import Memory
from onnx_lint.common.model_limits import ModelLimits
from onnx_lint.common.watched_process import Answered, ProcessPool
from onnx_lint.engine.lint import import_usual_rules
from onnx_lint.engine.settings import Settings
from onnx_lint.input.locations import is_remote
from onnx_lint.tasks.lint_one import Task, file_check, lint_one
from onnx_lint.tasks.workers import Linter, files_ahead, run_jobs

_BATCH_SECONDS: Final = 2.0
_BATCH_BYTES: Final = 8_000_000
"""After this time, or with answers of this size, a batch returns without the files that it has not begun."""

_TRIES: Final = 2
"""How often to lint a file that ends its process. Something else may have ended the first one."""

_IDLE_SECONDS: Final = 60.0
"""A process without a file for this time is ended: the cluster lives longer than the run."""

_own: Final = threading.local()


def lint_batch(sender: str, paths: tuple[str, ...], files: str, pickled: bytes) -> str | list[tuple[Any, ...]]:
    """Lint files until the time of the batch is up; return the fields of the answers, or why this worker cannot.

    `sender`: the program of the client. `paths`, `files`: the plugin and schema files, and their digest.
    """
    if sender != program():
        return f"it has onnx-lint {program()}, but this run {sender}"
    if files != digest_of_files(paths):
        return f"it does not have the same files {', '.join(paths)}"
    jobs, limits = pickle.loads(pickled)
    cell = _own.__dict__.setdefault("cell", _Cell())
    found = cell.lint(jobs, limits, files)
    return found if isinstance(found, str) else [type(each)._values(each) for each in found]


class _Cell:
    """The process of one thread of the worker."""

    def __init__(self) -> None:
        self._pool = ProcessPool(prepared)
        self._lock = threading.Lock()
        self._idle = threading.Timer(0, self._close)
        self._files = ""

    def lint(self, jobs: Sequence[Job], limits: ModelLimits, files: str) -> str | list[Answer]:
        """Return the answers. A process loads one version of plugin and schema files; `files`: their digest."""
        self._idle.cancel()
        with self._lock:
            if files != self._files:
                self._pool.close_all()
            self._files, self._pool.limits = files, limits
            try:
                return self._linted(jobs)
            except BaseException:
                self._pool.close_all()
                raise
            finally:
                self._idle = threading.Timer(_IDLE_SECONDS, self._close)
                self._idle.daemon = True
                self._idle.start()

    def _close(self) -> None:
        """End the process unless it is linting again."""
        if self._lock.acquire(blocking=False):
            try:
                self._pool.close_all()
            finally:
                self._lock.release()

    def _linted(self, jobs: Sequence[Job]) -> str | list[Answer]:
        waiting = deque(jobs)
        answers: list[Answer] = []
        size = 0
        end = time.monotonic() + _BATCH_SECONDS
        ahead = files_ahead(Task(job.path, Settings()) for job in jobs)
        for event in run_jobs(self._pool, waiting, 1, ahead, tries=_TRIES, end=end):
            if isinstance(event, Answered):
                answers.append(Answer(event.job.index, event.result))
                size += len(event.result)
                if size > _BATCH_BYTES:
                    waiting.clear()
            elif not event.was_ready:
                self._pool.close_all()
                return f"no process can start there: it ended {event.words}"
            else:
                answers.append(Answer(event.job.index, b"", event.words, event.is_limit))
        return answers


def prepared() -> Callable[[Job], bytes]:
    """Prepare the process; return the function that lints the file of a job."""
    import_usual_rules(Settings())
    return _JobLinter()


class _JobLinter:
    """Lints the files of jobs."""

    def __init__(self) -> None:
        self._tasks: dict[int, Task] = {}
        self._linter = Linter(self._tasks)
        self._settings: Memory[bytes, Settings] = Memory(1_000)

    def expect(self, job: Job) -> None:
        """Prepare for a job before its turn."""
        try:
            settings, problem = self._settings_of(job), None
        except Exception as error:
            settings, problem = Settings(), f"{job.name or job.path}: the worker cannot use the settings: {error}"
        self._tasks[job.index] = Task(job.path, settings, problem, job.name, job.context)
        self._linter.expect(job.index)

    def __call__(self, job: Job) -> bytes:
        """Return the packed report of a file."""
        try:
            os.chdir(job.folder)
        except OSError:
            os.chdir(os.sep)  # where no relative path finds another file of its name
        check = file_check(self._tasks[job.index]) if job.is_kept else None
        if check is None:
            answer = packed(self._linter(job.index), None)
        else:
            from onnx_lint.cache.checks import opened_check
            from onnx_lint.cache.verdicts import linted

            task, opening = self._tasks[job.index], self._linter.opening(job.index)
            if is_remote(check.path):
                attempt = opened_check(check, opening)
                check, opening = attempt.check, attempt.source
            found = linted(check, lambda beside: lint_one(task, opening, beside))
            answer = packed(found.report, found.entry)
        del self._tasks[job.index]
        return answer

    def _settings_of(self, job: Job) -> Settings:
        key = hashlib.blake2b(job.settings, digest_size=16).digest()
        found = self._settings.get(key)
        return found if found is not None else self._settings.keep(key, pickle.loads(job.settings))
