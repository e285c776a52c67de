# SPDX-License-Identifier: Apache-2.0
"""One line a finding, for grep and for editors: never wrapped, never folded."""

from __future__ import annotations

from typing import TextIO

from onnx_lint.report import Diagnostic, Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.escape import shown_path, visible
from onnx_lint.reporters.statistics import statistics_lines
from onnx_lint.reporters.wording import not_verified_of, weakened_of


def write(report: Report, stream: TextIO, options: Options) -> None:
    """Write `path: place: severity[rule] message` for each finding, and `path: not verified: ...` for what is open."""
    for file in report.files:
        path = shown_path(file.path)
        for item in file.diagnostics:
            stream.write(f"{path}: {line_of(item)}\n")
        if options.show_suppressed:
            stream.writelines(f"{path}: {line_of(item)} (suppressed)\n" for item in file.suppressed)
        if not options.quiet:
            stream.writelines(f"{path}: not verified: {what}\n" for what in not_verified_of(file))
    if options.statistics:
        stream.writelines(f"{row}\n" for row in statistics_lines(report))
    if not options.quiet:
        stream.writelines(f"{what}\n" for what in weakened_of(report))


def line_of(item: Diagnostic) -> str:
    """The finding on one line, without its file."""
    return f"{visible(item.place)}: {item.severity.label}[{visible(item.rule)}] {visible(item.message)}"
