# SPDX-License-Identifier: Apache-2.0
"""Remote objects, read in parts: what each kind of store has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from onnx_lint.common.record import Record
from onnx_lint.remote.access import Access
from onnx_lint.remote.parts import Parts

PART_BYTES = 1 << 23
"""So much is asked for at once at most."""


class Beginning(Record):
    """What the first answer told of an object."""

    size: int
    versions: tuple[str, ...]
    """What the store calls the version, the most exact name first; nothing where it has no name for it."""

    @property
    def version(self) -> str | None:
        """What the store calls the version; None where it has no name for it."""
        return self.versions[0] if self.versions else None


class StoredObject(ABC):
    """An object in a store, whose version is that of the first answer. Every method raises RemoteError."""

    def __init__(self, system: Any, address: str, access: Access) -> None:
        """`system`: the file system of its store."""
        self.requests = 0
        """How often the store was asked."""
        self.received = 0
        """How many bytes of content came."""
        self.address = address
        """The address, of a version where addresses have such."""
        self._system = system
        self._access = access

    @abstractmethod
    def begin(self, length: int, parts: Parts) -> Beginning:
        """Ask for the first `length` bytes, and put them into `parts`: all bytes where the server gives no parts."""

    @abstractmethod
    def fetch(self, start: int, stop: int) -> bytes:
        """The bytes from `start` to `stop`, of the version that was begun with; raises ChangedError for another."""

    def check(self) -> None:  # noqa: B027 - most answers tell
        """Raise ChangedError where the object is another one by now, and the answers did not tell."""
