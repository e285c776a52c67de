# SPDX-License-Identifier: Apache-2.0
"""Measures where the time of a run goes, for `--timings`; nothing of this is imported without it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Adds up the seconds of named parts; what runs within another part counts for the inner one only."""

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
        """Give the time since the last look to the part that is running."""
        now = time.perf_counter()
        if self._outer:
            part = self._outer[-1]
            self.seconds[part] = self.seconds.get(part, 0.0) + now - self._since
        self._since = now
