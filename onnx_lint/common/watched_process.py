# SPDX-License-Identifier: Apache-2.0
"""Processes that do one job after the other, and are ended when a job exceeds a limit of time or memory.

`concurrent.futures` is not used: it cannot identify the job that ended a process, and fails all pending jobs with it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import IO, Any, Final

from onnx_lint.common.exit_status import way_of_end
from onnx_lint.common.model_limits import LOOK_SECONDS, NO_LIMITS, ModelLimits, resident
from onnx_lint.common.record import Record
from onnx_lint.common.working_process import READY

_END: Final = object()


class Ready(Record):
    """The process is ready for its first job."""


class Answered(Record):
    """A job is done."""

    job: Any
    result: Any


class Ended(Record):
    """The process ended by itself, or because a job exceeded a limit."""

    job: Any
    """The job that ended it; None if it had none, or if the job over the limit was done by then."""
    words: str
    """How the process ended, such as `with exit code 1`; if it exceeded a limit, a sentence about that."""
    is_limit: bool
    code: int
    """The exit code, or the number of the signal that ended the process, negated."""
    was_ready: bool = True


class WatchedProcess:
    """A process that does jobs. Its messages arrive in the queue of the `ProcessPool` that started it."""

    def __init__(self, begin: bytes, messages: queue.SimpleQueue[tuple[WatchedProcess, Any]]) -> None:
        self.jobs: deque[Any] = deque()
        """The jobs that it was sent and has not answered, in order."""
        self.is_ready = False
        self._begun = time.monotonic()
        """The time of its last message, or of the job that it was sent when it had none: it began its current job then.
        """
        self._answers = 0
        self._exceeded: tuple[int, str] | None = None
        """When it was killed: the number of answers before that, and the limit that the next job exceeded."""
        # It imports from where this process does, and not from the working directory (-P), which is not trusted. It has
        # a process group of its own, so that Ctrl-C reaches only this process.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "onnx_lint.common.working_process"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0 if os.name == "posix" else -1,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin = self._process.stdin
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout, messages), daemon=True)
        self._reader.start()
        self._send(begin)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """True if the process has not ended."""
        return self._process.poll() is None

    def give(self, job: Any) -> None:
        """Send it a job, to be done after those that it was sent before."""
        if not self.jobs:
            self._begun = time.monotonic()
        self.jobs.append(job)
        self._send(pickle.dumps(job))

    def handle(self, message: Any) -> Ready | Answered | Ended:
        """Update what is known of the process by a message, and return the event that it reports."""
        self._begun = time.monotonic()
        if message is _END:
            return self._end()
        if not self.is_ready:
            assert message == READY, "the first message of a process says that it is ready"
            self.is_ready = True
            return Ready()
        self._answers += 1
        return Answered(self.jobs.popleft(), message)

    def end_beyond(self, limits: ModelLimits) -> None:
        """End the process if the job that it is doing exceeds a limit."""
        if self.is_ready and self.jobs and self._exceeded is None:
            words = limits.exceeded(resident(self.pid), self._begun)
            if words is not None:
                self._exceeded = self._answers, words
                self._process.kill()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        with contextlib.suppress(OSError):
            self._stdin.close()

    def _end(self) -> Ended:
        code = self._process.wait()
        job = self.jobs[0] if self.jobs else None
        if self._exceeded is None:
            return Ended(job, way_of_end(code), is_limit=False, code=code, was_ready=self.is_ready)
        answers, words = self._exceeded
        return Ended(job if answers == self._answers else None, words, is_limit=True, code=code)

    def _send(self, pickled: bytes) -> None:
        with contextlib.suppress(OSError):  # if it has ended, the reader says so
            self._stdin.write(pickled)
            self._stdin.flush()

    def _read(self, stream: IO[bytes], messages: queue.SimpleQueue[tuple[WatchedProcess, Any]]) -> None:
        """Put the messages of the process into the queue, and _END after the last one."""
        with contextlib.suppress(EOFError, OSError, ValueError, pickle.UnpicklingError), stream:
            while True:
                messages.put((self, pickle.load(stream)))
        messages.put((self, _END))


class ProcessPool:
    """Starts processes that do the same kind of job, and waits for their answers, under limits."""

    def __init__(self, begin: Callable[[], Callable[[Any], Any]], limits: ModelLimits = NO_LIMITS) -> None:
        """`begin` is called once in each process, and returns the function that does a job. It must be picklable."""
        self.limits = limits
        self._begin = pickle.dumps(begin)
        self._messages: queue.SimpleQueue[tuple[WatchedProcess, Any]] = queue.SimpleQueue()
        self.processes: list[WatchedProcess] = []

    def start(self) -> WatchedProcess:
        """Start a process."""
        process = WatchedProcess(self._begin, self._messages)
        self.processes.append(process)
        return process

    def wait(self) -> tuple[WatchedProcess, Ready | Answered | Ended]:
        """Wait for the next event, and return its process and the event."""
        while True:
            found = None
            with contextlib.suppress(queue.Empty):
                found = self._messages.get(timeout=LOOK_SECONDS)
            if self.limits.are_any:
                for each in self.processes:
                    each.end_beyond(self.limits)
            if found is None:
                continue
            process, message = found
            if process in self.processes:
                return process, process.handle(message)

    def close(self, process: WatchedProcess) -> None:
        """End a process, and discard its messages."""
        self.processes.remove(process)
        process.close()

    def close_all(self) -> None:
        """End all processes."""
        while self.processes:
            self.close(self.processes[-1])
