# SPDX-License-Identifier: Apache-2.0
"""One line per finding, for grep and editors: never wrapped, never folded."""

from __future__ import annotations

from typing import TextIO

from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.totals import Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.escape import shown_path, visible
from onnx_lint.reporters.statistics import statistics_lines
from onnx_lint.reporters.wording import (
    internal_error_of,
    interrupted_of,
    not_verified_of,
    path_at,
    weakened_of,
    worst_first,
)


class Writer:
    """Writes `path: place: severity[rule] message` for each finding, and `path: not verified: ...` for what was
    skipped. A crash of onnx-lint is `path: internal error: ...`. For a model in text form a line begins
    `path:line:column: place:`.
    """

    def __init__(self, head: Report, stream: TextIO, options: Options, count: int) -> None:
        self._stream = stream
        self._options = options

    def file(self, file: FileReport) -> None:
        """Write the findings of the file, the worst first."""
        stream, options = self._stream, self._options
        path = shown_path(file.path)
        for item in worst_first(file.diagnostics):
            stream.write(f"{path_at(file.path, item.position)}: {line_of(item)}\n")
        if options.show_suppressed:
            for item in worst_first(file.suppressed):
                stream.write(f"{path_at(file.path, item.position)}: {line_of(item)} (suppressed)\n")
        if not options.quiet:
            errors = map(internal_error_of, file.internal_errors)
            stream.writelines(f"{path}: internal error: {visible(error)}\n" for error in errors)
            stream.writelines(
                f"{path}: {target.program}: {visible(target.said)}\n" for target in file.targets if target.loads is None
            )
            stream.writelines(f"{path}: not verified: {what}\n" for what in not_verified_of(file))

    def end(self, report: Report) -> None:
        """Write the statistics and the remarks about the run."""
        if self._options.statistics:
            self._stream.writelines(f"{row}\n" for row in statistics_lines(report))
        if report.not_linted:
            self._stream.write(f"{interrupted_of(report)}\n")
        self._stream.writelines(f"{what}\n" for what in weakened_of(report.weakened, quiet=self._options.quiet))


def line_of(item: Diagnostic) -> str:
    """Return the finding on one line, without its file."""
    return f"{visible(item.place)}: {item.severity.label}[{visible(item.rule)}] {visible(item.message)}"
