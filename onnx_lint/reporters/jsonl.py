# SPDX-License-Identifier: Apache-2.0
"""One JSON object a line: the run, then for each file its findings and itself, then the summary.

The objects are those of the JSON report, each with its kind in `record`: `run`, `finding` (with the `path` of its
file), `file` and `summary`. `docs/report-line.schema.json` is the JSON Schema of a line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TextIO

from onnx_lint.report import Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.records import (
    VERSION,
    diagnostic_records,
    file_record,
    json_safe,
    path_of,
    summary_record,
    tool_record,
)


def write(report: Report, stream: TextIO, options: Options) -> None:
    """Write one record a line."""
    for record in _records(report, options):
        json.dump(json_safe(record), stream, separators=(",", ":"))
        stream.write("\n")


def _records(report: Report, options: Options) -> Iterator[dict[str, Any]]:
    yield {"record": "run", "version": VERSION, "tool": tool_record(report)}
    for file in report.files:
        for diagnostic in diagnostic_records(file, show_suppressed=options.show_suppressed):
            yield {"record": "finding", "path": path_of(file), **diagnostic}
        yield {"record": "file", **file_record(file)}
    yield {"record": "summary", **summary_record(report)}
