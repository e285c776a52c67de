# SPDX-License-Identifier: Apache-2.0
"""Asks a store which files stand beside a model, and how large they are."""

from __future__ import annotations

from typing import Any, Final, Protocol
from urllib.parse import quote

from onnx_lint.input.locations import folder_of, is_web
from onnx_lint.remote.access import Access, file_system, telling, tried
from onnx_lint.remote.errors import RemoteNotFoundError

_MOST_ALONE: Final = 4
"""Of so many files each is asked for by itself; of more, what there is in their folders is listed."""


class Lookup(Protocol):
    """Asks a store for the sizes of files."""

    requests: int
    """How often the store was asked."""

    def size_of(self, below: str) -> int | None:
        """How many bytes the file under a path below the folder has; None for a folder.

        Raises RemoteNotFoundError where there is none, and RemoteError where the store does not tell.
        """

    def address_of(self, below: str) -> str:
        """The address of a file."""


def lookup_beside(address: str, access: Access) -> Lookup:
    """What asks for the files that stand beside the object under an address."""
    system: Any = file_system(address, access)
    return (_WebLookup if is_web(address) else _StoreLookup)(system, folder_of(address), access)


class _WebLookup:
    """Asks a server of HTTP, which lists nothing."""

    def __init__(self, system: Any, folder: str, access: Access) -> None:
        self.requests = 0
        self._system = system
        self._folder = folder
        self._access = access

    def size_of(self, below: str) -> int | None:
        from onnx_lint.remote.web_object import WebObject

        found = WebObject(self._system, self.address_of(below), self._access)
        try:
            return found.look().size
        finally:
            self.requests += found.requests

    def address_of(self, below: str) -> str:
        return f"{self._folder}/{quote(below)}"


class _StoreLookup:
    """Asks a store that lists folders."""

    def __init__(self, system: Any, folder: str, access: Access) -> None:
        self.requests = 0
        self._system = system
        self._folder = folder
        self._access = access
        self._path: str = system._strip_protocol(folder)
        self._asked = 0
        self._listed: dict[str, dict[str, int | None]] = {}
        with telling(folder, access):
            system.invalidate_cache(self._path)  # which others may have filled long ago

    def size_of(self, below: str) -> int | None:
        folder, _, name = below.rpartition("/")
        self._asked += 1
        if self._asked <= _MOST_ALONE and "?" not in below:  # behind which a path may have a version
            self.requests += 1
            return _size(tried(lambda: self._system.info(f"{self._path}/{below}"), self._folder, self._access))
        if folder not in self._listed:
            self._listed[folder] = self._list(f"{self._path}/{folder}" if folder else self._path)
        if name not in self._listed[folder]:
            raise RemoteNotFoundError("there is no such object")
        return self._listed[folder][name]

    def address_of(self, below: str) -> str:
        return f"{self._folder}/{below}"

    def _list(self, folder: str) -> dict[str, int | None]:
        self.requests += 1
        found = tried(lambda: self._system.ls(folder, detail=True), self._folder, self._access)
        return {entry["name"].rstrip("/").rpartition("/")[2]: _size(entry) for entry in found}


def _size(about: dict[str, Any]) -> int | None:
    return None if about.get("type") == "directory" else int(about["size"])
