# SPDX-License-Identifier: Apache-2.0
"""The process beside a worker in which models are linted, watched for time and memory.

A worker of Dask that ended with a model would take the other tasks that it has with it, and Dask has no time limit on a
task. So each thread of a worker has a process of its own for the models: what ends there has a name.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO, Final

import psutil

from onnx_lint.common.exit_status import way_of_end
from onnx_lint.common.model_limits import ModelLimits
from onnx_lint.common.watched_process import STARTS, Answered, Ended, ProcessPool, Ready, WatchedProcess
from onnx_lint.fleet.cell import prepared
from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.jobs import Failure, Job, Outcome

_START_SECONDS: Final = 120.0


class LintProcess:
    """A process that lints models; one that has ended is started again for the next one."""

    def __init__(self) -> None:
        self._pool = ProcessPool(prepared, memory_of=_resident)
        self._read_before = 0

    def lint(self, jobs: Iterator[Job], limits: ModelLimits, ahead: int = 1) -> Iterator[Outcome | Failure]:
        """Yield the outcome of each job. If the process ends in one, yield a Failure as the last.

        The process has up to `ahead` jobs at a time. Raises FleetError if none can be started.
        """
        process = self._running()
        self._pool.limits = limits
        try:
            while True:
                while len(process.jobs) < ahead and (job := next(jobs, None)) is not None:
                    process.give(job)
                if not process.jobs:
                    return
                found = self._pool.wait()
                assert found is not None
                _, event = found
                if isinstance(event, Ended):
                    if event.job is not None:
                        yield Failure(event.job.path, event.words, event.is_limit)
                    return
                assert isinstance(event, Answered)
                if isinstance(event.result, Exception):
                    raise FleetError(f"a worker cannot use the settings: {event.result}")
                outcome: Outcome = event.result
                yield outcome
        finally:
            if process.jobs:
                self.close()

    def close(self) -> None:
        """End the process."""
        self._pool.close_all()

    def bytes_read(self) -> int:
        """Return the bytes that the process has read from files since it was ready; 0 if the system does not count."""
        return max(sum(_read(process.pid) for process in self._pool.processes) - self._read_before, 0)

    def _running(self) -> WatchedProcess:
        for process in self._pool.processes:
            if process.is_running:
                return process
        self.close()
        for _ in range(STARTS):
            with tempfile.TemporaryFile() as errors:
                process = self._pool.start(errors)
                _, event = self._pool.wait(_START_SECONDS) or (process, None)
                if isinstance(event, Ready):
                    self._read_before = _read(process.pid)
                    return process
                self.close()
                end = f"it ended {way_of_end(event.code)}" if isinstance(event, Ended) else "it does not answer"
                said = _last_line(errors) or end
            if not isinstance(event, Ended) or event.code >= 0:
                break  # it was not killed: the next one would end in the same way
        raise FleetError(f"a worker cannot start the process that lints: {said}")


def _last_line(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode(errors="backslashreplace").strip().rpartition("\n")[2]


def _read(process: int) -> int:
    """Bytes that the process has read from files and pipes."""
    try:
        counters = psutil.Process(process).io_counters()
    except (psutil.Error, AttributeError, OSError):
        return 0
    return int(getattr(counters, "read_chars", counters.read_bytes))


def _resident(process: int) -> int:
    """Bytes of memory that the process takes up."""
    try:
        return int(psutil.Process(process).memory_info().rss)
    except (psutil.Error, OSError):
        return 0
