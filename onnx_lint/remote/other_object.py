# SPDX-License-Identifier: Apache-2.0
"""An object in a store other than HTTP and S3, read through the file objects of its file system."""

from __future__ import annotations

from typing import Any

from onnx_lint.input.locations import scheme_of
from onnx_lint.remote.access import Access, as_remote_errors, tried
from onnx_lint.remote.errors import ChangedError, RemoteError
from onnx_lint.remote.objects import ObjectInfo, StoredObject
from onnx_lint.remote.parts import Parts
from onnx_lint.remote.versions import content_version_of, pinned, version_of


class OtherObject(StoredObject):
    """An object in a store whose file system reads ranges."""

    def __init__(self, system: Any, address: str, access: Access) -> None:
        super().__init__(system, address, access)
        self._file: Any = None
        self._path = ""
        self._is_pinned = False
        """True if the path includes a version."""
        self._version: str | None = None

    def begin(self, length: int, parts: Parts) -> ObjectInfo:
        """Request the facts about the object, and its first `length` bytes."""
        self._path = tried(lambda: pinned(self._system, self.address), self.address, self._access)
        with as_remote_errors(self.address, self._access):
            self._is_pinned = self._path != self._system._strip_protocol(self.address)
            if self._is_pinned:
                self.address = f"{scheme_of(self.address)}://{self._path}"
        about = tried(self._about, self.address, self._access)
        if about.get("type") == "directory":
            raise RemoteError("it is a folder")
        size = about.get("size")
        if not isinstance(size, int):
            raise RemoteError("the store does not report the size of the object")
        self._version = version_of(about)
        with as_remote_errors(self.address, self._access):
            # RemoteSource reads ahead: only it knows which bytes are skipped.
            self._file = self._system.open(self._path, "rb", cache_type="none") if size else None
        if size:
            parts.add(0, self.fetch(0, min(length, size)))
        return ObjectInfo(size, self._version, content_version_of(about))

    def fetch(self, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to `stop`."""

        def once() -> bytes:
            self.requests += 1
            self._file.seek(start)
            data: bytes = self._file.read(stop - start)
            return data

        data = tried(once, self.address, self._access)
        self.received += len(data)
        return data

    def check(self) -> None:
        """Raise ChangedError if the object has another version now.

        This is needed because most stores cannot be asked for the bytes of a certain version.
        """
        if self._is_pinned:
            return
        with as_remote_errors(self.address, self._access):
            self._system.invalidate_cache(self._path)
            version = version_of(self._about())
        if version != self._version:
            raise ChangedError

    def _about(self) -> dict[str, Any]:
        self.requests += 1
        about: dict[str, Any] = self._system.info(self._path)
        return about
