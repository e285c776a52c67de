# SPDX-License-Identifier: Apache-2.0
"""The files beside a remote model that its store reports."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

from onnx_lint.common.record import replace
from onnx_lint.input.locations import folder_of, is_web
from onnx_lint.input.source import Source
from onnx_lint.ir.tensors.data_folder import (
    MAX_POINTER_BYTES,
    DataFolder,
    ExternalFile,
    FileState,
    components,
    is_lfs_pointer,
)
from onnx_lint.remote.access import Access, as_remote_errors
from onnx_lint.remote.answers import bounded
from onnx_lint.remote.errors import RemoteError, RemoteNotFoundError
from onnx_lint.remote.file_systems import file_system
from onnx_lint.wording import quote as in_quotes

_MAX_FILES: Final = 1_000
"""The number of files that are looked up for one model, which may name millions."""

_MAX_ALONE: Final = 4
"""The number of files that are looked up individually. For more files, their folders are listed, except on the web."""

_MAX_READ: Final = 100
"""The number of files whose contents are read."""


class RemoteFolder(DataFolder):
    """The files beside one remote model. Locations are relative, so no address in a model is ever accessed."""

    is_local = False

    def __init__(self, address: str, access: Access, most: int, opened: Callable[[str], Source]) -> None:
        """`address`: of the model. `most`: the bytes to read for the whole model. `opened`: opens a file by address."""
        super().__init__("", (), most)
        self.requests = 0
        """The number of requests to the store that looked up files."""
        self._folder = folder_of(address)
        self._access = access
        self._open_source = opened
        self._sources: dict[str, Source] = {}
        self._system: Any = file_system(address, access)
        self._is_web = is_web(address)
        self._asked = 0
        self._listings: dict[str, dict[str, int | None]] = {}
        """The sizes of the files in folders that were listed; None for a folder."""
        if not self._is_web:
            self._path: str = self._system._strip_protocol(self._folder)
            with as_remote_errors(self._folder, access):
                self._system.invalidate_cache(self._path)  # it may be filled with old listings

    def open(self, location: str) -> tuple[int, os.stat_result]:
        """Raise OSError. A remote file has no descriptor; a caller that needs one would read the whole file."""
        raise OSError(errno.ENOTSUP, "it is remote, and would have to be fetched whole")

    def read(self, location: str, offset: int, length: int) -> bytes:
        """Return up to `length` bytes of the file at a location. Raises OSError if the store fails."""
        self._is_cacheable = False  # the version of the file is not recorded
        if location not in self._sources and len(self._sources) == _MAX_READ:
            raise OSError(errno.EMFILE, f"the contents of {_MAX_READ} remote files were read already")
        try:
            if location not in self._sources:
                self._sources[location] = self._open_source(self._address_of("/".join(components(location))))
            return self._sources[location].read_at(offset, length)
        except RemoteError as error:
            raise OSError(errno.EIO, str(error)) from None

    def _look_up(self, location: str) -> ExternalFile:
        file = self._look_up_in_store(location)
        if file.size is None or file.size >= MAX_POINTER_BYTES:
            return file
        try:
            head = self.read(location, 0, MAX_POINTER_BYTES)
        except OSError:
            return file  # reading it later reports the error
        if not is_lfs_pointer(head):
            return file
        detail = f"{in_quotes(location)} is a Git LFS pointer; the file that it refers to was not uploaded"
        hint = "upload the file itself, which 'git lfs pull' fetches into a checkout"
        return replace(file, state=FileState.OTHER, detail=detail, size=None, hint=hint)

    def _look_up_in_store(self, location: str) -> ExternalFile:
        shown = in_quotes(location)
        if len(self._files) >= _MAX_FILES:
            return ExternalFile(FileState.UNKNOWN, f"{_MAX_FILES:,} remote files were looked up already")
        try:
            size = self._size_of("/".join(components(location)))
        except RemoteNotFoundError:
            return ExternalFile(FileState.MISSING, f"{shown}: there is no such object beside the model")
        except RemoteError as error:
            return ExternalFile(FileState.UNKNOWN, str(error))
        if size is None:
            return ExternalFile(FileState.OTHER, f"{shown} is a folder")
        if location.endswith(("/", "/.")):
            return ExternalFile(FileState.MISSING, f"{shown} is not a folder")
        return ExternalFile(FileState.REGULAR, f"{shown} is an object", size, "", location)

    def _address_of(self, below: str) -> str:
        return f"{self._folder}/{quote(below) if self._is_web else below}"

    def _size_of(self, below: str) -> int | None:
        """Return the size of the file at a path below the folder in bytes; None for a folder.

        Raises RemoteNotFoundError if there is none, and RemoteError if the store fails.
        """
        if self._is_web:
            from onnx_lint.remote.web_object import WebObject

            found = WebObject(self._system, self._address_of(below), self._access)
            try:
                return found.look().size
            finally:
                self.requests += found.requests
        self._asked += 1
        if self._asked <= _MAX_ALONE and "?" not in below:  # after a question mark a path may have a version
            self.requests += 1
            return _size(bounded(lambda: self._system.info(f"{self._path}/{below}"), self._folder, self._access))
        folder, _, name = below.rpartition("/")
        if folder not in self._listings:
            self._listings[folder] = self._list(f"{self._path}/{folder}" if folder else self._path)
        if name not in self._listings[folder]:
            raise RemoteNotFoundError("there is no such object")
        return self._listings[folder][name]

    def _list(self, folder: str) -> dict[str, int | None]:
        self.requests += 1
        found = bounded(lambda: self._system.ls(folder, detail=True), self._folder, self._access)
        return {entry["name"].rstrip("/").rpartition("/")[2]: _size(entry) for entry in found}


def _size(about: dict[str, Any]) -> int | None:
    return None if about.get("type") == "directory" else int(about["size"])
