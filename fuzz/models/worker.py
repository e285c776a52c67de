# SPDX-License-Identifier: Apache-2.0
"""Worker processes that judge models. The parent knows the model and the stage at which one ends."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from .builder import Generated
from .generator import model_of
from .oracle import CRASH, STAGES, Contradiction, Judged, judge

SECONDS = 30.0
"""The time limit of a stage by the clock. It is long, because other programs share the machine."""

MEMORY_BYTES = 6 << 30

_BATCH = 20
"""The number of models in a batch."""


@dataclass
class Batch:
    """The results of some models."""

    found: list[tuple[int, str, Contradiction]] = field(default_factory=list)
    """The number and the subject of the model, and the contradiction."""
    counts: Counter[str] = field(default_factory=Counter)
    is_last: bool = False


def contradictions_alone(made: Generated) -> list[tuple[str, str]]:
    """Return the kinds and lines of the contradictions about a model, judged in a new process."""
    receiving, sending = multiprocessing.Pipe(duplex=False)
    current = multiprocessing.RawArray("q", [made.number, 0])
    process = multiprocessing.get_context("fork").Process(target=_alone, args=(sending, current, made), daemon=True)
    process.start()
    sending.close()
    worker = Worker(receiving, process, current)
    with contextlib.suppress(EOFError):
        if receiving.poll(SECONDS):
            found: list[tuple[str, str]] = receiving.recv()
            process.join()
            return found
        worker.is_given_up = True
    _, stage, how = worker.end()
    fault = fault_of(stage, how)
    return [(fault.kind, fault.line)]


def _alone(connection: Connection, current: Any, made: Generated) -> None:
    at = _guard(current)
    connection.send([(each.kind, each.line) for each in judge(made, at).contradictions])


def judged(seed: int, number: int, at: Any) -> tuple[str, Judged]:
    """Generate and judge one model. Return its subject and the results."""
    at(0)
    try:
        made = model_of(seed, number)
    except Exception:
        found = Judged()
        found.note("the generator fails", traceback.format_exc())
        return "", found
    return made.about, judge(made, at)


def _guard(current: Any) -> Callable[[int], None]:
    """Set the limits of this process. Return the function to call before each stage."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)  # the runtimes print warnings

    def at(stage: int) -> None:
        current[1] = stage

    return at


def _work(connection: Connection, current: Any, seed: int, numbers: Iterable[int]) -> None:
    at = _guard(current)
    batch = Batch()
    for count, number in enumerate(numbers):
        current[0] = number
        about, found = judged(seed, number, at)
        batch.counts.update(found.counts)
        batch.found += [(number, about, each) for each in found.contradictions]
        if batch.found or count % _BATCH == _BATCH - 1:
            connection.send(batch)
            batch = Batch()
    batch.is_last = True
    connection.send(batch)


@dataclass
class Worker:
    """The parent's view of a worker process."""

    connection: Connection
    process: BaseProcess
    current: Any
    """The current model and stage, in shared memory; -1 before the first model."""
    seen: tuple[int, int] = (-1, -1)
    since: float = field(default_factory=time.monotonic)
    is_given_up: bool = False
    """True if the process exceeds the time limit, so that it has to be ended."""

    @classmethod
    def start(cls, seed: int, numbers: Iterable[int]) -> Worker:
        """Start a process that judges these models."""
        receiving, sending = multiprocessing.Pipe(duplex=False)
        current = multiprocessing.RawArray("q", [-1, 0])
        process = multiprocessing.get_context("fork").Process(
            target=_work, args=(sending, current, seed, numbers), daemon=True
        )
        process.start()
        sending.close()
        return cls(receiving, process, current)

    def is_stuck(self) -> bool:
        """Return whether the worker exceeds the time limit."""
        now = (self.current[0], self.current[1])
        if now != self.seen:
            self.seen, self.since = now, time.monotonic()
        self.is_given_up = time.monotonic() - self.since > SECONDS
        return self.is_given_up

    def end(self) -> tuple[int, int, str]:
        """End the process, or wait for one that has closed its connection. Return its model, its stage, and how."""
        if self.is_given_up:
            self.process.kill()
        self.process.join()
        code = self.process.exitcode or 0
        how = f"hangs for {SECONDS:.0f} s" if self.is_given_up else f"crashes with {_signal(code)}"
        return self.current[0], self.current[1], how


def _signal(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


OWN_STAGES = frozenset({0, 1, 5})
"""The stages that run onnx-lint. A crash or hang there is its fault."""


def fault_of(stage: int, how: str) -> Contradiction:
    """Return the contradiction for a worker that ended in a stage."""
    return Contradiction(CRASH if stage in OWN_STAGES else f"{STAGES[stage]} {how.split(' ')[0]}", how)
