# SPDX-License-Identifier: Apache-2.0
"""Checks files with a cache, which this process opens once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from onnx_lint.cache.verdicts import FileCheck, Verdicts
from onnx_lint.common.record import replace
from onnx_lint.input.locations import is_remote
from onnx_lint.input.source import Source, SourceError
from onnx_lint.report.file_report import FileReport

_open: Final[dict[str, Verdicts]] = {}
"""The caches that this process has open, by their folders."""


def cached_or_linted(check: FileCheck, folder: str, opening: Callable[[], Source] | None = None) -> FileReport:
    """Return the report of one file, from the cache if its content is the same, and keep it otherwise.

    `opening`: returns the source if another thread has opened it already.
    """
    verdicts = verdicts_in(folder)
    found = verdicts.find(check, may_read=True) if opening is None else None
    if found is None and is_remote(check.path):
        check, opening = with_source(check, opening)
        found = verdicts.find(check, may_read=True)
        if found is not None and check.source is not None:
            check.source.close()
    if found is not None:
        return found
    from onnx_lint.engine.lint import lint_file

    return verdicts.checked(
        check,
        lambda beside: lint_file(
            *(check.path, check.settings, check.name),
            context=check.context,
            beside=beside,
            opening=opening,
        ),
    )


def with_source(check: FileCheck, opening: Callable[[], Source] | None) -> tuple[FileCheck, Callable[[], Source]]:
    """Return the check of a stored object with its source, and what returns the source or raises why there is none."""
    from onnx_lint.engine.lint import opened as opened_source

    try:
        source: Any = opened_source(check.path, check.settings) if opening is None else opening()
    except (SourceError, OSError) as error:
        problem = error

        def failing() -> Source:
            raise problem

        return check, failing
    return replace(check, source=source), lambda: source


@contextlib.contextmanager
def opened() -> Iterator[None]:
    """Close at the end what this process has opened meanwhile."""
    try:
        yield
    finally:
        while _open:
            _open.popitem()[1].close()


def verdicts_in(folder: str) -> Verdicts:
    """Return the cache in a folder, which stays open."""
    if folder not in _open:
        _open[folder] = Verdicts(folder)
    return _open[folder]
