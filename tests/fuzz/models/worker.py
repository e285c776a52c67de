# SPDX-License-Identifier: Apache-2.0
"""A process that judges models under watch: what it was at is known however it ends."""

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

from .builder import Made
from .generator import model_of
from .oracle import CRASH, STAGES, Contradiction, Judged, judge

SECONDS = 30.0
"""How long a worker may be at one stage of a model, by the clock; others share the machine."""

MEMORY_BYTES = 6 << 30

_BATCH = 20
"""What so many models were counted as is told at once."""


@dataclass
class Told:
    """What a worker tells of some models."""

    found: list[tuple[int, str, Contradiction]] = field(default_factory=list)
    """The number of the model and what it is about beside each contradiction."""
    counts: Counter[str] = field(default_factory=Counter)
    is_last: bool = False


def keys_alone(made: Made) -> list[tuple[str, str]]:
    """The kinds and lines of the contradictions about a model, found in a process of its own."""
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
    _, stage, how = worker.end()
    fault = fault_of(stage, how)
    return [(fault.kind, fault.line)]


def _alone(connection: Connection, current: Any, made: Made) -> None:
    at = _guard(current)
    connection.send([(each.kind, each.line) for each in judge(made, at).contradictions])


def judged(seed: int, number: int, at: Any) -> tuple[str, Judged]:
    """Make and judge one model; what it is about, and what was found."""
    at(0)
    try:
        made = model_of(seed, number)
    except Exception:
        found = Judged()
        found.note("the generator fails", traceback.format_exc())
        return "", found
    return made.about, judge(made, at)


def _guard(current: Any) -> Callable[[int], None]:
    """Put this process under its limits; what to call with the number of each stage."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)  # the runtimes print what is no matter here

    def at(stage: int) -> None:
        current[1] = stage

    return at


def _work(connection: Connection, current: Any, seed: int, numbers: Iterable[int]) -> None:
    at = _guard(current)
    told = Told()
    for count, number in enumerate(numbers):
        current[0] = number
        about, found = judged(seed, number, at)
        told.counts.update(found.counts)
        told.found += [(number, about, each) for each in found.contradictions]
        if told.found or count % _BATCH == _BATCH - 1:
            connection.send(told)
            told = Told()
    told.is_last = True
    connection.send(told)


@dataclass
class Worker:
    """A worker process as the run sees it."""

    connection: Connection
    process: BaseProcess
    current: Any
    """The number of the model and the stage that it is at, in memory that both see; -1 before the first model."""
    seen: tuple[int, int] = (-1, -1)
    since: float = field(default_factory=time.monotonic)

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
        """Whether it has been at one stage of a model for too long."""
        now = (self.current[0], self.current[1])
        if now != self.seen:
            self.seen, self.since = now, time.monotonic()
        return time.monotonic() - self.since > SECONDS

    def end(self) -> tuple[int, int, str]:
        """End the process; the model and the stage at which it was, and how it ended."""
        self.process.join(0.5)
        is_stuck = self.process.is_alive()
        if is_stuck:
            self.process.kill()
            self.process.join()
        code = self.process.exitcode or 0
        how = f"hangs for {SECONDS:.0f} s" if is_stuck else f"crashes with {_signal(code)}"
        return self.current[0], self.current[1], how


def _signal(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


OWN_STAGES = frozenset({0, 1, 5})
"""The stages in which onnx-lint is at work: to crash or hang there is a fault of its own."""


def fault_of(stage: int, how: str) -> Contradiction:
    """The contradiction that a worker has ended at a stage."""
    return Contradiction(CRASH if stage in OWN_STAGES else f"{STAGES[stage]} {how.split(' ')[0]}", how)
