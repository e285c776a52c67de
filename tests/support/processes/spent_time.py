# SPDX-License-Identifier: Apache-2.0
"""A clock for tests: the processor time of a file is up at a chosen look, so that nothing has to take long."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from onnx_lint.common import deadline


class Clock:
    """Counts the looks, and shows that the time is up from one of them on."""

    def __init__(self, looks: float) -> None:
        self.left = looks
        self.count = 0

    def wall(self) -> float:
        """Return a time that makes each look ask for the processor time."""
        if not deadline.is_set():
            return 0.0
        self.count += 1
        self.left -= 1
        return 0.0 if self.left >= 0 else math.inf

    def processor(self) -> float:
        """Return the processor time."""
        return 0.0 if self.left >= 0 else math.inf


@contextmanager
def time_is_up_after(looks: float) -> Iterator[Clock]:
    """Let the time of each file in the block be up after so many looks; the first file counts for all of them."""
    clock = Clock(looks + 1)  # a new deadline reads the clock once
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deadline, "perf_counter", clock.wall)
        patch.setattr(deadline, "_processor_time", clock.processor)
        yield clock
