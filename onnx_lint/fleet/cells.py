# SPDX-License-Identifier: Apache-2.0
"""The process beside a worker in which models are linted, watched for time and memory.

A worker of Dask that ended with a model would take the other tasks that it has with it, and Dask has no time limit on a
task. So each thread of a worker has a process of its own for the models: what ends there has a name.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, Any, Final

import psutil

from onnx_lint.common.exit_status import way_of_end
from onnx_lint.common.model_limits import LOOK_SECONDS, ModelLimits
from onnx_lint.fleet.cell import READY
from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.jobs import Failure, Job, Outcome

_START_SECONDS: Final = 120.0
_STARTS: Final = 3
"""How often a process is started that is killed before it is ready, which says nothing of any model."""

_END: Final = object()


class Cell:
    """A process that lints models; one that has ended is started again for the next one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._errors: IO[bytes] | None = None
        self._read_before = 0

    def lint(self, job: Job, limits: ModelLimits) -> Outcome | Failure:
        """The outcome of the job; a Failure where the process ended in it. Raises FleetError if none can be started."""
        process = self._running()
        try:
            assert process.stdin is not None
            pickle.dump(job, process.stdin)
            process.stdin.flush()
        except OSError:
            return self._ended(process, job)
        answer = self._awaited(process, limits)
        if answer is _END:
            return self._ended(process, job)
        if isinstance(answer, str):
            self.close()
            return Failure(job.path, answer, is_limit=True)
        if isinstance(answer, Exception):
            raise FleetError(f"a worker cannot use the settings: {answer}")
        outcome: Outcome = answer
        return outcome

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            process.wait()
            for stream in (process.stdin, self._errors):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()

    def bytes_read(self) -> int:
        """How many bytes the process has read from files since it was ready; 0 where the system does not tell."""
        return max(_read(self._process) - self._read_before, 0) if self._process is not None else 0

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        for _ in range(_STARTS):
            process = self._started()
            try:
                first = self._answers.get(timeout=_START_SECONDS)
            except queue.Empty:
                first = None
            if first == READY:
                self._read_before = _read(process)
                return process
            code = process.wait() if first is _END else 0
            said = self._last_words() or (f"it ended {way_of_end(code)}" if first is _END else "it does not answer")
            self.close()
            if code >= 0:
                break  # nobody killed it: the next one would end alike
        raise FleetError(f"a worker cannot start the process that lints: {said}")

    def _started(self) -> subprocess.Popen[bytes]:
        """A new process, which says that it is ready, or ends."""
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = process = subprocess.Popen(
            # It finds modules where this process does, and not in the working directory, which may be anybody's.
            [sys.executable, "-P", "-m", "onnx_lint.fleet.cell"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._answers = queue.SimpleQueue()
        threading.Thread(target=_hand_on, args=(process.stdout, self._answers), daemon=True).start()
        return process

    def _last_words(self) -> str:
        """The last line that the process wrote to standard error."""
        assert self._errors is not None
        self._errors.seek(0)
        return self._errors.read().decode(errors="backslashreplace").strip().rpartition("\n")[2]

    def _awaited(self, process: subprocess.Popen[bytes], limits: ModelLimits) -> Any:
        """The answer; _END where the process ended before, and in words which limit it went beyond."""
        begun = time.monotonic()
        while True:
            with contextlib.suppress(queue.Empty):
                return self._answers.get(timeout=LOOK_SECONDS)
            words = limits.exceeded(_resident(process), begun)
            if words is not None:
                return words

    def _ended(self, process: subprocess.Popen[bytes], job: Job) -> Failure:
        code = process.wait()
        self.close()
        return Failure(job.path, f"the process that linted the file ended {way_of_end(code)}", is_limit=False)


def _hand_on(stream: IO[bytes], answers: queue.SimpleQueue[Any]) -> None:
    """Put into the queue what the process says, and at last that it says no more."""
    with contextlib.suppress(EOFError, OSError, ValueError, pickle.UnpicklingError), stream:
        while True:
            answers.put(pickle.load(stream))
    answers.put(_END)


def _read(process: subprocess.Popen[bytes]) -> int:
    """Bytes that the process has read from files and pipes."""
    try:
        counters = psutil.Process(process.pid).io_counters()
    except (psutil.Error, AttributeError, OSError):
        return 0
    return int(getattr(counters, "read_chars", counters.read_bytes))


def _resident(process: subprocess.Popen[bytes]) -> int:
    """Bytes of memory that the process takes up."""
    try:
        return int(psutil.Process(process.pid).memory_info().rss)
    except (psutil.Error, OSError):
        return 0
