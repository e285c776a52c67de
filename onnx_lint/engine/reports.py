# SPDX-License-Identifier: Apache-2.0
"""Reports of runs, made of the reports of files."""

from __future__ import annotations

from collections.abc import Iterable

from onnx_lint.common.record import replace
from onnx_lint.engine.registry import registry
from onnx_lint.engine.selection import selected_rules
from onnx_lint.engine.settings import Settings
from onnx_lint.report import FileReport, Report


def report_of(files: Iterable[FileReport], settings: Settings) -> Report:
    """Return the report of a run with `settings` over `files`."""
    standard = settings.standard
    rules = selected_rules(settings)
    named = {entry.plugin for entry in registry().values() if entry.module not in settings.plugins}
    plugins = (*sorted(filter(None, named)), *settings.plugins)
    return Report(tuple(files), standard.edition, standard.variant, rules, plugins)


def with_own_settings(file: FileReport, own: Settings, usual: Settings) -> FileReport:
    """Return the report of a file; if its settings differ from those of the first file, they are part of it."""
    if own is usual:
        return file
    standard = own.standard
    return replace(file, edition=standard.edition, variant=standard.variant, rules=selected_rules(own))
