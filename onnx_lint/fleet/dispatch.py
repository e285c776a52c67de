# SPDX-License-Identifier: Apache-2.0
"""Hands models to the workers of a cluster in chunks, and finds out which of them are to blame for what ends there."""

from __future__ import annotations

import contextlib
import queue
import time
import uuid
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from distributed import CancelledError, KilledWorker
from distributed.comm import CommClosedError

from onnx_lint import __version__
from onnx_lint.common.model_limits import ModelLimits
from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.jobs import Failure, Job, Outcome
from onnx_lint.fleet.records import failed
from onnx_lint.fleet.tasks import Chunk, Done, lint_chunk
from onnx_lint.reporters.escape import visible

if TYPE_CHECKING:
    from distributed import Client, Future

_MODELS_OF_A_CHUNK: Final = 64
_CHUNKS_OF_A_THREAD: Final = 2
"""So many are under way for each thread of a worker, that it need not wait for the next one."""

_TRIES: Final = {True: 2, False: 3}
"""How often a model is linted that goes beyond a limit, and one that ends its process: this may be somebody's kill."""

_LONE_TRIES: Final = 2
"""How often a model is linted alone with which workers end; each time Dask tries several of them."""

_TICK_SECONDS: Final = 0.5
_LOOK_SECONDS: Final = 2.0
_LONELY_SECONDS: Final = 120.0
"""After so long without any worker a scan gives up."""


class Progress:
    """What has been done so far, for whoever shows it."""

    def __init__(self) -> None:
        self.bytes_read = 0
        self.workers = 0


class Dispatch:
    """Lints jobs on a cluster.

    A chunk that fails with its worker says nothing of which model it was, nor whether it was one at all: Dask blames
    all tasks that the worker has. Each of its models then gets a task of its own, when nothing else is under way.
    """

    def __init__(self, client: Client, jobs: Sequence[Job], limits: ModelLimits, progress: Progress) -> None:
        self._client = client
        self._limits = limits
        self._progress = progress
        self._waiting = deque(jobs)
        self._again: deque[Job] = deque()
        """What ended its process before, to be linted in a fresh one."""
        self._suspects: deque[Job] = deque()
        """What was in a chunk that workers ended with, to be linted with nothing beside it."""
        self._tries: Counter[str] = Counter()
        self._killed_alone: Counter[str] = Counter()
        self._flying: dict[Future, Chunk] = {}
        self._landed: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._is_lone = False
        self._name = f"onnx-lint-{uuid.uuid4().hex}"
        self._number = 0
        self._threads = 0
        self._next_look = 0.0
        self._last_seen = time.monotonic()

    def outcomes(self) -> Iterator[list[Outcome]]:
        """The outcomes as they come; also an empty list every now and then, so that others have their turn.

        Raises FleetError where the cluster is lost, or cannot lint.
        """
        try:
            self._look()
            while self._fill():
                try:
                    future = self._landed.get(timeout=_TICK_SECONDS)
                except queue.Empty:
                    self._look()
                    yield []
                    continue
                self._look()
                yield list(self._taken(future))
        finally:
            with contextlib.suppress(OSError, TimeoutError):  # of a scheduler that is not there any more
                self._client.cancel(list(self._flying))

    def _fill(self) -> bool:
        """Send what there is room for; returns whether anything is under way."""
        room = max(self._threads, 1) * _CHUNKS_OF_A_THREAD
        while len(self._flying) < room and not self._is_lone:
            if self._again:
                self._send((self._again.popleft(),), is_retry=True)
            elif self._waiting:
                share = -(-len(self._waiting) // room)
                count = min(_MODELS_OF_A_CHUNK, share)
                self._send(tuple(self._waiting.popleft() for _ in range(count)))
            else:
                break
        if not self._flying:
            self._is_lone = bool(self._suspects)
            if self._suspects:
                self._send((self._suspects.popleft(),), is_retry=True)
        return bool(self._flying)

    def _send(self, jobs: tuple[Job, ...], *, is_retry: bool = False) -> None:
        self._number += 1
        chunk = Chunk(jobs, self._limits, __version__, is_retry)
        future = self._client.submit(lint_chunk, chunk, key=f"{self._name}-{self._number}", pure=False)
        self._flying[future] = chunk
        future.add_done_callback(self._landed.put)

    def _taken(self, future: Future) -> Iterator[Outcome]:
        """What came of a chunk; what it did not come to, or failed with, is put in line again."""
        chunk = self._flying.pop(future)
        try:
            done: Done = future.result()
        except KilledWorker:
            yield from self._killed(chunk)
            return
        except FleetError:
            raise
        except (CancelledError, CommClosedError, TimeoutError) as error:
            raise FleetError("the connection to the scheduler of Dask is lost") from error
        except Exception as error:  # what a worker raises that lacks onnx-lint, or room for the process beside it
            raise FleetError(f"a worker cannot run onnx-lint {__version__}: {visible(str(error))}") from error
        finally:
            if self._is_lone and not self._flying:
                self._is_lone = False
        self._progress.bytes_read += done.bytes_read + sum(outcome.received for outcome in done.outcomes)
        yield from done.outcomes
        told = {outcome.path for outcome in done.outcomes}
        jobs = {job.path: job for job in chunk.jobs}
        for failure in done.failures:
            told.add(failure.path)
            yield from self._failed(jobs[failure.path], failure)
        self._waiting.extendleft(job for job in reversed(chunk.jobs) if job.path not in told)

    def _failed(self, job: Job, failure: Failure) -> Iterator[Outcome]:
        self._tries[job.path] += 1
        if self._tries[job.path] < _TRIES[failure.is_limit]:
            self._again.append(job)
        else:
            yield failed(job, failure.words)

    def _killed(self, chunk: Chunk) -> Iterator[Outcome]:
        if self._is_lone:
            (job,) = chunk.jobs
            self._killed_alone[job.path] += 1
            if self._killed_alone[job.path] < _LONE_TRIES:
                self._suspects.append(job)
                return
            yield failed(job, "each worker that was to lint the file ended")
        else:
            self._suspects.extend(chunk.jobs)

    def _look(self) -> None:
        """Look at the cluster every now and then: how much room it has, and whether it is there."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + _LOOK_SECONDS
        if self._client.status != "running":
            raise FleetError("the connection to the scheduler of Dask is lost")
        try:
            found = self._client.nthreads()
        except (OSError, TimeoutError) as error:
            raise FleetError("the scheduler of Dask does not answer any more") from error
        self._threads, self._progress.workers = sum(found.values()), len(found)
        if found:
            self._last_seen = now
        elif now - self._last_seen > _LONELY_SECONDS:
            raise FleetError(f"the cluster has had no worker for {_LONELY_SECONDS:g} seconds")
