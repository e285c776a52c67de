# SPDX-License-Identifier: Apache-2.0
"""Sends models to the workers of a cluster in chunks, and finds the models that end processes or workers."""

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
"""The chunks per thread of a worker that are under way, so that it need not wait for the next one."""

_TRIES: Final = {True: 2, False: 3}
"""The number of times to try a model that exceeds a limit (True), or that ends its process (False).

A process may also have been killed for another reason, so such a model gets one more attempt.
"""

_LONE_TRIES: Final = 2
"""The number of times to lint a model alone if workers end with it. Each time Dask tries several workers."""

_TICK_SECONDS: Final = 0.5
_LOOK_SECONDS: Final = 2.0
_LONELY_SECONDS: Final = 120.0
"""A scan gives up after this many seconds without a worker."""


class Progress:
    """The state of a scan that is shown during it."""

    def __init__(self) -> None:
        self.bytes_read = 0
        self.workers = 0


class Dispatch:
    """Lints jobs on a cluster.

    If a worker ends, Dask fails all of its tasks, so the failure does not show which model caused it, or if any did.
    Each model of such a chunk is then linted in a separate task, while no other task runs.
    """

    def __init__(self, client: Client, jobs: Sequence[Job], limits: ModelLimits, progress: Progress) -> None:
        self._client = client
        self._limits = limits
        self._progress = progress
        self._waiting = deque(jobs)
        self._again: deque[Job] = deque()
        """Jobs whose process ended, to be linted in a fresh one."""
        self._suspects: deque[Job] = deque()
        """Jobs of chunks with which workers ended, to be linted alone."""
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
        """Yield the outcomes as they arrive, and an empty list now and then, so that the caller gets control.

        Raises FleetError if the cluster is lost, or cannot lint.
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
            with contextlib.suppress(OSError, TimeoutError):  # the scheduler may have ended
                self._client.cancel(list(self._flying))

    def _fill(self) -> bool:
        """Send chunks while there is room; return whether anything is under way."""
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
        """Yield the outcomes of a chunk. Jobs that were not linted, or failed, are put in the queue again."""
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
        except Exception as error:  # raised by a worker without onnx-lint, or without memory for its process
            raise FleetError(f"a worker cannot run onnx-lint {__version__}: {visible(str(error))}") from error
        finally:
            if self._is_lone and not self._flying:
                self._is_lone = False
        self._progress.bytes_read += done.bytes_read + sum(outcome.received for outcome in done.outcomes)
        yield from done.outcomes
        done_paths = {outcome.path for outcome in done.outcomes}
        jobs = {job.path: job for job in chunk.jobs}
        for failure in done.failures:
            done_paths.add(failure.path)
            yield from self._failed(jobs[failure.path], failure)
        self._waiting.extendleft(job for job in reversed(chunk.jobs) if job.path not in done_paths)

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
        """Check every few seconds whether the cluster is there, and how many threads it has."""
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
