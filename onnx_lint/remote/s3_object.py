# SPDX-License-Identifier: Apache-2.0
"""An object in a store with the S3 protocol, read by s3fs in one version: by version id, otherwise by ETag."""

from __future__ import annotations

import re
from typing import Any, Final

from fsspec.asyn import sync

from onnx_lint.remote.access import Access, tried
from onnx_lint.remote.errors import ChangedError, RemoteError, status_of
from onnx_lint.remote.objects import ObjectInfo, StoredObject
from onnx_lint.remote.parts import Parts

_TOTAL: Final = r"bytes [0-9]+-[0-9]+/([0-9]+)"
_NO_SUCH_RANGE: Final = 416


class S3Object(StoredObject):
    """An object in a store with the S3 protocol."""

    def __init__(self, system: Any, address: str, access: Access) -> None:
        """`system`: the S3FileSystem."""
        super().__init__(system, address, access)
        path, _, version = address.partition("?versionId=")
        bucket, key, _ = system.split_path(path)
        if not key:
            raise RemoteError("the address names a bucket, not an object in it")
        self._wanted = {"Bucket": bucket, "Key": key, **({"VersionId": version} if version else {})}
        self._etag: str | None = None

    def begin(self, length: int, parts: Parts) -> ObjectInfo:
        """Request the first `length` bytes."""
        try:
            answer, data = self._get(0, length)
        except _EmptyError:
            return ObjectInfo(0)
        total = re.fullmatch(_TOTAL, answer.get("ContentRange", ""))
        size = int(total[1]) if total is not None else len(data)
        self._etag = answer.get("ETag")
        version = answer.get("VersionId")
        if version not in {None, "null"}:
            self._wanted["VersionId"] = version
        elif self._etag is not None:
            self._wanted["IfMatch"] = self._etag
        parts.add(0, data[: min(length, size)])
        return ObjectInfo(size, self._wanted.get("VersionId") or self._etag, self._etag)

    def fetch(self, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to `stop`."""
        try:
            answer, data = self._get(start, stop)
        except _EmptyError:
            raise ChangedError from None
        if answer.get("ETag") != self._etag:
            raise ChangedError
        return data

    def _get(self, start: int, stop: int) -> tuple[dict[str, Any], bytes]:
        """Return the response to a request for some bytes, and the bytes."""

        def once() -> tuple[dict[str, Any], bytes]:
            self.requests += 1
            wanted = {**self._wanted, "Range": f"bytes={start}-{stop - 1}"}
            try:
                answer = self._system.call_s3("get_object", self._system.req_kw, **wanted)
            except OSError as error:
                if status_of(error.__cause__ or error) == _NO_SUCH_RANGE:
                    raise _EmptyError from None
                raise
            timeout = self._access.seconds_for(stop - start)
            return answer, sync(self._system.loop, _content, answer["Body"], stop - start, timeout=timeout)

        answer, data = tried(once, self.address, self._access)
        self.received += len(data)
        return answer, data


async def _content(body: Any, length: int) -> bytes:
    """Return the content; of more than `length` bytes, the beginning, which is longer: a store may ignore the range."""
    pieces: list[bytes] = []
    missing = length
    try:
        while missing >= 0:
            piece = await body.read(missing + 1)
            if not piece:
                break
            pieces.append(piece)
            missing -= len(piece)
    finally:
        body.close()
    return b"".join(pieces)


class _EmptyError(RemoteError):
    """There is no such range."""
