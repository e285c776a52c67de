# SPDX-License-Identifier: Apache-2.0
"""Finds the folder of the cache, and the reports of unchanged files in it, where a run asks for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from onnx_lint.cache.checks import opened, verdicts_in
from onnx_lint.cache.folder import CacheFolderError, cache_folder, prepare, refuse_beside_models
from onnx_lint.cache.verdicts import FileCheck
from onnx_lint.input.locations import is_remote
from onnx_lint.report import FileReport

if TYPE_CHECKING:
    from onnx_lint.cli.paths import Input


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


_MOST_REPORTS: Final = 1_000
"""The reports that are kept from the first look into the cache. The others are read again at their turn."""


def find_cached(checks: Iterable[tuple[FileCheck, str] | None]) -> dict[int, FileReport | None]:
    """Return the reports of files that the file system calls unchanged, by the index of their checks.

    Keep only the first reports; the value of the others is None. Each check comes with the folder of the cache. The
    cache is closed afterwards.
    """
    found: dict[int, FileReport | None] = {}
    with opened():
        for index, check in enumerate(checks):
            report = verdicts_in(check[1]).find(check[0], may_read=False) if check is not None else None
            if report is not None:
                found[index] = report if len(found) < _MOST_REPORTS else None
    return found
