# SPDX-License-Identifier: Apache-2.0
"""The report for programs, version 1; `docs/report.schema.json` is its JSON Schema.

Within a version only properties are added. There is no time stamp: the same input gives the same bytes. The text is
ASCII; names stand as they are, except that a lone surrogate, which no encoding can write, is replaced by its escape.
"""

from __future__ import annotations

import json
from typing import TextIO

from onnx_lint.report import Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.records import (
    VERSION,
    diagnostic_records,
    file_record,
    json_safe,
    summary_record,
    tool_record,
)


def write(report: Report, stream: TextIO, options: Options) -> None:
    """Write the whole report as one JSON document."""
    shown = options.show_suppressed
    document = {
        "version": VERSION,
        "tool": tool_record(report),
        "files": [
            file_record(file) | {"diagnostics": diagnostic_records(file, show_suppressed=shown)}
            for file in report.files
        ],
        "summary": summary_record(report),
    }
    json.dump(json_safe(document), stream, indent=2)
    stream.write("\n")
