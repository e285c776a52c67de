# SPDX-License-Identifier: Apache-2.0
"""Opens remote models before their turn, several at a time: a run spends most of its time waiting for stores."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from queue import SimpleQueue
from typing import Final, Protocol

from onnx_lint.input.limits import Limits
from onnx_lint.input.locations import shown_address, without_query
from onnx_lint.ir.tensors.external import first_location
from onnx_lint.loader import read_first
from onnx_lint.remote import WHOLE_BYTES, open_remote
from onnx_lint.remote.access import AHEAD as AHEAD
from onnx_lint.remote.errors import TooLargeError
from onnx_lint.remote.source import RemoteSource

_MOST_BYTES: Final = 1 << 20
"""The most bytes of a model to fetch before its turn. Only a server without range requests returns more than asked."""

_MOST_EARLY_BYTES: Final = 1 << 22
"""The most further bytes of a larger model to fetch before its turn."""

_ALL_EARLY_BYTES: Final = 1 << 25
"""The most further bytes of all models that wait for their turn."""

Opened = Callable[[], RemoteSource]
"""Returns the source of a model, or raises why it cannot be opened."""


class OpeningSettings(Protocol):
    """The settings of the linter that matter here, see `onnx_lint.engine.settings`."""

    @property
    def limits(self) -> Limits:
        """The limits on the model."""

    @property
    def proto(self) -> str | None:
        """The message in the file; None to recognize it."""

    @property
    def external_data(self) -> bool:
        """True if files of external data are looked up."""


class Ahead:
    """Models that are being opened, by number. The caller limits how many there are."""

    def __init__(self) -> None:
        self._opening: dict[int, Future[Opened]] = {}
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._threads = 0
        self._room = _Room(_ALL_EARLY_BYTES)

    def __len__(self) -> int:
        return len(self._opening)

    def begin(self, number: int, address: str, settings: OpeningSettings) -> None:
        """Begin to open the model at an address."""
        future = self._opening[number] = Future()
        if self._threads < len(self._opening) and not self._has_another_thread():
            future.set_result(lambda: open_remote(address, settings.limits))
        else:
            self._jobs.put(lambda: _open(future, self._room, address, settings))

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


def _open(future: Future[Opened], room: _Room, address: str, settings: OpeningSettings) -> None:
    """Set the result of the future, which never is an exception: the linter raises that in its turn."""
    try:
        source = open_remote(address, settings.limits, most=_MOST_BYTES)
        early = _read_early(source, room, address, settings)
    except TooLargeError:
        future.set_result(lambda: open_remote(address, settings.limits))
    except BaseException as error:
        future.set_result(_raising(error))
    else:

        def opened() -> RemoteSource:
            room.give_back(early)
            return source

        future.set_result(opened)


def _read_early(source: RemoteSource, room: _Room, address: str, settings: OpeningSettings) -> int:
    """Make the requests that the linter makes first for a model, until there is no more room.

    Return the number of bytes that they take up.
    """
    taken = 0

    def may_fetch(size: int) -> bool:
        nonlocal taken
        if taken + size > _MOST_EARLY_BYTES or not room.take(size):
            return False
        taken += size
        return True

    def read(source: RemoteSource) -> None:
        if source.size > WHOLE_BYTES:
            read_first(source, without_query(shown_address(address)), settings.limits, settings.proto)
        elif settings.external_data:
            location = first_location(source.read_at(0, source.size))
            if location is not None:
                source.beside(settings.limits.external_bytes).file(location)

    source.read_early(read, may_fetch)
    return taken


class _Room:
    """The bytes that all models together may still take up."""

    def __init__(self, size: int) -> None:
        self._left = size
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        """Take that many bytes; return whether there were as many."""
        with self._lock:
            if size > self._left:
                return False
            self._left -= size
            return True

    def give_back(self, size: int) -> None:
        """Return bytes that were taken."""
        with self._lock:
            self._left += size


def _raising(error: BaseException) -> Opened:
    def opened() -> RemoteSource:
        raise error

    return opened
