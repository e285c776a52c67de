# SPDX-License-Identifier: Apache-2.0
"""The task of a Dask worker: it lints a chunk of models, each in the process beside it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Final

from onnx_lint import __version__
from onnx_lint.common.model_limits import ModelLimits
from onnx_lint.common.record import Record
from onnx_lint.fleet.cells import LintProcess
from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.jobs import Failure, Job, Outcome
from onnx_lint.input.locations import is_remote

_CHUNK_SECONDS: Final = 3.0
_CHUNK_BYTES: Final = 8_000_000
"""After this many seconds, or this many bytes of records, a chunk returns the jobs that it has not begun."""

_own: Final = threading.local()
"""The process of each thread of the worker."""


class Chunk(Record):
    """The models of one task."""

    jobs: tuple[Job, ...]
    limits: ModelLimits
    version: str
    """The version of onnx-lint that started the scan."""
    is_retry: bool = False
    """True if the model ended its process before. It then gets a fresh one."""


class Done(Record):
    """The result of a chunk. Jobs without an outcome or failure were not begun."""

    outcomes: tuple[Outcome, ...]
    failures: tuple[Failure, ...]
    bytes_read: int


def lint_chunk(chunk: Chunk) -> Done:
    """Lint models of a chunk until its time is up. Raises FleetError if this worker cannot lint."""
    if chunk.version != __version__:
        raise FleetError(f"a worker has onnx-lint {__version__}, but the scan was started with {chunk.version}")
    cell = _own.__dict__.setdefault("cell", LintProcess())
    if chunk.is_retry:
        cell.close()
    end = time.monotonic() + _CHUNK_SECONDS
    before, bytes_read, size = cell.bytes_read(), 0, 0
    outcomes: list[Outcome] = []
    failures: list[Failure] = []

    def in_time() -> Iterator[Job]:
        for job in chunk.jobs:
            if time.monotonic() > end or size > _CHUNK_BYTES:
                return
            yield job

    for found in cell.lint(in_time(), chunk.limits, _ahead(chunk)):
        if isinstance(found, Failure):
            failures.append(found)
        else:
            outcomes.append(found)
            size += len(found.file) + len(found.findings)
    bytes_read = max(cell.bytes_read() - before, 0)
    return Done(tuple(outcomes), tuple(failures), bytes_read)


def _ahead(chunk: Chunk) -> int:
    """Return how many jobs of a chunk a process has at a time: it opens several models in stores before their turn."""
    if not any(is_remote(job.path) for job in chunk.jobs):
        return 1
    from onnx_lint.remote.access import AHEAD  # late, as few models are in stores

    return AHEAD
