# SPDX-License-Identifier: Apache-2.0
"""What becomes of memory: the only file that switches the cyclic garbage collector, or takes a model apart."""

from __future__ import annotations

import gc
from contextlib import contextmanager

TYPE_CHECKING = False  # see onnx_lint: typing makes objects, which the collector would look through
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FEW_NODES = 1_000
"""The memory of a model of more goes with the process where it is the last."""

_MANY_OBJECTS = 50_000
"""Of so many new ones enough are garbage for a look: a thousand nodes have a quarter of them."""


@contextmanager
def held_to_the_end() -> Iterator[None]:
    """Hold the garbage collector while the program runs, and leave all memory to the end of the process.

    There is hardly any garbage but what is left of a file, and that is collected before the next one (`let_go`): to
    look for some after every 700 objects takes 10 ms of the 100 of start-up. At the end the memory goes back at once:
    that of the last model looked through for garbage, which is what the interpreter does there, takes a tenth of the
    time on 100,000 nodes.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()


@contextmanager
def held_for_a_file() -> Iterator[None]:
    """Hold the garbage collector while one file is linted.

    A large model makes hundreds of thousands of objects that all stay; looking through them again and again for
    garbage costs a quarter of the time on 100,000 nodes. Nothing may refer to the model any more when the collector
    is let go: it looks at once, and what it comes upon then it looks at again only much later.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def let_go() -> None:
    """Give back the memory of the files before, where the program holds the garbage collector to its end.

    The last file's memory goes with the process, which takes a tenth of the time that it takes to give it back object
    by object.
    """
    if not gc.isenabled() and gc.get_count()[0] > _MANY_OBJECTS:
        gc.collect(0)  # what is older belongs to the program


def take_apart(parts: Iterable[object]) -> None:
    """Empty objects that nobody needs any more, such as a model and its graphs, and so free their memory.

    They refer to each other. To find that out takes the garbage collector three times as long, a fifteenth of the
    time of a run over small models.
    """
    for part in parts:
        vars(part).clear()
