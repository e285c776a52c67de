# SPDX-License-Identifier: Apache-2.0
"""Manages the release of memory. Only this file switches the cyclic garbage collector."""

from __future__ import annotations

import gc
from contextlib import contextmanager

TYPE_CHECKING = False  # see onnx_lint: importing typing creates objects that the collector would have to scan
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Final

    Releaser = Callable[[], None]
    """Releases the memory of an object whose parts refer to each other."""

_MANY_OBJECTS = 75_000
"""The number of new objects that makes a collection worthwhile. A thousand nodes have a sixth of it.

A run that ends before needs no collection: with 50,000, sixty small models took 1.2 % more instructions.
"""


@contextmanager
def collector_off_until_exit() -> Iterator[None]:
    """Disable the garbage collector while the program runs, and freeze all objects at the end.

    The only garbage to speak of is that of a finished file, which `release_memory` collects before the next one, so a
    collection after every 700 objects is not needed. At the end the process returns its memory at once, without the
    interpreter's collection of the last model (docs/performance.md: collector-at-end).
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()


def is_lack_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out. Protocol Buffers then only report that they cannot write a message."""
    return isinstance(error, MemoryError) or type(error).__name__ == "EncodeError"


_pending: Final[list[Releaser]] = []
"""The releasers of the last file, which `release_memory` calls if the garbage collector stays disabled."""


@contextmanager
def collector_off_for_file() -> Iterator[Callable[[Releaser], None]]:
    """Disable the garbage collector while one file is linted, and yield a function that registers releasers.

    A large model creates hundreds of thousands of lasting objects, which should not be scanned again and again
    (docs/performance.md: collector-for-a-file). At the end each registered releaser is called, so that the collector
    finds nothing of the model (docs/performance.md: model-released); `release_memory` calls it later if the program
    keeps the collector disabled.

    Precondition: no reference to the model is left at the end. Otherwise the collector, which runs at once, scans it
    and moves it to an old generation.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    pending: list[Releaser] = [] if was_enabled else _pending
    try:
        yield pending.append
    finally:
        if was_enabled:
            _release(pending)
            gc.enable()


def _release(pending: list[Releaser]) -> None:
    while pending:
        pending.pop()()


def release_memory() -> None:
    """Release the memory of earlier files, if the program keeps the garbage collector disabled.

    The memory of the last file is returned with the process.
    """
    _release(_pending)
    if not gc.isenabled() and gc.get_count()[0] > _MANY_OBJECTS:
        gc.collect(0)  # older objects belong to the program


def collect_new() -> None:
    """Collect garbage among the newest objects. Otherwise it would stay until the file is done."""
    gc.collect(0)
