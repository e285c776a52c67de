# SPDX-License-Identifier: Apache-2.0
"""Access to stores: retries, and limits on the time of requests and on the memory of the answers to a listing."""

from __future__ import annotations

import contextlib
import logging
import random
import time
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from onnx_lint.common.record import Record
from onnx_lint.common.visible import visible
from onnx_lint.input.limits import Limits, refusal, size_in_words
from onnx_lint.input.locations import shown_address
from onnx_lint.remote.errors import RemoteError, explained, is_transient

T = TypeVar("T")

TRIES: Final = 4
DELAYS: Final = (0.5, 1.0, 2.0)
"""The seconds to wait before each further attempt, reduced at random by up to half."""

AHEAD: Final = 32
"""The number of models of a run that are opened at a time, see `onnx_lint.remote.ahead`."""

_ANNOUNCED_SECONDS: Final = 2
"""A server may ask for a delay. A delay of this many seconds or more is announced."""

_MAX_DIGITS: Final = 18

_log: Final = logging.getLogger("onnx_lint")
"""Warnings go to standard error, unless the program that uses onnx-lint configures logging."""

_LEAST_RATE: Final = 1 << 14
"""Bytes per second. A response below this rate counts as a failure."""


class Patience:
    """The time spent on a store, with its limit."""

    def __init__(self, seconds: int) -> None:
        """`seconds`: the limit for all requests together."""
        self._seconds = seconds
        self._spent = 0.0
        self._begun: float | None = None
        """The time at which the current request began."""

    @contextlib.contextmanager
    def spent(self) -> Iterator[None]:
        """Count the time spent inside this context. Raises RemoteError if none is left."""
        self.check()
        self._begun = begun = time.monotonic()
        try:
            yield
        finally:
            self._begun = None
            self._spent += time.monotonic() - begun

    def check(self, reason: str = "") -> None:
        """Raise RemoteError if no time is left, that of the request that goes on included.

        `reason`: what to say before the limit.
        """
        begun = self._begun
        if self._spent + (time.monotonic() - begun if begun is not None else 0.0) > self._seconds:
            raise RemoteError(f"{reason}the requests took longer than {self._limit}")

    @property
    def left(self) -> float:
        """The seconds that are left; a moment at least, in which a request may fail."""
        return max(self._seconds - self._spent, 1.0)

    def wait(self, seconds: float, reason: str) -> None:
        """Wait before the next attempt. Raises RemoteError at once if less time is left.

        `reason`: why the last attempt failed.
        """
        if self._spent + seconds > self._seconds:
            raise RemoteError(f"{reason}, and the requests and the waits between them would exceed {self._limit}")
        with self.spent():
            time.sleep(seconds)

    @property
    def _limit(self) -> str:
        return f"the limit remote_seconds of {self._seconds:,} (option --limit remote_seconds=N)"


class Answers:
    """The memory that the answers to one listing need, estimated from their bytes."""

    def __init__(self) -> None:
        self.memory = 0

    def add(self, data: bytes) -> None:
        """Count a part of an answer in XML or JSON."""
        self.memory += len(data) * _MEMORY_PER_BYTE
        self.memory += sum(data.count(mark) * memory for mark, memory in _MEMORY_PER_MARK.items())


_MEMORY_PER_ANSWER: Final = 1 << 16
"""The bytes of memory that each answer counts for at least, so that empty answers have an end: 32,768 by default."""

_MEMORY_PER_BYTE: Final = 3
_MEMORY_PER_MARK: Final = {b"<": 120, b"{": 1_200, b"[": 100, b",": 40}
"""The bytes of memory for a byte of an answer, and for a mark that begins an element, object, list or member.

`tests/remote/test_answers.py` compares them with the memory that the file systems need.
"""


class Access(Record):
    """The limits on the requests for one model or listing, the time spent on them, and the answers to a listing."""

    limits: Limits
    patience: Patience
    answers: Answers

    def seconds_for(self, length: int) -> float:
        """Return how many seconds a response of `length` bytes may take, of those that are left for all requests."""
        return min(self.limits.request_seconds + length / _LEAST_RATE, self.patience.left)

    def begin_answer(self) -> None:
        """Count an answer to a listing. Raises RemoteError if no time is left, or too much memory is needed."""
        self.answers.memory += _MEMORY_PER_ANSWER
        self._check()

    def add_answer(self, data: bytes) -> None:
        """Count a part of an answer to a listing. Raises RemoteError as `begin_answer` does."""
        self.answers.add(data)
        self._check()

    def _check(self) -> None:
        self.patience.check()
        needed = self.answers.memory
        if needed > self.limits.memory:
            described = f"the answers of the store so far need about {size_in_words(needed)} of memory"
            raise RemoteError(refusal("memory", self.limits, described, None))


def access_of(limits: Limits) -> Access:
    """Return the access for one model or listing, whose time is counted from now on."""
    return Access(limits, Patience(limits.remote_seconds), Answers())


def tried(act: Callable[[], T], address: str, access: Access) -> T:
    """Return the result of `act`, repeated after failures that may be temporary. Raises RemoteError."""
    seconds = min(access.limits.request_seconds, access.limits.remote_seconds)
    for number in range(1, TRIES + 1):
        try:
            with access.patience.spent():
                return act()
        except Exception as error:
            if not is_transient(error):
                raise explained(error, address, seconds) from None
            if number == TRIES:
                raise explained(error, address, seconds, TRIES) from None
            wanted = _retry_after(error, access)
            if wanted >= _ANNOUNCED_SECONDS:
                _log.warning(
                    "Waiting %.0f s before the next request to %s, as its server asked (Retry-After)",
                    *(wanted, visible(shown_address(address))),
                )
            delay = max(DELAYS[number - 1] * random.uniform(0.5, 1), wanted)
            access.patience.wait(delay, str(explained(error, address, seconds)))
    raise AssertionError("the last try returns or raises")


def _retry_after(error: BaseException, access: Access) -> float:
    """Return the delay that the server asks for in seconds, at most `request_seconds`; 0 if it asks for none."""
    headers = getattr(error, "headers", None) or {}
    text = headers.get("Retry-After", "").strip() if hasattr(headers, "get") else ""
    if text.isascii() and text.isdigit():
        return min(float(text[:_MAX_DIGITS]), access.limits.request_seconds)
    return 0.0


@contextlib.contextmanager
def as_remote_errors(address: str, access: Access) -> Iterator[None]:
    """Turn the exceptions of the file system into RemoteErrors."""
    try:
        yield
    except Exception as error:
        raise explained(error, address, access.limits.request_seconds) from None
