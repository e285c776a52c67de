# SPDX-License-Identifier: Apache-2.0
"""The cost of an input: processor time and memory beyond the allowance for its size."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

LEAST_SECONDS = 0.15
SECONDS_PER_BYTE = 15e-6
"""Seconds of the processor. Honest inputs take a fifth of it at most, and a quadratic rule takes more for 5 kB."""

SECONDS_PER_FINDING = 0.1e-3
"""The time for a finding with a fix on a quiet machine, however many there are; half of it is for the bytes."""

SECONDS_PER_GRAPH = 50e-6
"""The time for a graph or function; an empty one, of two bytes, takes 30 µs on a quiet machine."""

REFERENCE_SECONDS = 0.035
"""The time of `_seconds_of_reference_work` on the machine of these figures; slower machines get more time."""

LEAST_BYTES = 24 << 20
BYTES_PER_BYTE = 12
"""Bytes of memory. A run may use 64 MB, interpreter and rules included, and 12 bytes a byte; the memory before the run
is not counted."""

BYTES_PER_GRAPH = 5_000
"""Bytes of memory for a graph or function, as the loader estimates; an empty one is two bytes in a file."""

_PEAK, _NOW = re.compile(rb"VmHWM:\s+(\d+) kB"), re.compile(rb"VmRSS:\s+(\d+) kB")
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass
class Cost:
    """The time and memory of a piece of work."""

    seconds: float = 0.0
    """Seconds of the processor."""
    memory: int = 0
    """The bytes at the peak, minus those before; 0 if the system does not report them."""


@contextmanager
def measured() -> Iterator[Cost]:
    """Measure the work inside the context."""
    cost = Cost()
    before = _reset_peak()
    started = time.process_time()
    try:
        yield cost
    finally:
        cost.seconds = time.process_time() - started
        if before is not None:
            cost.memory = max(_kib(_PEAK) - before, 0) << 10


def _reset_peak() -> int | None:
    """Reset the peak of this process to its current memory, and return that in KiB; None if the system cannot do it."""
    try:
        _RESET.write_bytes(b"5")
        return _kib(_NOW)
    except OSError:  # no Linux
        return None


def _slowness() -> float:
    """Return how many times longer a piece of Python takes than on the machine of the figures; at least 1."""
    return max(1.0, min(_seconds_of_reference_work() for _ in range(3)) / REFERENCE_SECONDS)


@functools.cache
def _usual_slowness() -> float:
    """Return the slowness when this was asked first, so that a slow machine does not do most inputs again."""
    return _slowness()


def _seconds_of_reference_work() -> float:
    started = time.process_time()
    table = {f"name {number}": (number, number % 7) for number in range(100_000)}
    sorted(table.values(), key=lambda pair: pair[1])
    return time.process_time() - started


def _kib(wanted: re.Pattern[bytes]) -> int:
    found = wanted.search(_STATUS.read_bytes())
    return int(found[1]) if found is not None else 0


def excess(cost: Cost, size: int, findings: int, again: Callable[[], Cost], graphs: int = 0) -> str | None:
    """Return the fault in the cost of an input of `size` bytes with findings and graphs; `again` does the work again.

    A process that others hold up is slow too, so what is slow has to be so each time, and for the speed of the machine.
    """
    seconds = LEAST_SECONDS + SECONDS_PER_BYTE * size + SECONDS_PER_FINDING * findings + SECONDS_PER_GRAPH * graphs
    if cost.seconds > seconds and cost.seconds > seconds * _usual_slowness():
        slow = min(cost.seconds, again().seconds, again().seconds)
        seconds *= _slowness()
        if slow > seconds:
            return f"{slow:.2f} s of the processor for {size:,} bytes, more than {seconds:.2f} s"
    most = LEAST_BYTES + BYTES_PER_BYTE * size + BYTES_PER_GRAPH * graphs
    if cost.memory > most:
        return f"{cost.memory >> 20} MiB of memory for {size:,} bytes, more than {most >> 20} MiB"
    return None
