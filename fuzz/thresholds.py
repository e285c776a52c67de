# SPDX-License-Identifier: Apache-2.0
"""The sizes above which files are read in another way, lowered so that small inputs are read like large ones."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import onnx_lint
from onnx_lint.common.cached import Memory
from onnx_lint.loader.binary import attempts

LOWERED: dict[str, tuple[int, ...]] = {
    "WHOLE_BYTES": (0,),
    "READ_AT_ONCE_BYTES": (0,),
    "_BYTES_AFTER_A_GAP": (1, 64),
    "PAYLOAD_BYTES": (128, 256),  # a multiple of 128, see skip_short
    "LONG_LIST_BYTES": (1, 64),
    "PIECE_BYTES": (24, 100, 1000),
    "MAX_PIECE_BYTES": (16_408, 16_484, 17_384),  # those and MAX_SHORT_BYTES
    "VARINT_PIECE_BYTES": (24, 100),
    "_PIECE_BYTES": (1, 100),
    "_STEP_BYTES": (1, 100, 1000),
    "_STRING_PIECE_BYTES": (24, 100),
    "WINDOW_BYTES": (64, 256),
    "LONG_RUN": (1, 2, 3),
    "_LONG_ROW": (1, 2, 3),
    "_SHALLOW": (0, 2),
    "MAX_SHARED_BYTES": (0, 20),
    "_MAX_PLAIN_BYTES": (0, 20),
    "_MAX_FORMS": (1, 3),
    "_SPARE_BYTES": (1,),
    "_RAW_PIECE_BYTES": (48, 96),  # a multiple of 48, which holds a whole number of elements of any type
    "_MAX_KEPT_BYTES": (0, 16),
    "_FEW_VALUES": (0, 3),
    "_SMALL_BYTES": (0, 64),
    "_MAX_KEPT": (0, 2),
    "MAX_OUTCOMES": (1, 5),
    "_MAX_JOINED": (1, 5),
    "_MAX_MEMOS": (1, 5),
    "_START_BYTES": (1, 16),
    "_UNASKED_BYTES": (0, 64),
}
"""The names of the constants, in any module, and their values for the test."""

KEPT: dict[str, str] = {
    "MAX_SHORT_BYTES": "what two bytes of length say, and no matter of choice",
    "INTEGER_BYTES": "what decides shapes is known in a file of any size",
    "_TAG_AND_LENGTH_BYTES": "the same for what is read at once",
    "_LONGEST_HEAD": "what a parser accepts",
    "MAX_VARINT_BYTES": "what Protocol Buffers reads",
    "MAX_SHORT_VARINT_BYTES": "the same for tags and lengths",
    "MAX_BYTES": "decides which numbers a rule reads",
    "MAX_POINTER_BYTES": "what a pointer of Git LFS has at most",
    "LEAST_WINDOW_BYTES": "what a source promises to give at once",
    "MAX_TRIED_BYTES": "beyond it less is looked for",
    "MAX_PARSED_BYTES": "what Protocol Buffers parses",
    "HEAD_BYTES": "decides what a file is",
    "_MIN_RUN_BYTES": "the estimate of memory is not compared",
    "TEXT_BYTES": "decides what a file is",
    "_MAX_BYTES_WITH_PAYLOADS": "beyond it less is looked for",
    "_MAX_NAME_BYTES": "beyond it a name is no operator's",
}
"""Constants with names like these that are not lowered, and why."""


_OF_EXTRAS = {"cluster", "remote"}


@functools.cache
def modules() -> tuple[ModuleType, ...]:
    """All modules of the package, which are imported for that: what is lowered may be in one that comes late.

    Those that need an extra are none of them, since no local file comes to them.
    """
    folder = Path(onnx_lint.__file__).parent
    found = (file for file in folder.rglob("*.py") if file.relative_to(folder).parts[0] not in _OF_EXTRAS)
    files = sorted(file.relative_to(folder.parent).with_suffix("") for file in found)
    return tuple(importlib.import_module(".".join(file.parts)) for file in files if not file.stem.startswith("__"))


@functools.cache
def constants() -> tuple[tuple[ModuleType, str, int], ...]:
    """Each constant that is lowered, with its module and its value."""
    return tuple((module, name, vars(module)[name]) for module in modules() for name in LOWERED if name in vars(module))


@functools.cache
def memories() -> tuple[tuple[Memory[Any, Any], int], ...]:
    """Return the caches for the next model, including those of facts about values, each with its limit."""
    found = [value for module in modules() for value in vars(module).values() if isinstance(value, Memory)]
    return tuple({id(memory): (memory, memory.bound) for memory in found}.values())


@contextmanager
def lowered(rng: Random) -> Iterator[None]:
    """Lower all of the constants for a while, forget soon, and let some models be read by the whole schema first."""
    chosen = {name: rng.choice(values) for name, values in LOWERED.items()}
    most = rng.choice((1, 3, 20))
    by_outline = attempts._regular
    try:
        for module, name, _ in constants():
            setattr(module, name, chosen[name])
        for memory, _ in memories():
            memory.bound = most
        if rng.random() < 0.3:
            attempts._regular = _never
        yield
    finally:
        attempts._regular = by_outline
        for module, name, value in constants():
            setattr(module, name, value)
        for memory, bound in memories():
            memory.bound = bound


def _never(*_: Any) -> None:
    """Replace the test whether a model can be read with the outline alone; return None, which means that none can."""
