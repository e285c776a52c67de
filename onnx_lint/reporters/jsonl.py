# SPDX-License-Identifier: Apache-2.0
"""One JSON object per line: the run, then for each file its findings and the file itself, then the summary.

The objects are those of the JSON report, each with its kind in `record`: `run`, `finding` (with the `path` of its
file), `file` and `summary`. `docs/report-line.schema.json` is the JSON Schema of a line.
"""

from __future__ import annotations

from typing import Any, TextIO

from onnx_lint.report.file_report import FileReport
from onnx_lint.report.totals import Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.json_text import compact
from onnx_lint.reporters.records import (
    VERSION,
    diagnostic_records,
    file_record,
    json_safe,
    path_of,
    settings_record,
    summary_record,
    tool_record,
)


class Writer:
    """Writes one record per line."""

    def __init__(self, head: Report, stream: TextIO, options: Options, _count: int) -> None:
        self._stream = stream
        self._show_suppressed = options.show_suppressed
        self._write({"record": "run", "version": VERSION, "tool": tool_record(head), **settings_record(head)})

    def file(self, file: FileReport) -> None:
        """Write a record for each finding, then one for the file."""
        for diagnostic in diagnostic_records(file, show_suppressed=self._show_suppressed):
            self._write({"record": "finding", "path": path_of(file), **diagnostic})
        self._write({"record": "file", **file_record(file)})

    def end(self, report: Report) -> None:
        """Write the summary."""
        self._write({"record": "summary", **summary_record(report)})

    def _write(self, record: dict[str, Any]) -> None:
        self._stream.write(compact(json_safe(record)) + "\n")
