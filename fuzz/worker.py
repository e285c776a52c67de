# SPDX-License-Identifier: Apache-2.0
"""A process that checks inputs under watch: which input took too long, or too much memory, is known however it ends."""

from __future__ import annotations

import contextlib
import functools
import gc
import multiprocessing
import resource
import signal
import time
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any

from .corpus import Seed, seeds
from .inputs import input_of
from .oracle import problem_of

SECONDS = 30.0
"""The processor time for one input. After that, Python prints where it was.

It ends inputs that would never end, also on slow machines. `costs` checks whether an input takes too long for its size.
"""

HARD_SECONDS = 4
"""So much longer it may be where no Python runs that could say anything; then the system ends the process."""

STUCK_SECONDS = 600.0
"""After so long a worker that goes on with no input is ended from outside: it waits for something."""

MEMORY_BYTES = 1 << 30


class HangError(BaseException):
    """An input took too long; no Exception, so that nothing that is tested can catch it."""


def _hang(_signal: int, _frame: FrameType | None) -> None:
    raise HangError


def checked(given: Seed, number: int) -> str | None:
    """Return what is wrong with an input, a hang included; the oracle depends on `number`."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(_limited_time() + SECONDS) + 1 + HARD_SECONDS, most))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return problem_of(given, number)
    except HangError as error:
        where = "".join(traceback.format_tb(error.__traceback__)[-6:-1])
        return f"more than {SECONDS} s of the processor\n{where}"
    except MemoryError:
        return f"more than {MEMORY_BYTES} bytes of memory"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _limited_time() -> float:
    """Return seconds of the processor by the clock of RLIMIT_CPU.

    Linux adds up whole ticks there, which after some minutes beside other work were 10 s more than what the process was
    given, and ended workers at inputs that take a tenth of a second.
    """
    try:
        return time.clock_gettime(_PROF_CLOCK)
    except OSError:  # another system
        return time.process_time()


_PROF_CLOCK = ~0 << 3
"""CPUCLOCK_PROF of the process itself, in the numbers that Linux gives to clocks of processes."""


def check(seed: int, number: int) -> str | None:
    """Return what is wrong with input `number` of the run with `seed`."""
    return checked(input_of(seed, number), number)


@dataclass(frozen=True, slots=True)
class Cost:
    """The greatest cost of an input, for one worker or all of them."""

    seconds: float = 0.0
    """Seconds of the processor, for one input and everything that it is compared with."""
    number: int = -1
    """The number of the input that took longest."""
    peak_kib: int = 0
    """Resident memory of a worker, the seeds and the interpreter in it."""

    def joined(self, other: Cost) -> Cost:
        """The greater of each."""
        longer = max(self, other, key=lambda cost: cost.seconds)
        return replace(longer, peak_kib=max(self.peak_kib, other.peak_kib))


@functools.cache
def warm_up() -> None:
    """Load what is loaded once, before processes are forked, so that it is not part of the cost of an input."""
    for number in range(-3, 0):
        problem_of(seeds()[0], number)
    gc.collect()
    gc.freeze()  # the seeds are no garbage, and to look through them takes longer than most inputs


def _guard() -> None:
    """Put this process under its limits."""
    warm_up()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, _hang)


def _work(connection: Connection, current: Any, seed: int, numbers: Iterable[int]) -> None:
    """Check the inputs; print the number of each before it is checked, what is found, and at the end the cost."""
    _guard()
    cost = Cost()
    for number in numbers:
        current.value = number
        started = time.process_time()
        problem = check(seed, number)
        spent = time.process_time() - started
        if spent > cost.seconds:
            cost = Cost(spent, number)
        cost = replace(cost, peak_kib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        if problem is not None:
            connection.send((number, problem, cost))
    connection.send((None, None, cost))


@dataclass
class Worker:
    """A worker process as the run sees it."""

    connection: Connection
    process: BaseProcess
    current: Any
    """The number of the input that it is at, in memory that both see; -1 before the first."""
    seen: int = -1
    since: float = field(default_factory=time.monotonic)
    """Since when it is at the input that was `seen` last."""
    is_given_up: bool = False
    """True if the process takes too long, so that it has to be ended."""

    @classmethod
    def start(cls, seed: int, numbers: Iterable[int]) -> Worker:
        """Start a process that checks these inputs of the run with `seed`."""
        warm_up()
        receiving, sending = multiprocessing.Pipe(duplex=False)
        current = multiprocessing.RawValue("q", -1)
        process = multiprocessing.Process(target=_work, args=(sending, current, seed, numbers), daemon=True)
        process.start()
        sending.close()
        return cls(receiving, process, current)

    def is_stuck(self) -> bool:
        """Return whether it has been at one input for too long."""
        if self.current.value != self.seen:
            self.seen, self.since = self.current.value, time.monotonic()
        self.is_given_up = time.monotonic() - self.since > STUCK_SECONDS
        return self.is_given_up

    def end(self) -> str:
        """End the process, or wait for the end of one that has closed its connection; how it ended."""
        if self.is_given_up:
            self.process.kill()
        self.process.join()
        if self.is_given_up:
            return f"nothing for {STUCK_SECONDS:.0f} s"
        code = self.process.exitcode or 0
        if code == -signal.SIGXCPU:
            return f"more than {SECONDS + HARD_SECONDS} s of the processor, where no Python runs"
        return f"the process ended with code {code}"


def _alone(connection: Connection, given: Seed, number: int) -> None:
    _guard()
    connection.send(checked(given, number))


def checked_alone(given: Seed, number: int) -> str | None:
    """Return what is wrong with an input, checked in a separate process, which may crash."""
    warm_up()
    receiving, sending = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=_alone, args=(sending, given, number), daemon=True)
    process.start()
    sending.close()
    worker = Worker(receiving, process, multiprocessing.RawValue("q", number))
    with contextlib.suppress(EOFError):
        if receiving.poll(STUCK_SECONDS):
            problem: str | None = receiving.recv()
            process.join()
            return problem
        worker.is_given_up = True
    return worker.end()
