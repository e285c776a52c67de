# SPDX-License-Identifier: Apache-2.0
"""Opens remote models before their turn, several at a time: a run spends most of its time waiting for stores."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from queue import SimpleQueue
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.input.limits import Limits
from onnx_lint.input.locations import shown_address, without_query
from onnx_lint.loader import read_first
from onnx_lint.loader.binary.first_location import first_location
from onnx_lint.remote import WHOLE_BYTES, open_remote
from onnx_lint.remote.access import AHEAD as AHEAD
from onnx_lint.remote.errors import TooLargeError
from onnx_lint.remote.source import RemoteSource

_MAX_BYTES: Final = 1 << 20
"""The most bytes of a model to fetch before its turn. Only a server without range requests returns more than asked."""

_MAX_EARLY_BYTES: Final = 1 << 22
"""The most further bytes of a larger model to fetch before its turn. Of each, MEMORY_BYTES are in memory."""

Opened = Callable[[], RemoteSource]
"""Returns the source of a model, or raises why it cannot be opened."""


class Opening(Record):
    """A model to open, with the settings that matter for it, see `onnx_lint.engine.settings`."""

    address: str
    limits: Limits
    proto: str | None
    external_data: bool

    def open(self, most: int | None = None) -> RemoteSource:
        """Open the model; see `open_remote`."""
        return open_remote(self.address, self.limits, most=most)


class Ahead:
    """Models that are being opened, by number. The caller limits how many there are."""

    def __init__(self) -> None:
        self._opening: dict[int, Future[Opened]] = {}
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads = 0

    def __len__(self) -> int:
        return len(self._opening)

    def begin(self, number: int, opening: Opening) -> None:
        """Begin to open a model."""
        future = self._opening[number] = Future()
        if self._threads < len(self._opening) and not self._has_another_thread():
            future.set_result(opening.open)
        else:
            self._jobs.put(lambda: _open(future, opening))

    def _has_another_thread(self) -> bool:
        """Start a thread, and return whether the system allows that."""
        # A daemon does not delay the end of the program, as a thread of ThreadPoolExecutor does.
        thread = threading.Thread(target=_work, args=(self._jobs,), daemon=True)
        try:
            thread.start()
        except RuntimeError:
            return False
        self._threads += 1
        return True

    def take(self, number: int) -> Opened | None:
        """Wait for a model, and remove it from here; None if it was not begun."""
        future = self._opening.pop(number, None)
        return future.result() if future is not None else None

    def first(self) -> int:
        """Wait until one of the models is there; return the lowest number of those that are."""
        done, _ = wait(self._opening.values(), return_when=FIRST_COMPLETED)
        return min(number for number, future in self._opening.items() if future in done)

    def close(self) -> None:
        """End the threads, each after the model that it is opening."""
        for _ in range(self._threads):
            self._jobs.put(None)


def _work(jobs: SimpleQueue[Callable[[], None] | None]) -> None:
    while (job := jobs.get()) is not None:
        job()


def _open(future: Future[Opened], opening: Opening) -> None:
    """Set the result of the future: a function that returns the source, or raises the error at the turn of the file."""
    try:
        source = opening.open(_MAX_BYTES)
        source.read_early(lambda: _read_early(source, opening), _MAX_EARLY_BYTES)
    except TooLargeError:
        future.set_result(opening.open)
    except BaseException as error:
        future.set_result(_raising(error))
    else:
        future.set_result(lambda: source)


def _read_early(source: RemoteSource, opening: Opening) -> None:
    """Make the requests that the linter makes first for a model."""
    if source.size > WHOLE_BYTES:
        read_first(source, without_query(shown_address(opening.address)), opening.limits, opening.proto)
    elif opening.external_data:
        location = first_location(source.read_at(0, source.size))
        if location is not None:
            source.beside(opening.limits.external_bytes).file(location)


def _raising(error: BaseException) -> Opened:
    def opened() -> RemoteSource:
        raise error

    return opened
