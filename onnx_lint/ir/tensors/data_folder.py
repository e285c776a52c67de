# SPDX-License-Identifier: Apache-2.0
"""The folder of a model, where the files of its external data are, and the folders that links may lead to.

A location is looked up with `lstat` of each of its components. A link is followed only into a folder that the user
trusts: its target is resolved to a path without links, which must be in that folder.

Someone who can write to a folder may replace a file after it was checked. Therefore a file is opened below its folder,
each folder on the way below the one before it and without following links, and only the status of the opened descriptor
counts.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import ClassVar, Final

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import Record, replace
from onnx_lint.input.source import FileSource, ReadError
from onnx_lint.wording import quote

MAX_POINTER_BYTES: Final = 1024
"""A Git LFS pointer has fewer bytes."""
_LFS_POINTER: Final = rb"version https://(?:git-lfs\.github\.com|hawser\.github\.com)/spec/v[0-9]+\n(?:[^\n]*\n)*?oid "


_MAX_KEPT: Final = 10_000
_MAX_LISTED: Final = 10_000
_DATA_NAME: Final = r"(?i:.*[._](?:data|bin|weights?|params|raw|dat))"
"""Matches the names that exporters give to files of external data, such as `model.onnx.data` and `model.onnx_data`."""

NOT_PULLED: Final = "'git lfs pull' has not fetched"
"""The beginning of what reports say about a Git LFS pointer. The name of the file follows."""
HOW_TO_PULL: Final = "run 'git lfs pull'; in CI, let the checkout fetch Git LFS (actions/checkout: 'lfs: true')"
"""What to do about a Git LFS pointer."""


def is_lfs_pointer(head: bytes) -> bool:
    """Return true if a file that begins with these bytes is the pointer with which Git LFS replaces a large file."""
    return re.match(_LFS_POINTER, head) is not None


class FileState(Enum):
    """The state of a location in the file system."""

    REGULAR = "a regular file"
    MISSING = "missing"
    OTHER = "no regular file"
    LINKED = "a symbolic link that is not followed"
    HARD_LINKED = "a file with further hard links"
    UNKNOWN = "unknown"


class ExternalFile(Record):
    """A data file as `lstat` sees it."""

    state: FileState
    detail: str
    """The state in words, with the component of the path that causes it."""
    size: int | None = None
    """The size in bytes; None if there is no regular file, or none that may be opened."""
    folder: str = ""
    """The folder below which it is opened."""
    path: str = ""
    """The path below that folder. No component is a link."""
    link: str | None = None
    """The link that was followed, or the hard links that are trusted, in words; None if there are none."""
    hint: str | None = None
    """How to make the file usable; None if that depends on the model."""


class DataFolder:
    """The folder of one model. Each file is looked up once; the states of at most `_MAX_KEPT` files are kept."""

    is_local: ClassVar[bool] = True

    def __init__(self, directory: str, trusted: Sequence[str] = (), most: int = sys.maxsize) -> None:
        """`trusted`: the folders into which links are followed, with all that is below them.

        `most`: how many bytes are read for the whole model.
        """
        self._directory = directory
        self._trusted = trusted
        self._files: dict[str, ExternalFile] = {}
        self._bytes_left = most
        self.small_reads = 0
        """The number of small tensors that were read for their shapes so far; each read opens a file."""
        self.unread: dict[str, str] = {}
        """The files that a check needed and could not read: location -> reason."""
        self.opened: dict[str, os.stat_result] = {}
        """The status of each file that was opened to read its content, by location."""
        self.listed: list[str] | None = None
        """The result of `data_files`; None if that was not called."""
        self._is_cacheable = True
        """False if the results depend on anything but `lookups`, `opened` and `listed`, which the cache compares."""

    @property
    def lookups(self) -> Mapping[str, ExternalFile] | None:
        """The state of each location so far; None if a report on the model must not be cached."""
        is_complete = self._is_cacheable and not self.unread and len(self._files) < _MAX_KEPT
        return self._files if is_complete else None

    def reserve_bytes(self, size: int) -> str | None:
        """Reserve bytes of those that may still be read. Return None, or a sentence that says that fewer are left."""
        if size > self._bytes_left:
            return f"its {size:,} bytes are more than the limit external_bytes leaves (option --limit external_bytes=N)"
        self._bytes_left -= size
        return None

    def reserve_or_note(self, location: str, size: int) -> bool:
        """Reserve bytes for reading a file, and return whether they may be read. If not, `unread` has the reason."""
        problem = self.reserve_bytes(size)
        if problem is not None:
            self.unread[location] = problem
        return problem is None

    def file(self, location: str) -> ExternalFile:
        """Return the file at a location that is a relative path without parent directories.

        Raises ReadError if a link on the way disappears while it is followed, since any verdict could be wrong then.
        """
        found = self._files.get(location)
        if found is None:
            found = self._look_up(location)
            if len(self._files) < _MAX_KEPT:
                self._files[location] = found
        return found

    def data_files(self) -> list[str]:
        """Return the names of the files in the folder itself that look like external data, sorted.

        Of a folder with more than `_MAX_LISTED` files, only that many are examined.
        """
        if self.listed is None:
            try:
                with os.scandir(self._directory or ".") as entries:
                    names = [entry.name for entry, _ in zip(entries, range(_MAX_LISTED), strict=False)]
            except OSError:
                names = []
            found = (name for name in names if re.fullmatch(_DATA_NAME, name))
            self.listed = sorted(name for name in found if self.file(name).state is FileState.REGULAR)
        return self.listed

    def has_other_models(self, name: str) -> bool:
        """Return whether the folder has another model file than the one of that name."""
        self._is_cacheable = False  # the cache does not notice a model that is added
        try:
            with os.scandir(self._directory or ".") as entries:
                return any(entry.name.endswith(".onnx") and entry.name != name for entry in entries)
        except OSError:
            return True

    def open(self, location: str) -> tuple[int, os.stat_result]:
        """Return a descriptor of the regular file at a location, open for reading, and its status.

        Raises OSError if there is none, if a link that must not be followed leads to it, or if it has hard links that
        are not trusted.
        """
        try:
            descriptor, status = self._open_checked(location)
        except OSError:
            self._is_cacheable = False
            raise
        before = self.opened.setdefault(location, status)
        if _version_of(before) != _version_of(status):
            self._is_cacheable = False
        return descriptor, status

    def read(self, location: str, offset: int, length: int) -> bytes:
        """Return up to `length` bytes of the file under a location; raises OSError as `open` does."""
        descriptor, status = self.open(location)
        try:
            return FileSource(descriptor, status.st_size).read_at(offset, length)
        finally:
            os.close(descriptor)

    def _open_checked(self, location: str) -> tuple[int, os.stat_result]:
        file = self.file(location)
        descriptor = open_below(file.folder, file.path)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or (status.st_nlink > 1 and file.link is None):
                raise OSError(errno.EINVAL, "it is not a regular file, or has further hard links")
        except OSError:
            os.close(descriptor)
            raise
        return descriptor, status

    def _look_up(self, location: str) -> ExternalFile:
        file = self._look_up_through_links(location)
        if file.state is FileState.REGULAR and file.size is not None and file.size < MAX_POINTER_BYTES:
            return self._with_pointer_as_other(location, file)
        return file

    def _with_pointer_as_other(self, location: str, file: ExternalFile) -> ExternalFile:
        """Return the file. A Git LFS pointer gets the state OTHER."""
        try:
            descriptor = open_below(file.folder, file.path)
        except OSError:
            return file  # the error is reported when the file is read
        try:
            status = os.fstat(descriptor)
            head = os.read(descriptor, MAX_POINTER_BYTES) if stat.S_ISREG(status.st_mode) else b""
        except OSError:
            head = b""
        finally:
            os.close(descriptor)
        if not is_lfs_pointer(head):
            return file
        detail = f"{quote(location)} is a Git LFS pointer: {NOT_PULLED} the file"
        return replace(file, state=FileState.OTHER, detail=detail, size=None, hint=HOW_TO_PULL)

    @cached_property
    def _roots(self) -> list[str]:
        """The trusted folders without links. Few models need them."""
        return [_without_links(folder) for folder in self._trusted]

    def _look_up_through_links(self, location: str) -> ExternalFile:
        """Look up a file. A link that leads to it is followed if its target is in a trusted folder."""
        file = examine(self._directory, location)
        if not self._trusted or file.state not in (FileState.LINKED, FileState.HARD_LINKED):
            return file
        path = os.path.join(self._directory, *components(location))
        try:
            os.stat(path)  # the system limits how many links it follows in a row
        except OSError as error:
            if error.errno == errno.ELOOP:
                return replace(file, state=FileState.MISSING, detail=f"{file.detail} that leads in a circle")
        target = _without_links(path)
        folder = next((each for each in self._roots if is_below(target, each)), None)
        if folder is None:
            return replace(file, detail=f"{file.detail} that leads out of the trusted folders")
        below = os.path.relpath(target, folder).replace(os.sep, "/")
        found = examine(folder, below + "/" if location.endswith(("/", "/.")) else below)
        if found.state in (FileState.REGULAR, FileState.HARD_LINKED):
            return replace(found, state=FileState.REGULAR, link=file.detail)
        if file.state is FileState.HARD_LINKED:
            return file  # its target has changed meanwhile
        what = "no regular file" if found.state is FileState.OTHER else "nothing"
        return replace(found, state=FileState.MISSING, detail=f"{file.detail} to {what}")


def _version_of(status: os.stat_result) -> tuple[int, int, int, int]:
    """Return what changes if the file is replaced or written."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _without_links(path: str) -> str:
    """Return a path with all links followed. Raises ReadError if another program changes one meanwhile."""
    try:
        return os.path.realpath(path)
    except OSError as error:  # the link was deleted after `lstat` found it
        raise ReadError(f"{path} changed while its links were followed: {error.strerror or error}") from error


def is_below(path: str, folder: str) -> bool:
    """Return whether a path without links is in a folder or below it."""
    try:
        return os.path.commonpath([path, folder]) == folder
    except ValueError:
        return False  # they are on two drives


def components(location: str) -> list[str]:
    """Return the components of a path, without empty ones and `.`."""
    return [part for part in location.split("/") if part not in ("", ".")]


def examine(directory: str, location: str) -> ExternalFile:
    """Look up a location, which is a relative path without parent directories. No link is followed."""
    path = directory
    status: os.stat_result | None = None
    parts = components(location)
    names_directory = location.endswith(("/", "/."))
    for index, part in enumerate(parts):
        path = os.path.join(path, part)
        shown = quote("/".join(parts[: index + 1]))
        try:
            status = os.lstat(path)
        except OSError as error:
            return ExternalFile(FileState.MISSING, f"{shown}: {(error.strerror or str(error)).lower()}")
        except ValueError as error:
            return ExternalFile(FileState.MISSING, f"{shown}: {error}")
        if stat.S_ISLNK(status.st_mode):
            return ExternalFile(FileState.LINKED, f"{shown} is a symbolic link")
        if (names_directory or index < len(parts) - 1) and not stat.S_ISDIR(status.st_mode):
            return ExternalFile(FileState.MISSING, f"{shown} is not a directory")
    if status is None or not stat.S_ISREG(status.st_mode):
        return ExternalFile(FileState.OTHER, f"{quote(location)} is not a regular file")
    state, detail = FileState.REGULAR, f"{quote(location)} is a regular file"
    if status.st_nlink > 1:
        state, detail = FileState.HARD_LINKED, f"{quote(location)} has {status.st_nlink} hard links"
    return ExternalFile(state, detail, status.st_size, directory, "/".join(parts))


def open_below(directory: str, location: str) -> int:
    """Open a file for reading, and return the descriptor. Links below the directory are not followed.

    `location`: a relative path of plain names. Raises OSError if the file does not exist.
    """
    no_link = getattr(os, "O_NOFOLLOW", 0)
    flags = os.O_RDONLY | no_link | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if os.open not in os.supports_dir_fd:
        return os.open(os.path.join(directory, location), flags)
    *folders, name = location.split("/")
    descriptor = os.open(directory or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | no_link, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        return os.open(name, flags, dir_fd=descriptor)
    finally:
        os.close(descriptor)
