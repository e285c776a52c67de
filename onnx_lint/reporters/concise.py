# SPDX-License-Identifier: Apache-2.0
"""One line per finding, for grep and editors: never wrapped, never folded, and nothing else.

The command prints on standard error what other formats say beside the findings, see `onnx_lint.cli.beside_concise`.
"""

from __future__ import annotations

from typing import TextIO

from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.totals import Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.escape import visible
from onnx_lint.reporters.wording import path_at, worst_first


class Writer:
    """Writes `path: place: severity[rule] message` for each finding.

    For a model in text form a line begins `path:line:column: place:`.
    """

    def __init__(self, _head: Report, stream: TextIO, options: Options, _count: int) -> None:
        self._stream = stream
        self._options = options

    def file(self, file: FileReport) -> None:
        """Write the findings of the file, the worst first."""
        for item in worst_first(file.diagnostics):
            self._stream.write(f"{path_at(file.path, item.position)}: {format_line(item)}\n")
        if self._options.show_suppressed:
            for item in worst_first(file.suppressed):
                self._stream.write(f"{path_at(file.path, item.position)}: {format_line(item)} (suppressed)\n")

    def end(self, report: Report) -> None:
        """Write nothing: every line is a finding."""


def format_line(item: Diagnostic) -> str:
    """Return the finding on one line, without its file."""
    return f"{visible(item.place)}: {item.severity.label}[{visible(item.rule)}] {visible(item.message)}"
