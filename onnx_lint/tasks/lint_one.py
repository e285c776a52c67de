# SPDX-License-Identifier: Apache-2.0
"""Lints one of the files of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_lint.common.memory import release_memory
from onnx_lint.common.record import Record
from onnx_lint.input.locations import is_remote, shown_location
from onnx_lint.report import Context
from onnx_lint.report.file_report import FileReport, InternalError

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_lint.cache.verdicts import FileCheck
    from onnx_lint.engine.settings import Settings
    from onnx_lint.fixing.files import FixOptions
    from onnx_lint.input.source import Source
    from onnx_lint.ir.tensors.data_folder import DataFolder
    from onnx_lint.remote.ahead import Opening


class Task(Record):
    """A file to lint with its settings, or a path without a file and the reason."""

    path: str
    settings: Settings
    problem: str | None = None
    name: str | None = None
    """The path to report, if it differs from `path`."""
    context: Context = Context.NONE
    """What to collect around findings."""
    listed: tuple[str, int] | None = None
    """The version and size of a stored object in the listing of its store; None if the listing has none."""
    cache: str | None = None
    """The folder of the cache of verdicts; None if none is used."""
    fix_options: FixOptions | None = None
    """How to fix the file; None to check it as it is."""

    @property
    def reported_path(self) -> str:
        """The path in the report."""
        return self.name or self.path


def check_of(task: Task) -> tuple[FileCheck, str] | None:
    """Return what decides the report of a task, and the folder of the cache; None if the report may not be kept."""
    if task.cache is None:
        return None
    check = file_check(task)
    return None if check is None else (check, task.cache)


def file_check(task: Task) -> FileCheck | None:
    """Return what decides the report of a task; None if the report may not be kept."""
    if task.problem is not None or task.fix_options is not None:
        return None
    from onnx_lint.cache.verdicts import FileCheck

    name = shown_location(task.path) if task.name is None else task.name
    check = FileCheck(task.path, task.settings, name, task.context, task.listed)
    return check if check.may_be_kept else None


def is_opened_ahead(task: Task) -> bool:
    """Return whether to open the model of a task before its turn, see `onnx_lint.remote.ahead`."""
    return is_remote(task.path) and task.problem is None and task.fix_options is None


def opening_of(task: Task) -> Opening:
    """Return what to open before the turn of a task."""
    from onnx_lint.remote.ahead import Opening

    settings = task.settings
    return Opening(task.path, settings.limits, settings.proto, settings.external_data)


def lint_one(task: Task, opening: Callable[[], Source] | None = None, beside: DataFolder | None = None) -> FileReport:
    """Return the report of one task. A bug outside the rules becomes an internal error of that file.

    `opening`: returns the source if another thread has opened it already. `beside`: the folder of external data, if the
    caller records what is looked up there.
    """
    release_memory()
    if task.problem is not None:
        return FileReport(task.reported_path, 0, unreadable=task.problem)
    # Late, as the verdicts of a run may all be in the cache; not below, as a missing package is no fault of one file.
    from onnx_lint.engine.lint import lint_file

    try:
        if task.fix_options is not None:
            from onnx_lint.fixing.files import fix_file

            return fix_file(task.path, task.settings, task.fix_options, task.name, context=task.context)
        cached = check_of(task)
        if cached is not None:
            from onnx_lint.cache.checks import cached_or_linted

            check, folder = cached
            return cached_or_linted(check, folder, opening)
        return lint_file(
            task.path,
            task.settings,
            task.name,
            context=task.context,
            opening=opening,
            beside=beside,
        )
    except Exception as error:
        return FileReport(task.reported_path, 0, internal_errors=(InternalError.from_exception(error),))
