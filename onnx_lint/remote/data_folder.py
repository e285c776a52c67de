# SPDX-License-Identifier: Apache-2.0
"""The files beside a remote model that its store reports."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Final

from onnx_lint.common.record import replace
from onnx_lint.input.source import Source
from onnx_lint.ir.tensors.data_folder import (
    MAX_POINTER_BYTES,
    DataFolder,
    ExternalFile,
    FileState,
    components,
    is_lfs_pointer,
)
from onnx_lint.remote.errors import RemoteError, RemoteNotFoundError
from onnx_lint.remote.lookup import Lookup
from onnx_lint.wording import quote

_MOST_FILES: Final = 1_000
"""The number of files that are looked up for one model, which may name millions."""

_MOST_READ: Final = 100
"""The number of files whose contents are read."""


class RemoteFolder(DataFolder):
    """The files beside one remote model. Locations are relative, so no address in a model is ever accessed."""

    is_local = False

    def __init__(self, lookup: Lookup, most: int, opened: Callable[[str], Source]) -> None:
        """`lookup`: asks the store for sizes. `opened`: opens a file by its location. `most`: the bytes to read for the
        whole model.
        """
        super().__init__("", (), most)
        self._lookup = lookup
        self._open_source = opened
        self._sources: dict[str, Source] = {}

    def open(self, location: str) -> tuple[int, os.stat_result]:
        """Raise OSError. A remote file has no descriptor; a caller that needs one would read the whole file."""
        raise OSError(errno.ENOTSUP, "it is remote, and would have to be fetched whole")

    def read(self, location: str, offset: int, length: int) -> bytes:
        """Return up to `length` bytes of the file at a location. Raises OSError if the store fails."""
        self._has_failed = True  # the version of the file is not recorded
        if location not in self._sources and len(self._sources) == _MOST_READ:
            raise OSError(errno.EMFILE, f"the contents of {_MOST_READ} remote files were read already")
        try:
            if location not in self._sources:
                self._sources[location] = self._open_source("/".join(components(location)))
            return self._sources[location].read_at(offset, length)
        except RemoteError as error:
            raise OSError(errno.EIO, str(error)) from None

    def _found(self, location: str) -> ExternalFile:
        file = self._looked_up(location)
        if file.size is None or file.size >= MAX_POINTER_BYTES:
            return file
        try:
            head = self.read(location, 0, MAX_POINTER_BYTES)
        except OSError:
            return file  # reading it later reports the error
        if not is_lfs_pointer(head):
            return file
        detail = f"{quote(location)} is a Git LFS pointer; the file that it refers to was not uploaded"
        return replace(file, state=FileState.OTHER, detail=detail, size=None)

    def _looked_up(self, location: str) -> ExternalFile:
        shown = quote(location)
        if len(self._files) >= _MOST_FILES:
            return ExternalFile(FileState.UNKNOWN, f"{_MOST_FILES:,} remote files were looked up already")
        try:
            size = self._lookup.size_of("/".join(components(location)))
        except RemoteNotFoundError:
            return ExternalFile(FileState.MISSING, f"{shown}: there is no such object beside the model")
        except RemoteError as error:
            return ExternalFile(FileState.UNKNOWN, str(error))
        if size is None:
            return ExternalFile(FileState.OTHER, f"{shown} is a folder")
        if location.endswith(("/", "/.")):
            return ExternalFile(FileState.MISSING, f"{shown} is not a folder")
        return ExternalFile(FileState.REGULAR, f"{shown} is an object", size, "", location)
