# SPDX-License-Identifier: Apache-2.0
"""Writes data files, or their used bytes, to new files; the old ones stay."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from onnx_lint.common.record import replace
from onnx_lint.common.whole_file import NotWrittenError, whole_file
from onnx_lint.input.copying import copy_range
from onnx_lint.input.source import FileSource
from onnx_lint.ir.places.edits import DataCopy
from onnx_lint.ir.tensors.data_folder import DataFolder, FileState, is_below
from onnx_lint.ir.tensors.external import spelled_plainly
from onnx_lint.model import Model
from onnx_lint.wording import quote

_BLOCK_BYTES: Final = 1 << 20


def copies_of(model: Model, compact: Iterable[DataCopy]) -> tuple[list[DataCopy], list[str]]:
    """Return the copies of all data files of a model under their names, and why others cannot be copied.

    `compact`: the copies that have a part of their file.
    """
    copies = {each.location: replace(each, target=each.location) for each in compact}
    left: dict[str, None] = {}
    for data in model.external_data:
        location = spelled_plainly(data.location)
        if not data.is_external or not location or location in copies:
            continue
        file = data.file
        if file is not None and file.state is FileState.REGULAR:
            size = file.size or 0
            copies[location] = DataCopy(location, location, ((0, size, 0),), size)
            continue
        why = "it is not below the folder of the model" if model.data_folder else "data files are not looked at"
        left[f"{quote(location)} was not copied: {why if file is None else file.detail}"] = None
    return list(copies.values()), list(left)


@contextlib.contextmanager
def new_data_files(
    copies: Iterable[DataCopy], folder: DataFolder | None, directory: str
) -> Iterator[list[tuple[str, int]]]:
    """Write the new data files, yield their paths and sizes, and delete them if the block raises.

    `directory`: the folder of the model, which is made if necessary. A file that is there already with the same bytes
    stays, as another model may share it. Raises NotWrittenError if it has others, and OSError.
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
                    if not _is_there(DataFolder(directory), each, source):
                        raise NotWrittenError(f"{target} is there already, and is no copy of the data file")
                    continue
                _make_folder(os.path.dirname(target), undo)
                with whole_file(target, "no file") as (new, _):
                    _write_ranges(source, each, new)
                undo.callback(_remove, os.unlink, target)
                written.append((target, each.size))
            finally:
                os.close(descriptor)
        yield written
        undo.pop_all()


def _make_folder(path: str, undo: contextlib.ExitStack) -> None:
    """Make a folder and those above it, as far as they are missing, and have `undo` remove them."""
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


def _is_there(folder: DataFolder, made: DataCopy, source: FileSource) -> bool:
    """Return whether the folder has a regular file with the bytes of the new one."""
    try:
        descriptor, status = folder.open(made.target)
    except OSError:
        return False
    try:
        there = FileSource(descriptor, status.st_size)
        return there.size == made.size and all(
            source.read_at(first, min(_BLOCK_BYTES, end - first))
            == there.read_at(position + first - start, min(_BLOCK_BYTES, end - first))
            for start, end, position in made.ranges
            for first in range(start, end, _BLOCK_BYTES)
        )
    finally:
        os.close(descriptor)


def _write_ranges(source: FileSource, made: DataCopy, descriptor: int) -> None:
    for start, end, position in made.ranges:
        for first, last in _stretches(source.descriptor, start, end):
            os.lseek(descriptor, position + first - start, os.SEEK_SET)
            copy_range(source, first, last, descriptor)
    os.ftruncate(descriptor, made.size)


def _stretches(descriptor: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a range of a file that are stored; the others are holes, which read as zeros."""
    while start < end:
        try:
            first = os.lseek(descriptor, start, os.SEEK_DATA) if hasattr(os, "SEEK_DATA") else start
            last = os.lseek(descriptor, first, os.SEEK_HOLE) if hasattr(os, "SEEK_HOLE") else end
        except OSError as error:
            if error.errno == errno.ENXIO:
                return  # only a hole is left
            first, last = start, end  # the file system does not know
        yield from [(first, min(last, end))] if first < end else []
        start = max(last, first)
