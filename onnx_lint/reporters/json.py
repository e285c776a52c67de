# SPDX-License-Identifier: Apache-2.0
"""The report for programs, version 1; `docs/report.schema.json` is its JSON Schema.

Within a version properties are only added. There is no time stamp: the same input gives the same bytes. The text is
ASCII. Names are unchanged, except that lone surrogates, which no encoding can represent, are escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from onnx_lint.report import FileReport, Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.json_pieces import Written, pieces_of, write_pieces
from onnx_lint.reporters.packed_text import PackedText
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
    """Keeps the record of each file as text, and writes one JSON document."""

    def __init__(self, head: Report, stream: TextIO, options: Options, count: int) -> None:
        self._stream = stream
        self._options = options
        self._files = PackedText()
        self._before = "["

    def file(self, file: FileReport) -> None:
        """Keep the record of the file."""
        diagnostics = diagnostic_records(file, show_suppressed=self._options.show_suppressed)
        record = json_safe(file_record(file)) | {"diagnostics": map(json_safe, diagnostics)}
        self._files.write(f"{self._before}\n    ")
        self._before = ","
        for piece in pieces_of(record, 2, 2):
            self._files.write(piece)

    def end(self, report: Report) -> None:
        """Write the document."""
        document = {
            "version": VERSION,
            "tool": json_safe(tool_record(report)),
            **json_safe(settings_record(report)),
            "files": Written(self._elements()),
            "summary": json_safe(summary_record(report)),
        }
        write_pieces(document, self._stream, indent=2)

    def _elements(self) -> Iterator[str]:
        yield from self._files.pieces()
        yield "[]" if self._before == "[" else "\n  ]"
