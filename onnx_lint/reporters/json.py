# SPDX-License-Identifier: Apache-2.0
"""The report for programs, version 1; `docs/report.schema.json` is its JSON Schema.

Within a version properties are only added. There is no time stamp: the same input gives the same bytes. The text is
ASCII. Names are unchanged, except that lone surrogates, which no encoding can represent, are escaped.
"""

from __future__ import annotations

from typing import TextIO

from onnx_lint.report.file_report import FileReport
from onnx_lint.report.totals import Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.json_text import indented
from onnx_lint.reporters.records import (
    VERSION,
    diagnostic_records,
    file_record,
    json_safe,
    settings_record,
    summary_record,
    tool_record,
)


class Writer:
    """Writes one JSON document, file by file."""

    def __init__(self, head: Report, stream: TextIO, options: Options, _count: int) -> None:
        self._stream = stream
        self._options = options
        self._is_first = True
        begin = {"version": VERSION, "tool": tool_record(head), **settings_record(head)}
        stream.write(indented(json_safe(begin)).removesuffix("\n}") + ',\n  "files": [')

    def file(self, file: FileReport) -> None:
        """Write the record of the file, and each of its findings."""
        begin = indented(json_safe(file_record(file)), 2).removesuffix("\n    }")
        self._stream.write(f'{"" if self._is_first else ","}\n    {begin},\n      "diagnostics": [')
        self._is_first = False
        before = ""
        for item in diagnostic_records(file, show_suppressed=self._options.show_suppressed):
            self._stream.write(f"{before}\n        {indented(json_safe(item), 4)}")
            before = ","
        self._stream.write("\n      ]\n    }" if before else "]\n    }")

    def end(self, report: Report) -> None:
        """Write the summary."""
        end = "]" if self._is_first else "\n  ]"
        self._stream.write(f'{end},\n  "summary": {indented(json_safe(summary_record(report)), 1)}\n}}\n')
