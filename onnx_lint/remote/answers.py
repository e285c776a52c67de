# SPDX-License-Identifier: Apache-2.0
"""Bounds on the answers of a store while it is listed.

The file systems request page after page until the store says that there are no more, and keep all of them. So a store
alone decides how long a listing takes, and how much memory it needs. Here the client of each store counts the answers
as they arrive, and a listing runs in a thread of its own, which is given up when its time is over.
"""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Final, TypeVar

from onnx_lint.input.locations import scheme_of
from onnx_lint.remote.access import Access, tried
from onnx_lint.remote.errors import TRANSIENT

T = TypeVar("T")

_ACCESS: Final[contextvars.ContextVar[Access | None]] = contextvars.ContextVar("listing", default=None)
"""The access of the listing that goes on, also in the coroutines that its thread starts; None outside of listings."""

_LOOK_SECONDS: Final = 0.5
"""The seconds after which a waiting listing looks at its time again."""


def bounded(act: Callable[[], T], address: str, access: Access) -> T:
    """Return the result of `act`, which lists a part of a store or looks up an object. Raises RemoteError.

    It ends when the time of `access` is over, or its answers need too much memory. It is repeated after failures that
    may be temporary.
    """

    def within() -> T:
        _ACCESS.set(access)
        if scheme_of(address) == "hf":
            _count_hub_answers()
        return act()

    return tried(lambda: _in_thread(within, access), address, access)


def _in_thread(act: Callable[[], T], access: Access) -> T:
    """Return the result of `act`. Raises RemoteError when the time is over; what still runs ends with its next answer.

    Nothing else ends a client that waits for a server without a limit, or because the server told it to.
    """
    outcomes: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcomes.put((act(), None))
        except BaseException as error:
            outcomes.put((None, error))

    threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True).start()
    while True:
        try:
            result, error = outcomes.get(timeout=_LOOK_SECONDS)
        except queue.Empty:
            access.patience.check("the server did not answer completely in time: ")
            continue
        if error is not None:
            raise error
        found: T = result
        return found


def count_aiohttp_answer(response: Any) -> None:
    """Count the content of an answer of aiohttp as it is read, if a listing goes on."""
    access = _ACCESS.get()
    if access is not None:
        access.begin_answer()
        response.content = _CountedContent(response.content, access)


class _CountedContent:
    """The content of an answer of aiohttp. It is counted while it arrives."""

    def __init__(self, content: Any, access: Access) -> None:
        self._content = content
        self._access = access

    async def read(self) -> bytes:
        """Return the whole content. Raises RemoteError if it exceeds a limit."""
        return b"".join([piece async for piece in self._pieces()])

    async def _pieces(self) -> AsyncIterator[bytes]:
        async for piece in self._content.iter_any():
            self._access.add_answer(piece)
            yield piece

    def __getattr__(self, name: str) -> Any:
        return getattr(self._content, name)


def _count_hub_answers() -> None:
    """Let the client of huggingface_hub, which may be a new one, call `_count_hub_answer` for each answer."""
    from huggingface_hub.utils import get_session

    hooks = get_session().event_hooks["response"]
    if _count_hub_answer not in hooks:
        hooks.append(_count_hub_answer)


def _count_hub_answer(response: Any) -> None:
    access = _ACCESS.get()
    if access is None:
        return
    access.begin_answer()
    if response.status_code in TRANSIENT:
        # The hub's package would wait as long as the server says.
        raise _TransientError(response.status_code, response.headers)
    pieces = []
    for piece in response.iter_bytes():
        access.add_answer(piece)
        pieces.append(piece)
    response._content = b"".join(pieces)


class _TransientError(Exception):
    """An answer with a status that a repeated request may not have."""

    def __init__(self, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(status)
        self.status = status
        self.headers = headers
