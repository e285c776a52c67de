# SPDX-License-Identifier: Apache-2.0
"""No key is made of a file's numbers in such a way that the file can choose thousands of keys with one hash."""

from __future__ import annotations

import gc
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator
from types import FrameType
from typing import Any, Final

import pytest
from support.hostile.colliding import COLLIDING, colliding, model_of, scattered

from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load

FEW: Final = 40
SAME: Final = 12
"""So many equal hashes in one dictionary or set are no accident."""

TABLES: Final = (dict, set, frozenset)

SETTINGS: Final = Settings(limits=DEFAULT_LIMITS, pedantic=True)


@pytest.mark.parametrize("length", [2, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", COLLIDING)
def test_no_dictionary_and_no_set_has_keys_of_one_hash(kind: str, length: int):
    # Others for each kind: the facts of equal types outlive a model.
    numbers = colliding(FEW, length, start=1_000 * (list(COLLIDING).index(kind) + 1))
    assert len({hash(each) for each in numbers}) == 1
    source = BytesSource(model_of(kind, numbers))
    watch = _Watch()
    sys.setprofile(watch.look)
    try:
        lint_source(source, "model.onnx", SETTINGS)
    finally:
        sys.setprofile(None)
    for each in gc.get_objects():
        if isinstance(each, TABLES):
            watch.judge(each, "what is kept")
    assert watch.seen > FEW
    assert not watch.found


def test_problems_of_operands_are_no_keys():
    """A file can choose their numbers for the index of each node, whatever salt stands before both."""
    found = load(BytesSource(model_of("Reshape", colliding(FEW)))).value_flow
    assert len(found.shapes) >= FEW
    assert {type(part) for conflict in found.shapes for part in conflict.key} == {int, str}


class _Watch:
    """Looks into the local variables of each function that returns."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.seen = 0
        self._sizes: dict[int, int] = {}

    def look(self, frame: FrameType, event: str, _: object) -> None:
        if event == "return" and "onnx_lint" in frame.f_code.co_filename:
            for name, value in frame.f_locals.items():
                if isinstance(value, TABLES):
                    self.judge(value, f"{name} of {frame.f_code.co_qualname}")

    def judge(self, value: Collection[Any], where: str) -> None:
        if len(value) < SAME:
            return
        if self._sizes.get(id(value)) == len(value):
            return  # it has been judged
        self._sizes[id(value)] = len(value)
        self.seen += 1
        # A text and its bytes have one hash, and so has an entry of the interpreter's own, now and then.
        ((most, count),) = Counter(map(hash, value)).most_common(1)
        if count >= SAME:
            self.found.append(f"{count} keys in {where}: {[key for key in value if hash(key) == most][:2]}")


# --- time


def _seconds(data: bytes) -> float:
    start = time.process_time()
    lint_source(BytesSource(data), "model.onnx", SETTINGS)
    return time.process_time() - start


@pytest.mark.growth
@pytest.mark.parametrize("kind", sorted({*COLLIDING} - {"ScatterND", "tree ensemble"}))
def test_numbers_that_collide_take_as_long_as_others(kind: str):
    """Twice as long is the limit here; without salted keys it is five times and more."""
    numbers = colliding(4_000)
    data, control = model_of(kind, numbers), model_of(kind, scattered(numbers))
    ratios: Iterator[float] = (_seconds(data) / _seconds(control) for _ in range(4))
    assert any(ratio < 2 for ratio in ratios)
