# SPDX-License-Identifier: Apache-2.0
"""Remote objects that are read in parts: the base class for all kinds of stores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from onnx_lint.common.record import Record
from onnx_lint.remote.access import Access
from onnx_lint.remote.parts import Parts

PART_BYTES = 1 << 23
"""The most bytes of one request."""


class ObjectInfo(Record):
    """The size and version of an object, from the first response."""

    size: int
    version: str | None = None
    """The store's most exact name of the version; None if it has none."""
    content_id: str | None = None
    """A name of the version that identifies the content, such as a hash or a strong ETag; None if there is none."""


class StoredObject(ABC):
    """An object in a store, in the version of the first response. Every method raises RemoteError."""

    def __init__(self, system: Any, address: str, access: Access) -> None:
        """`system`: the file system of the store."""
        self.requests = 0
        """The number of requests to the store."""
        self.received = 0
        """The bytes of content received."""
        self.address = address
        """The address, with the version if addresses of the store have one."""
        self._system = system
        self._access = access

    @abstractmethod
    def begin(self, length: int, parts: Parts) -> ObjectInfo:
        """Request the first `length` bytes, and add them to `parts`; all bytes if the server has no range requests."""

    @abstractmethod
    def fetch(self, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to `stop`; fewer if the store returns fewer.

        Raises ChangedError if they belong to another version.
        """

    def check(self) -> None:  # noqa: B027 - most responses contain the version
        """Raise ChangedError if the object has changed. Only needed if responses do not contain the version."""
