# SPDX-License-Identifier: Apache-2.0
"""Asks a store for the files beside a model, and their sizes."""

from __future__ import annotations

from typing import Any, Final, Protocol
from urllib.parse import quote

from onnx_lint.input.locations import folder_of, is_web
from onnx_lint.remote.access import Access, as_remote_errors, file_system, tried
from onnx_lint.remote.errors import RemoteNotFoundError

_MOST_ALONE: Final = 4
"""The number of files that are looked up individually. For more files, their folders are listed."""


class Lookup(Protocol):
    """Asks a store for the sizes of files."""

    requests: int
    """The number of requests to the store."""

    def size_of(self, below: str) -> int | None:
        """Return the size of the file at a path below the folder in bytes; None for a folder.

        Raises RemoteNotFoundError if there is none, and RemoteError if the store fails.
        """

    def address_of(self, below: str) -> str:
        """Return the address of a file."""


def lookup_beside(address: str, access: Access) -> Lookup:
    """Return the lookup for files beside the object at an address."""
    system: Any = file_system(address, access)
    return (_WebLookup if is_web(address) else _StoreLookup)(system, folder_of(address), access)


class _WebLookup:
    """Asks an HTTP server, which cannot list folders."""

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
    """Asks a store that can list folders."""

    def __init__(self, system: Any, folder: str, access: Access) -> None:
        self.requests = 0
        self._system = system
        self._folder = folder
        self._access = access
        self._path: str = system._strip_protocol(folder)
        self._asked = 0
        self._listed: dict[str, dict[str, int | None]] = {}
        with as_remote_errors(folder, access):
            system.invalidate_cache(self._path)  # it may be filled with old listings

    def size_of(self, below: str) -> int | None:
        folder, _, name = below.rpartition("/")
        self._asked += 1
        if self._asked <= _MOST_ALONE and "?" not in below:  # after a question mark a path may have a version
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
