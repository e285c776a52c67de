# SPDX-License-Identifier: Apache-2.0
"""Lints one of the files of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_lint.common.memory import let_go
from onnx_lint.common.record import Record
from onnx_lint.report import FileReport, InternalError

if TYPE_CHECKING:
    from onnx_lint.engine.settings import Settings


class Task(Record):
    """A file to lint, and how; or a path that leads to none, and why."""

    path: str
    settings: Settings
    problem: str | None = None
    name: str | None = None
    """The path to take for that of the file, where it is another one."""
    context: tuple[int, ...] = ()
    """Of how many findings of a rule and clause the lines around them are told."""
    pictures: bool = False
    """Whether the nodes around the worst findings are told."""


def lint_one(task: Task) -> FileReport:
    """The report of one task. A bug outside the rules is an internal error of that file."""
    from onnx_lint.engine.lint import lint_file

    let_go()
    if task.problem is not None:
        return FileReport(task.name or task.path, 0, unreadable=task.problem)
    try:
        return lint_file(task.path, task.settings, task.name, context=task.context, pictures=task.pictures)
    except Exception as error:
        return FileReport(task.name or task.path, 0, internal_errors=(InternalError.of(error),))
