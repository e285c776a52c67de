# SPDX-License-Identifier: Apache-2.0
"""A source over a remote object. It reads ahead for sequential reads, and skips bytes that are not needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from onnx_lint.common.record import replace
from onnx_lint.input.locations import is_web, scheme_of
from onnx_lint.input.source import LEAST_WINDOW_BYTES, Source
from onnx_lint.remote.access import Access, as_remote_errors
from onnx_lint.remote.data_folder import RemoteFolder
from onnx_lint.remote.errors import RemoteError
from onnx_lint.remote.file_systems import file_system
from onnx_lint.remote.objects import PART_BYTES, StoredObject
from onnx_lint.remote.other_object import OtherObject
from onnx_lint.remote.parts import Parts
from onnx_lint.report.file_report import Traffic

FIRST_BYTES: Final = 1 << 16
"""The bytes of the first response; many models are not larger."""

LEAST_AHEAD: Final = 1 << 14
"""The bytes to fetch after a skip. A bias often follows a large weight: with 4 KiB, BERT needed twice the requests."""

MAX_AHEAD: Final = 1 << 20
"""The most bytes to fetch at once for sequential reads."""

_GROWTH: Final = 4
_NEAR: Final = 1 << 16
"""A shorter gap is fetched rather than skipped, which would need another request."""


class RemoteSource(Source):
    """A source over an object in a store. Each method raises ReadError (a RemoteError) if the store fails."""

    is_remote = True

    def __init__(
        self,
        address: str,
        access: Access,
        first_bytes: int = FIRST_BYTES,
        most: int | None = None,
    ) -> None:
        """`first_bytes`: the bytes of the first request. `most`: the bytes to accept from a server without range
        requests; None for `download_bytes`.
        """
        self._access = access
        self._parts = Parts()
        self._ahead = LEAST_AHEAD
        self._fetched_to = 0
        whole = access.limits.download_bytes
        own = replace(access.limits, download_bytes=whole if most is None else min(most, whole))
        self._object: StoredObject = _stored_object(address, replace(access, limits=own))
        begun = self._object.begin(first_bytes, self._parts)
        self.size = begun.size
        self._version = begun.version
        self.identity = (begun.content_id, begun.size) if begun.content_id is not None else None
        """What no other content of the object has: the store's name of the version, and the size."""
        self._early_left: int | None = None
        """The bytes that may still be fetched before the turn of the model; None in its turn."""
        self._error: RemoteError | None = None
        self._beside: RemoteFolder | None = None
        self._files: list[RemoteSource] = []

    def read_at(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset` on."""
        stop = min(offset + length, self.size)
        pieces: list[bytes] = []
        while offset < stop:
            piece = self._parts.at(offset, stop - offset)
            if not piece:
                self._fetch(offset, stop)
                continue
            pieces.append(piece)
            offset += len(piece)
        return b"".join(pieces)

    def window(self, offset: int, most: int) -> bytes:
        """Return the bytes at hand from `offset` on."""
        piece = self._parts.at(offset, most)
        least = min(LEAST_WINDOW_BYTES, most)
        if len(piece) >= least or offset + len(piece) >= self.size:
            return piece
        self.read_at(offset, least)
        return self._parts.at(offset, most) if not piece else piece + self._parts.at(offset + len(piece), most)

    def _fetch(self, start: int, wanted: int) -> None:
        """Fetch the missing bytes from `start` to `wanted`, and further if reads are sequential."""
        if self._error is not None:
            raise self._error
        is_near = 0 <= start - self._fetched_to <= _NEAR
        ahead = min(self._ahead * _GROWTH, MAX_AHEAD) if is_near else LEAST_AHEAD
        stop = min(max(wanted, start + ahead), start + PART_BYTES, self.size)
        following = self._parts.next_start(start)
        if following is not None:
            stop = min(stop, following)
        if self._early_left is not None:
            self._early_left -= stop - start
            if self._early_left < 0:
                raise _EnoughError
        self._ahead = ahead
        data = self._object.fetch(start, stop)
        if len(data) != stop - start:
            raise RemoteError("the store did not return the bytes that were requested")
        self._parts.add(start, data)
        self._fetched_to = stop

    def read_early(self, read: Callable[[], None], most: int) -> None:
        """Let `read` read from the source before its turn, up to the request with which it would fetch more bytes.

        Nothing is raised: the next read fails in the same way.
        """
        self._early_left = most
        try:
            read()
        except _EnoughError:
            pass
        except RemoteError as error:
            self._error = error
        except Exception:  # the content is faulty; whoever reads it next reports that
            pass
        finally:
            self._early_left = None

    def close(self) -> None:
        """Release everything that was read."""
        self._parts.clear()
        for file in self._files:
            file.close()

    def beside(self, most: int) -> RemoteFolder:
        """Return the files beside the object, the same each time. At most `most` bytes of their contents are read."""
        if self._beside is not None:
            return self._beside

        def opened(address: str) -> RemoteSource:
            self._files.append(RemoteSource(address, self._access, first_bytes=LEAST_AHEAD))
            return self._files[-1]

        most = min(most, self._access.limits.download_bytes)
        self._beside = RemoteFolder(self._object.address, self._access, most, opened)
        return self._beside

    def finish(self) -> Traffic:
        """Return the network traffic. Raises ChangedError if the object has changed since it was read."""
        for each in (self, *self._files):
            each._object.check()
        objects = [each._object for each in (self, *self._files)]
        requests = sum(each.requests for each in objects) + (self._beside.requests if self._beside is not None else 0)
        return Traffic(requests, sum(each.received for each in objects), self._version)


class _EnoughError(Exception):
    """As much was read early as may be."""


def _stored_object(address: str, access: Access) -> StoredObject:
    """Return the object at an address. Raises RemoteError if its store cannot be accessed."""
    system: Any = file_system(address, access)
    with as_remote_errors(address, access):
        return _of_store(system, address, access)


def _of_store(system: Any, address: str, access: Access) -> StoredObject:
    if is_web(address):
        from onnx_lint.remote.web_object import WebObject

        return WebObject(system, address, access)
    if scheme_of(address) in {"s3", "s3a"}:
        from onnx_lint.remote.s3_object import S3Object

        return S3Object(system, address, access)
    return OtherObject(system, address, access)
