# SPDX-License-Identifier: Apache-2.0
"""Reports of runs, made of the reports of files."""

from __future__ import annotations

from collections.abc import Iterable

from onnx_lint.common.record import replace
from onnx_lint.engine.selection import selected_rules
from onnx_lint.engine.settings import Settings
from onnx_lint.report import FileReport, Report


def report_of(files: Iterable[FileReport], settings: Settings) -> Report:
    """Return the report of a run with `settings` over `files`."""
    return Report(tuple(files), settings.standard.edition, settings.standard.variant, selected_rules(settings))


def with_own_settings(file: FileReport, own: Settings, usual: Settings) -> FileReport:
    """Return the report of a file; if its settings differ from those of the first file, they are part of it."""
    if own is usual:
        return file
    standard = own.standard
    return replace(file, edition=standard.edition, variant=standard.variant, rules=selected_rules(own))
