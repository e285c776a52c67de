# SPDX-License-Identifier: Apache-2.0
"""The messages between the client and the workers of a cluster, and the handshake before any of them is unpickled."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from google.protobuf import __version__ as protobuf_version

from onnx_lint.cache.key import code_files, own_folders
from onnx_lint.cache.serialized import SENT, from_bytes, parsed, serialized, to_bytes
from onnx_lint.common.record import Record
from onnx_lint.engine.plugins import ENTRY_POINT_GROUP
from onnx_lint.report import Context
from onnx_lint.report.file_report import FileReport
from onnx_lint.version import __version__

_LEVEL: Final = 1


class Job(Record):
    """A file to lint."""

    index: int
    path: str
    name: str | None
    context: Context
    settings: bytes
    """Pickled. A process unpickles equal settings once, so that the rules are not selected again for each file."""
    folder: str
    """The working directory of the client, for relative paths."""
    is_kept: bool
    """Whether to make an entry of the cache."""


class Answer(Record):
    """The result of a job: the packed report or entry of the cache, or a description of how its process ended."""

    index: int
    packed: bytes = b""
    words: str = ""
    is_limit: bool = False

    def entry(self) -> dict[str, Any]:
        """Return what `packed` made: an entry of the cache, or only its report."""
        found: dict[str, Any] = from_bytes(zlib.decompress(self.packed))
        return found

    def report(self) -> FileReport:
        """Return the report in it."""
        return parsed(self.entry()["report"], SENT)


def packed(report: FileReport, entry: Mapping[str, Any] | None) -> bytes:
    """Return a report as bytes, with the rest of its entry for the cache if it has one."""
    return zlib.compress(to_bytes(entry or {"report": serialized(report, SENT)}), _LEVEL)


def call_of(function: Callable[..., Any], *arguments: Any) -> bytes:
    """Return a pickle that calls the function when it is unpickled.

    Dask gets `pickle.loads` and these bytes as the task. It unpickles a task in the scheduler, and on a worker in the
    loop that keeps it alive: with the function itself, a scheduler or worker without onnx-lint would fail or end.
    """
    return pickle.dumps(_PickledCall(function, arguments))


class _PickledCall:
    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._made_by = function, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self._made_by


@functools.cache
def program() -> str:
    """Return the version of onnx-lint, and a digest of the code and the parsers that a report depends on."""
    found = hashlib.blake2b(repr((sys.version_info[:2], protobuf_version)).encode(), digest_size=16)
    for folder in _code_folders():
        for path, _, _ in sorted(code_files(folder)):
            found.update(f"{os.path.relpath(path, folder)}\0{_digest(path)}".encode("utf-8", "surrogatepass"))
    return f"{__version__} ({found.hexdigest()})"


def _code_folders() -> Iterator[str]:
    """Yield the folders of onnx-lint and of the packages of installed plugins, which are not imported for that."""
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    yield from own_folders()
    for name in sorted({each.module.partition(".")[0] for each in entry_points(group=ENTRY_POINT_GROUP)}):
        spec = find_spec(name)
        yield from (spec.submodule_search_locations or ()) if spec is not None else ()


def digest_of_files(paths: Iterable[str]) -> str:
    """Return the digest of plugin and schema files. One that is missing counts as empty."""
    return " ".join(map(_digest, paths))


def _digest(path: str) -> str:
    found = hashlib.blake2b(digest_size=16)
    with contextlib.suppress(OSError), open(path, "rb") as stream:
        found.update(stream.read())
    return found.hexdigest()
