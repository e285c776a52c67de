# SPDX-License-Identifier: Apache-2.0
"""Writes copies of data files, whole or only their used bytes. The old files stay."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.common.whole_file import NotWrittenError, Replaceable, whole_file
from onnx_lint.input.copying import copy_range
from onnx_lint.input.source import FileSource
from onnx_lint.ir.places.edits import DataCopy
from onnx_lint.ir.tensors.data_folder import DataFolder, ExternalFile, FileState, is_below
from onnx_lint.ir.tensors.external import spelled_plainly
from onnx_lint.model import Model
from onnx_lint.wording import quote

_BLOCK_BYTES: Final = 1 << 20


class CopiesOfData(Record):
    """The copies of the data files of a model for another folder."""

    copies: tuple[DataCopy, ...]
    not_copied: tuple[str, ...]
    """A sentence for each data file that cannot be copied."""


def copies_of_data(model: Model, partial: Iterable[DataCopy]) -> CopiesOfData:
    """Return a copy of each data file of a model under its own name.

    `partial`: copies of only a part of their file, which replace the whole copies.
    """
    copies = {each.location: replace(each, target=each.location) for each in partial}
    not_copied: dict[str, None] = {}
    for data in model.external_data:
        location = spelled_plainly(data.location)
        if not data.is_external or not location or location in copies:
            continue
        file = data.file
        if file is not None and file.state is FileState.REGULAR:
            size = file.size or 0
            copies[location] = DataCopy(location, location, ((0, size, 0),), size)
            continue
        not_copied[f"{quote(location)} was not copied: {_why_not_copied(model, file)}"] = None
    return CopiesOfData(tuple(copies.values()), tuple(not_copied))


def _why_not_copied(model: Model, file: ExternalFile | None) -> str:
    if file is not None:
        return file.detail
    return "it is not below the folder of the model" if model.data_folder else "data files are not looked at"


@contextlib.contextmanager
def new_data_files(
    copies: Iterable[DataCopy], folder: DataFolder | None, directory: str
) -> Iterator[list[tuple[str, int]]]:
    """Write the new data files, yield their paths and sizes, and delete them if the block raises.

    `directory`: the folder of the model. It is made if necessary. An existing file with the same bytes stays, since
    another model may share it. Raises NotWrittenError for an existing file with other bytes, and OSError.
    """
    written: list[tuple[str, int]] = []
    with contextlib.ExitStack() as undo:
        _make_folder(directory, undo)
        for each in copies:
            assert folder is not None, "a data file was found"
            target = os.path.join(directory, *each.target.split("/"))
            if not is_below(os.path.realpath(target), os.path.realpath(directory)):
                raise NotWrittenError(f"{target} is outside of the folder of the model, because of a link")
            descriptor, status = folder.open(each.location)
            try:
                source = FileSource(descriptor, status.st_size)
                if os.path.lexists(target):
                    if not _has_same_bytes(DataFolder(directory), each, source):
                        raise NotWrittenError(f"{target} already exists, and is not a copy of the data file")
                    continue
                _make_folder(os.path.dirname(target), undo)
                with whole_file(target, Replaceable.NO_FILE) as (new, _):
                    _write_ranges(source, each, new)
                undo.callback(_remove, os.unlink, target)
                written.append((target, each.size))
            finally:
                os.close(descriptor)
        yield written
        undo.pop_all()


def _make_folder(path: str, undo: contextlib.ExitStack) -> None:
    """Make a folder and all missing folders above it, and have `undo` remove them."""
    missing = []
    while path and not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for each in reversed(missing):
        with contextlib.suppress(FileExistsError):  # another process made it, or its name ends in ".."
            os.mkdir(each)
            undo.callback(_remove, os.rmdir, each)


def _remove(remove: Callable[[str], None], path: str) -> None:
    with contextlib.suppress(OSError):
        remove(path)


def _has_same_bytes(folder: DataFolder, copy: DataCopy, source: FileSource) -> bool:
    """Return whether the folder already has a regular file with the name and the bytes of the copy."""
    try:
        descriptor, status = folder.open(copy.target)
    except OSError:
        return False
    try:
        existing = FileSource(descriptor, status.st_size)
        return existing.size == copy.size and all(
            source.read_at(first, min(_BLOCK_BYTES, end - first))
            == existing.read_at(position + first - start, min(_BLOCK_BYTES, end - first))
            for start, end, position in copy.ranges
            for first in range(start, end, _BLOCK_BYTES)
        )
    finally:
        os.close(descriptor)


def _write_ranges(source: FileSource, copy: DataCopy, descriptor: int) -> None:
    for start, end, position in copy.ranges:
        for first, last in _stored_parts(source.descriptor, start, end):
            os.lseek(descriptor, position + first - start, os.SEEK_SET)
            copy_range(source, first, last, descriptor)
    os.ftruncate(descriptor, copy.size)


def _stored_parts(descriptor: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a range of a file that take space on disk. The others are holes: they read as zeros."""
    while start < end:
        try:
            first = os.lseek(descriptor, start, os.SEEK_DATA) if hasattr(os, "SEEK_DATA") else start
            last = os.lseek(descriptor, first, os.SEEK_HOLE) if hasattr(os, "SEEK_HOLE") else end
        except OSError as error:
            if error.errno == errno.ENXIO:
                return  # only a hole is left
            first, last = start, end  # the file system knows no holes
        if first < end:
            yield first, min(last, end)
        start = max(last, first)
