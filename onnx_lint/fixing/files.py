# SPDX-License-Identifier: Apache-2.0
"""Fixes one file, and reports the remaining findings."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from functools import partial
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.engine.lint import lint_source, load_source, opened
from onnx_lint.engine.proposed_fixes import without_edits
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.difference import difference_of
from onnx_lint.fixing.rewrite import NotWrittenError, rewrite, write_pieces
from onnx_lint.fixing.rounds import Lint, Mended, check, mend
from onnx_lint.input.patched_source import PatchedSource, unpatched
from onnx_lint.input.source import FileSource, Source, SourceError, open_file
from onnx_lint.report import FileReport, Repair


class Mending(Record):
    """The settings for fixing files."""

    unsafe: bool = False
    """True to make unsafe fixes too."""
    shows_difference: bool = False
    """True to show what would change, and to change nothing."""


def fix_file(
    path: str,
    settings: Settings,
    mending: Mending,
    name: str | None = None,
    *,
    context: bool = False,
) -> FileReport:
    """Fix the file at `path`, or standard input, which is copied to standard output; return the report on the result.

    `name` and `context` are as in `onnx_lint.engine.lint.lint_file`.
    """
    name = path if name is None else name
    try:
        source = opened(path, settings)
    except (SourceError, OSError) as error:
        return FileReport(path=name, size=0, unreadable=str(error))
    return fix_source(source, path, settings, mending, name, context=context)


def fix_source(
    source: Source,
    path: str,
    settings: Settings,
    mending: Mending,
    name: str,
    *,
    context: bool = False,
    receive: Callable[[PatchedSource], None] | None = None,
) -> FileReport:
    """Mend the file at `path`, which is open as `source`, as `fix_file` does; close the source.

    `receive`: is called with the result in place of writing it, if the source is a model in memory, without a path.
    """
    if path == "-":
        receive = _write_to_standard_output
    lint = partial(
        lint_source,
        path=name,
        settings=settings,
        is_file=receive is None,
        context=context,
        keeps_edits=lambda fix: mending.unsafe or fix.is_safe,
    )
    load = partial(load_source, path=name, settings=settings, is_file=receive is None)
    try:
        old = os.fstat(source.descriptor) if isinstance(source, FileSource) and receive is None else None
        report = lint(unpatched(source))
        try:
            outcome = mend(source, report, lint, load, unsafe=mending.unsafe)
            repair = Repair(outcome.fixed, outcome.revealed, outcome.made, outcome.not_made)
            if mending.shows_difference:
                return _reported(report, replace(repair, difference=difference_of(outcome, name, settings)))
            if receive is not None:
                receive(outcome.source)
            else:
                _write(path, outcome, old, lint, follows_links=settings.follow_links)
        except NotWrittenError as error:
            return _reported(report, Repair(problem=f"{name}: {error}; it was left as it is"))
        except OSError as error:
            return _reported(report, Repair(problem=f"{name}: {error.strerror or error}; it was left as it is"))
        except Exception as error:
            return _reported(report, Repair()).with_crash(error, "fixing the file")
        return _reported(outcome.report, repair)
    finally:
        source.close()


_WRITABLE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def _reported(report: FileReport, repair: Repair) -> FileReport:
    return replace(report, diagnostics=without_edits(report.diagnostics), repair=repair)


def _write(path: str, outcome: Mended, old: os.stat_result | None, lint: Lint, *, follows_links: bool) -> None:
    """Put the result in the place of the file. Raises NotWrittenError and OSError."""
    if not outcome.rounds:
        return
    if os.path.islink(path):
        if not follows_links:
            raise NotWrittenError("is a symbolic link; --follow-links changes the file that the link leads to")
        path = os.path.realpath(path)
    # Root may write any file, also one that nobody is meant to write.
    if not os.access(path, os.W_OK) or not os.stat(path).st_mode & _WRITABLE:
        raise NotWrittenError("the file is read-only")
    rewrite(path, outcome.source, lambda written: check(outcome, lint(open_file(written))), old)


def _write_to_standard_output(source: PatchedSource) -> None:
    assert sys.__stdout__ is not None
    sys.__stdout__.flush()
    write_pieces(source, sys.__stdout__.fileno())
