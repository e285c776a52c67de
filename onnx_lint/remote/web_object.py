# SPDX-License-Identifier: Apache-2.0
"""A file on an HTTP server, read by range requests (RFC 9110, section 14).

It uses the session of fsspec's file system. But that file system would read the whole file from a server without range
requests, and does not check the version.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, TypeVar

import aiohttp
import yarl
from fsspec.asyn import sync

from onnx_lint.common.record import Record
from onnx_lint.remote.access import Access, tried
from onnx_lint.remote.errors import ChangedError, RemoteError, RemoteNotFoundError, TooLargeError
from onnx_lint.remote.objects import ObjectInfo, StoredObject
from onnx_lint.remote.parts import Parts
from onnx_lint.remote.versions import content_version_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

T = TypeVar("T")

_CONTENT_RANGE: Final = r"bytes (?:([0-9]{1,19})-([0-9]{1,19})|\*)/([0-9]{1,19})"
_ENCODED: Final = r"(?:[!-$&-~]|%[0-9A-Fa-f]{2})*"
_DOWNLOAD_PIECE: Final = 1 << 20
_ANOTHER_RANGE: Final = "the server returned another range of the file than requested"
_NO_LIMIT: Final = aiohttp.ClientTimeout()
"""No time limit of aiohttp: this module limits the time of a response."""
_LOOK_BYTES: Final = 1 << 10


class WebObject(StoredObject):
    """A file on an HTTP server."""

    def __init__(self, system: Any, address: str, access: Access) -> None:
        """`system`: the HTTPFileSystem."""
        super().__init__(system, address, access)
        # An encoded address, such as a signed one, must be sent unchanged; one that a person typed may contain blanks.
        self._url = yarl.URL(address, encoded=re.fullmatch(_ENCODED, address) is not None)
        self._etag: str | None = None
        self._modified: str | None = None
        self._size = 0
        self._waiting: asyncio.Timeout | None = None
        """The timeout for the content of the response, which depends on its size."""

    def begin(self, length: int, parts: Parts) -> ObjectInfo:
        """Request the first `length` bytes. A server without range requests returns all of a small file."""
        return self._run(self._begin, length, parts)

    def fetch(self, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to `stop`."""
        return self._run(self._fetch, start, stop)

    def look(self) -> ObjectInfo:
        """Return size and version of the file, without requesting a byte of it if the server supports that."""
        try:
            found = self._run(self._head)
        except RemoteNotFoundError:
            raise
        except RemoteError:
            found = None  # not every server supports HEAD, and an address may be signed for GET only
        return self.begin(_LOOK_BYTES, Parts()) if found is None else found

    def _run(self, act: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> T:
        def once() -> T:
            result: T = sync(self._system.loop, act, *arguments)
            return result

        return tried(once, self.address, self._access)

    @asynccontextmanager
    async def _answer(self, start: int, stop: int) -> AsyncIterator[aiohttp.ClientResponse]:
        """Yield the response to a request for the bytes from `start` to `stop`, before its content is read."""
        session: aiohttp.ClientSession = await self._system.set_session()
        # A range of a compressed response would contain other bytes.
        headers = {"Range": f"bytes={start}-{stop - 1}", "Accept-Encoding": "identity"}
        if self._etag is not None and not self._etag.startswith("W/"):
            headers["If-Match"] = self._etag
        elif self._etag is None and self._modified is not None:
            headers["If-Unmodified-Since"] = self._modified
        self.requests += 1
        request = session.get(self._url, headers=headers, timeout=_NO_LIMIT)
        async with asyncio.timeout(self._access.seconds_for(0)) as self._waiting, request as answer:
            now = asyncio.get_running_loop().time()
            self._waiting.reschedule(now + self._access.seconds_for(stop - start))
            if answer.status >= HTTPStatus.BAD_REQUEST and answer.status != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                answer.raise_for_status()
            if answer.headers.get("Content-Encoding", "identity").lower() not in {"identity", ""}:
                raise RemoteError("the server compresses the response although the request forbids it")
            yield answer

    async def _head(self) -> ObjectInfo | None:
        session: aiohttp.ClientSession = await self._system.set_session()
        headers = {"Accept-Encoding": "identity"}
        self.requests += 1
        request = session.head(self._url, headers=headers, timeout=_NO_LIMIT, allow_redirects=True)
        async with asyncio.timeout(self._access.seconds_for(0)), request as answer:
            answer.raise_for_status()
            if "Content-Encoding" in answer.headers or answer.content_length is None:
                return None
            return _beginning(answer.content_length, answer)

    async def _begin(self, length: int, parts: Parts) -> ObjectInfo:
        parts.clear()  # this may be a repeated attempt
        self._etag = self._modified = None
        async with self._answer(0, length) as answer:
            self._etag = answer.headers.get("ETag")
            self._modified = answer.headers.get("Last-Modified")
            if answer.status == HTTPStatus.OK:
                self._size = await self._all_of(answer, parts)
                return _beginning(self._size, answer)
            found = _range_of(answer)
            self._size = found.size
            if answer.status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                if self._size:
                    raise RemoteError("the server refused a range of the file (416)")
                return _beginning(0, answer)
            wanted = min(length, self._size)
            if (found.start, found.stop) != (0, wanted):
                raise RemoteError(_ANOTHER_RANGE)
            parts.add(0, await self._content(answer, wanted))
            return _beginning(self._size, answer)

    async def _fetch(self, start: int, stop: int) -> bytes:
        async with self._answer(start, stop) as answer:
            if (answer.headers.get("ETag"), answer.headers.get("Last-Modified")) != (self._etag, self._modified):
                raise ChangedError
            if answer.status == HTTPStatus.OK:
                raise RemoteError("the server returned the whole file instead of a range, although it supports ranges")
            if answer.status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                raise ChangedError
            found = _range_of(answer)
            if found.size != self._size:
                raise ChangedError
            if (found.start, found.stop) != (start, stop):
                raise RemoteError(_ANOTHER_RANGE)
            return await self._content(answer, stop - start)

    async def _content(self, answer: aiohttp.ClientResponse, length: int) -> bytes:
        """Return the content of a response, which must have `length` bytes."""
        if answer.content_length not in {None, length}:
            raise RemoteError(_ANOTHER_RANGE)
        try:
            data: bytes = await answer.content.readexactly(length)
        except EOFError as error:
            raise aiohttp.ClientPayloadError from error
        self.received += length
        return data

    async def _all_of(self, answer: aiohttp.ClientResponse, parts: Parts) -> int:
        """Add the content of a response with a whole file to `parts`, unless it is too large; return its size."""
        most = self._access.limits.download_bytes
        if (answer.content_length or 0) > most:
            raise _too_large(f"the {answer.content_length:,} bytes of the file are", most)
        size, begun = 0, asyncio.get_running_loop().time()
        async for piece in answer.content.iter_chunked(_DOWNLOAD_PIECE):
            parts.add(size, piece)
            size += len(piece)
            self.received += len(piece)
            if self._waiting is not None:
                self._waiting.reschedule(begun + self._access.seconds_for(size))
            if size > most:
                raise _too_large("the file is", most)
        if answer.content_length not in {None, size}:
            raise aiohttp.ClientPayloadError
        return size


def _beginning(size: int, answer: aiohttp.ClientResponse) -> ObjectInfo:
    etag = answer.headers.get("ETag")
    return ObjectInfo(size, etag or answer.headers.get("Last-Modified"), content_version_of({"ETag": etag}))


class _AnsweredRange(Record):
    """The range of a file that a response has."""

    start: int
    stop: int
    """The byte after the last; 0 if the response has no bytes."""
    size: int
    """The size of the file."""


def _range_of(answer: aiohttp.ClientResponse) -> _AnsweredRange:
    """Return the range of a response. Raises RemoteError if the response does not have it."""
    found = re.fullmatch(_CONTENT_RANGE, answer.headers.get("Content-Range", "").strip())
    if found is None:
        raise RemoteError("the server does not say which range of the file it returns")
    if found[1] is None:
        return _AnsweredRange(start=0, stop=0, size=int(found[3]))
    return _AnsweredRange(start=int(found[1]), stop=int(found[2]) + 1, size=int(found[3]))


def _too_large(what: str, most: int) -> TooLargeError:
    limit = f"{what} more than the limit download_bytes of {most:,}"
    return TooLargeError(f"the server has no range requests, and {limit} (option --limit download_bytes)")
