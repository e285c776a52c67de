# SPDX-License-Identifier: Apache-2.0
"""Writes the used bytes of data files to new files; the old ones stay."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator

from onnx_lint.common.replacement import replacement
from onnx_lint.fixing.rewrite import NotWrittenError, copy
from onnx_lint.input.source import FileSource
from onnx_lint.ir.places.edits import DataCopy
from onnx_lint.ir.tensors.data_folder import DataFolder


@contextlib.contextmanager
def new_data_files(copies: Iterable[DataCopy], folder: DataFolder, directory: str) -> Iterator[None]:
    """Write the new data files, and delete them if the block raises.

    `directory`: the folder of the model. Raises NotWrittenError if there is such a file already, and OSError.
    """
    made: list[str] = []
    try:
        for each in copies:
            target = os.path.join(directory, *each.target.split("/"))
            if os.path.lexists(target):
                raise NotWrittenError(f"{target} is there already")
            descriptor, status = folder.open(each.location)
            try:
                with replacement(target) as (new, _):
                    _write_ranges(FileSource(descriptor, status.st_size), each, new)
                    os.fsync(new)
            finally:
                os.close(descriptor)
            made.append(target)
        yield
    except BaseException:
        for target in made:
            with contextlib.suppress(OSError):
                os.unlink(target)
        raise


def _write_ranges(source: FileSource, made: DataCopy, descriptor: int) -> None:
    for start, end, position in made.ranges:
        for first, last in _stretches(source.descriptor, start, end):
            os.lseek(descriptor, position + first - start, os.SEEK_SET)
            copy(source, first, last, descriptor)
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
