# SPDX-License-Identifier: Apache-2.0
"""Takes the reports of unchanged files from the cache, where a run asks for it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.cache.folder import CacheFolderError, cache_folder, prepare, refuse_beside_models
from onnx_lint.cache.verdicts import FileCheck, Verdicts
from onnx_lint.engine.lint import lint_file
from onnx_lint.input.locations import is_remote
from onnx_lint.report import FileReport

if TYPE_CHECKING:
    from onnx_lint.cli.paths import Input

_open: Final[dict[str, Verdicts]] = {}
"""The caches that this process has open, by their folders."""


def folder_of_run(paths: Iterable[str], inputs: Iterable[Input]) -> str | None:
    """Return the folder of the cache; None, with a line on standard error, if it must not be used."""
    try:
        folder, is_chosen = cache_folder(os.environ)
        if is_chosen:
            folders = {os.path.dirname(item.path) for item in inputs if item.path != "-" and not is_remote(item.path)}
            refuse_beside_models(folder, folders | {path for path in paths if os.path.isdir(path)})
        prepare(folder)
    except CacheFolderError as error:
        sys.stderr.write(f"The cache is not used: {error}\n")
        return None
    return folder


def find_cached(checks: Sequence[tuple[FileCheck, str] | None]) -> dict[int, FileReport]:
    """Return the reports of files that the file system calls unchanged, by the index of their checks.

    Each check comes with the folder of the cache. The cache is closed afterwards, since a copy of this process must not
    have its database open.
    """
    found: dict[int, FileReport] = {}
    with opened():
        for index, check in enumerate(checks):
            report = _verdicts(check[1]).find(check[0], may_read=False) if check is not None else None
            if report is not None:
                found[index] = report
    return found


def cached_or_linted(check: FileCheck, folder: str) -> FileReport:
    """Return the report of one file, from the cache if its content is the same, and keep it otherwise."""
    verdicts = _verdicts(folder)
    found = verdicts.find(check, may_read=True)
    if found is not None:
        return found
    return verdicts.checked(
        check,
        lambda beside: lint_file(
            check.path, check.settings, check.name, context=check.context, pictures=check.pictures, beside=beside
        ),
    )


@contextlib.contextmanager
def opened() -> Iterator[None]:
    """Close at the end what this process has opened meanwhile."""
    try:
        yield
    finally:
        while _open:
            _open.popitem()[1].close()


def _verdicts(folder: str) -> Verdicts:
    if folder not in _open:
        _open[folder] = Verdicts(folder)
    return _open[folder]
