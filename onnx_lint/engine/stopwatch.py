# SPDX-License-Identifier: Apache-2.0
"""Measures the time of each part of a run, for `--timings`. It is not imported without that option."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Adds up the seconds of named parts. Time in a part inside of another counts only for the inner one."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._outer: list[str] = []
        self._since = time.perf_counter()

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        """Measure a part."""
        self._count()
        self._outer.append(part)
        try:
            yield
        finally:
            self._count()
            self._outer.pop()

    def _count(self) -> None:
        """Add the time since the last call to the part that is running."""
        now = time.perf_counter()
        if self._outer:
            part = self._outer[-1]
            self.seconds[part] = self.seconds.get(part, 0.0) + now - self._since
        self._since = now
