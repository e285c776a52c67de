# SPDX-License-Identifier: Apache-2.0
"""What becomes of memory: the only file that switches the cyclic garbage collector, or leaves memory as it is."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import contextmanager

TYPE_CHECKING = False  # see onnx_lint: typing makes objects, which the collector would look through
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Final

    Release = Callable[[], None]
    """Gives back the memory of an object whose parts refer to each other."""

_MANY_OBJECTS = 50_000
"""Of so many new ones enough are garbage for a look: a thousand nodes have a quarter of them."""


@contextmanager
def held_to_the_end() -> Iterator[None]:
    """Hold the garbage collector while the program runs, and leave all memory to the end of the process.

    There is hardly any garbage but what is left of a file, and that is collected before the next one (`let_go`), so
    it need not be looked for after every 700 objects (docs/performance.md: collector-at-start). At the end the memory
    goes back at once, without the look through the last model that the interpreter takes there (docs/performance.md:
    collector-at-end).
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()


def end_at_once(code: int) -> None:
    """End the process with this exit code; return where somebody waits for its end, or output cannot be written.

    The interpreter would take all modules apart first, to give back memory that goes with the process
    (docs/performance.md: end-at-once). Callbacks of `atexit`, as of what measures coverage, and other threads are left
    to it.
    """
    threading = sys.modules.get("threading")  # whoever has started a thread has imported it
    if atexit._ncallbacks() or (threading is not None and threading.active_count() > 1):
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(code)


def is_lack_of_memory(error: BaseException) -> bool:
    """Return whether memory ran out. Protocol Buffers only say that they cannot write a message."""
    return isinstance(error, MemoryError) or type(error).__name__ == "EncodeError"


_left: Final[list[Release]] = []
"""What gives back the memory of the last file, where the program holds the garbage collector to its end."""


@contextmanager
def held_for_a_file() -> Iterator[Callable[[Release], None]]:
    """Hold the garbage collector while one file is linted, and hand out what to call when nobody needs the model more.

    A large model makes hundreds of thousands of objects that all stay, and are not to be looked through for garbage
    again and again (docs/performance.md: collector-for-a-file). Nothing may refer to the model any more when the
    collector is let go: it looks at once, and what it comes upon then it looks at again only much later.

    What is handed out takes what releases the model: nothing is left of it then for the collector
    (docs/performance.md: model-released). Where the program holds the collector to its end, it waits for `let_go`.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    left: list[Release] = [] if was_enabled else _left
    try:
        yield left.append
    finally:
        if was_enabled:
            _release(left)
            gc.enable()


def _release(left: list[Release]) -> None:
    while left:
        left.pop()()


def let_go() -> None:
    """Give back the memory of the files before, where the program holds the garbage collector to its end.

    The last file's memory goes with the process.
    """
    _release(_left)
    if not gc.isenabled() and gc.get_count()[0] > _MANY_OBJECTS:
        gc.collect(0)  # what is older belongs to the program


def collect_new() -> None:
    """Give back what was made a moment ago and nobody refers to any more, which would stay as long as the file else."""
    gc.collect(0)
