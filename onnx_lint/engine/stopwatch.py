# SPDX-License-Identifier: Apache-2.0
"""Measures where the time of a run goes, for `--timings`; nothing of this is imported without it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from onnx_lint.common.cached import Observer, observers
from onnx_lint.model import Graph, Model

_observing: ContextVar[Observer | None] = ContextVar("observing", default=None)
"""Who watches properties being worked out for the first time, in this context alone."""

_INDEXED = (Model, Graph)
"""The classes whose cached properties are indices that several rules share."""


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

    @contextmanager
    def on_indices(self) -> Iterator[None]:
        """Measure the indices of models apart from the rules that happen to ask for them first.

        They are built when they are first asked for, by cached properties.
        """
        token = _observing.set(self._indexed)
        observers.append(_observing.get)
        try:
            yield
        finally:
            observers.remove(_observing.get)
            _observing.reset(token)

    def _indexed(self, owner: Any, name: str, function: Callable[[Any], Any]) -> Any:
        if not isinstance(owner, _INDEXED):
            return function(owner)
        with self(f"index {name}"):
            return function(owner)
