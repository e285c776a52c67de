# SPDX-License-Identifier: Apache-2.0
"""Checks files with a cache, which this process opens once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from onnx_lint.cache.verdicts import FileCheck, Verdicts
from onnx_lint.report import FileReport

_open: Final[dict[str, Verdicts]] = {}
"""The caches that this process has open, by their folders."""


def cached_or_linted(check: FileCheck, folder: str) -> FileReport:
    """Return the report of one file, from the cache if its content is the same, and keep it otherwise."""
    verdicts = verdicts_in(folder)
    found = verdicts.find(check, may_read=True)
    if found is not None:
        return found
    from onnx_lint.engine.lint import lint_file

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


def verdicts_in(folder: str) -> Verdicts:
    """Return the cache in a folder, which stays open."""
    if folder not in _open:
        _open[folder] = Verdicts(folder)
    return _open[folder]
