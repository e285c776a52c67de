# SPDX-License-Identifier: Apache-2.0
"""A cluster in this process, in place of Dask's client: workers that lint at once, that end, and that hold a file."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

from onnx_lint.cluster.messages import Answer, Job, packed
from onnx_lint.report import FileReport


class FakeFuture:
    def __init__(self, result: Any) -> None:
        self._result = result

    def add_done_callback(self, call: Callable[[FakeFuture], None]) -> None:
        if self._result is not None:  # a worker that has ended, or holds the file, never answers
            call(self)

    def result(self, timeout: float) -> Any:
        if isinstance(self._result, BaseException):
            raise self._result
        return self._result

    def cancel(self) -> None: ...


class FakeClient:
    """`judge` returns the answers of a worker to its jobs; None if it never answers."""

    def __init__(self, workers: dict[str, int], judge: Callable[[FakeClient, str, Sequence[Job]], Any]) -> None:
        self.workers, self._judge, self.status = workers, judge, "running"
        self.given: list[tuple[str, list[str]]] = []
        self.cancelled = 0

    def submit(self, function: Callable[[bytes], Any], call: bytes, *, workers: list[str], **_: Any) -> FakeFuture:
        jobs = function(call)
        self.given.append((workers[0], [job.path for job in jobs]))
        return FakeFuture(self._judge(self, workers[0], jobs))

    def nthreads(self, callback_timeout: float) -> dict[str, int]:
        return dict(self.workers)

    def cancel(self, futures: Sequence[FakeFuture], force: bool) -> None:
        self.cancelled += len(futures)

    def replace(self, worker: str) -> None:
        """A worker ends, and another one comes."""
        self.workers[f"{worker}'"] = self.workers.pop(worker)


def jobs_of(sender: str, paths: tuple[str, ...], files: str, pickled: bytes) -> Sequence[Job]:
    """What a worker of this cluster does in place of linting."""
    jobs: Sequence[Job] = pickle.loads(pickled)[0]
    return jobs


def answered(jobs: Sequence[Job]) -> list[tuple[Any, ...]]:
    """The answers to jobs: each file has the size that is its name."""
    return [
        Answer._values(Answer(job.index, packed(FileReport(job.path, int(job.path)), None)))  # type: ignore[misc]
        for job in jobs
    ]
