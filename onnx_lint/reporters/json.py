# SPDX-License-Identifier: Apache-2.0
"""The report for programs, version 1; `docs/report.schema.json` is its JSON Schema.

Within a version properties are only added. There is no time stamp: the same input gives the same bytes. The text is
ASCII. Names are unchanged, except that lone surrogates, which no encoding can represent, are escaped.
"""

from __future__ import annotations

from typing import TextIO

from onnx_lint.report import FileReport, Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.json_pieces import Elements, Properties, write_pieces
from onnx_lint.reporters.records import (
    VERSION,
    diagnostic_records,
    file_record,
    json_safe,
    settings_record,
    summary_record,
    tool_record,
)


def write(report: Report, stream: TextIO, options: Options) -> None:
    """Write the whole report as one JSON document."""
    document = {
        "version": VERSION,
        "tool": json_safe(tool_record(report)),
        **json_safe(settings_record(report)),
        "files": Elements(_file(file, options) for file in report.files),
        "summary": json_safe(summary_record(report)),
    }
    write_pieces(Properties(document), stream, indent=2)


def _file(file: FileReport, options: Options) -> Properties:
    diagnostics = diagnostic_records(file, show_suppressed=options.show_suppressed)
    return Properties(json_safe(file_record(file)) | {"diagnostics": Elements(map(json_safe, diagnostics))})
