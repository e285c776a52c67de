# SPDX-License-Identifier: Apache-2.0
"""Checks files with a cache, which this process opens once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.cache.verdicts import FileCheck, Verdicts
from onnx_lint.common.record import Record, replace
from onnx_lint.input.locations import is_remote
from onnx_lint.input.source import Source, SourceError
from onnx_lint.report.file_report import FileReport

if TYPE_CHECKING:
    from onnx_lint.ir.tensors.data_folder import DataFolder
    from onnx_lint.remote import RemoteSource

_caches: Final[dict[str, Verdicts]] = {}
"""The caches that this process has open, by their folders."""


def cached_or_linted(check: FileCheck, folder: str, open_source: Callable[[], Source] | None = None) -> FileReport:
    """Return the report of one file, from the cache if its content is the same, and keep it otherwise.

    `open_source`: returns the source if another thread has opened it already.
    """
    verdicts = verdicts_in(folder)
    if open_source is None:
        found = verdicts.find(check, may_read=True)
        if found is not None:
            return found
    if is_remote(check.path):
        return _cached_or_linted_once_open(check, verdicts, open_source)
    return verdicts.checked(check, _lint_of(check, open_source))


def _cached_or_linted_once_open(
    check: FileCheck, verdicts: Verdicts, open_source: Callable[[], Source] | None
) -> FileReport:
    """Open a stored object, and return its report as `cached_or_linted` does.

    A listing may have no version of the object. The answer to opening it has one, by which the cache finds its report.
    """
    attempt = opened_check(check, open_source)
    found = verdicts.find(attempt.check, may_read=True)
    if found is None:
        return verdicts.checked(attempt.check, _lint_of(attempt.check, attempt.source))
    if attempt.check.source is not None:
        attempt.check.source.close()
    return found


def _lint_of(check: FileCheck, open_source: Callable[[], Source] | None) -> Callable[[DataFolder | None], FileReport]:
    """Return the function that lints the file of a check, with external data from a folder."""
    from onnx_lint.engine.lint import lint_file

    def lint(beside: DataFolder | None) -> FileReport:
        return lint_file(
            check.path, check.settings, check.name, context=check.context, beside=beside, opening=open_source
        )

    return lint


class OpenedCheck(Record):
    """A check of a stored object after an attempt to open it."""

    check: FileCheck
    """The check, with the source if that could be opened."""
    opened: RemoteSource | SourceError | OSError
    """The source, or why it could not be opened."""

    def source(self) -> Source:
        """Return the source. Raises the error with which opening it failed."""
        if isinstance(self.opened, BaseException):
            raise self.opened
        return self.opened


def opened_check(check: FileCheck, open_source: Callable[[], Source] | None) -> OpenedCheck:
    """Return the check of a stored object after it was opened. `open_source`: as in `cached_or_linted`."""
    from onnx_lint.engine.lint import opened

    try:
        source: Any = opened(check.path, check.settings) if open_source is None else open_source()
    except (SourceError, OSError) as error:
        return OpenedCheck(check, error)
    return OpenedCheck(replace(check, source=source), source)


@contextlib.contextmanager
def closing_caches() -> Iterator[None]:
    """Close at the end the caches that this process has opened meanwhile."""
    try:
        yield
    finally:
        while _caches:
            _caches.popitem()[1].close()


def verdicts_in(folder: str) -> Verdicts:
    """Return the cache in a folder, which stays open."""
    if folder not in _caches:
        _caches[folder] = Verdicts(folder)
    return _caches[folder]
