# SPDX-License-Identifier: Apache-2.0
"""Counts the requests that a server has at the same time."""

from __future__ import annotations

import threading

from support.servers.web_server import Asked, File

PATIENCE_SECONDS = 300
"""Only a failing test waits so long."""


class Crowd:
    """Holds requests back until `wanted` of them are there at the same time, and counts them."""

    def __init__(self, wanted: int, free: int = 0, *, only_later_parts: bool = False) -> None:
        """`free`: how many requests are answered at once before that. `only_later_parts`: whether requests for the
        beginning of a file are answered at once, whenever they come.
        """
        self._wanted = wanted
        self._free = free
        self._only_later_parts = only_later_parts
        self._lock = threading.Lock()
        self._is_complete = threading.Event()
        self._now = 0
        self.most = 0

    def __call__(self, _file: File, asked: Asked) -> None:
        if self._only_later_parts and (asked.range or "").startswith("bytes=0-"):
            return
        with self._lock:
            if self._free:
                self._free -= 1
                return
            self._now += 1
            self.most = max(self.most, self._now)
            if self._now == self._wanted:
                self._is_complete.set()
        self._is_complete.wait(PATIENCE_SECONDS)
        with self._lock:
            self._now -= 1

    @property
    def was_complete(self) -> bool:
        return self._is_complete.is_set()
