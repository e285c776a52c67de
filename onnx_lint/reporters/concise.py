# SPDX-License-Identifier: Apache-2.0
"""One line a finding, for grep and for editors: never wrapped, never folded."""

from __future__ import annotations

from typing import TextIO

from onnx_lint.report import Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.escape import shown_path, visible


def write(report: Report, stream: TextIO, options: Options) -> None:
    """Write `path: place: severity[rule] message` for each finding; nothing for a file without any."""
    for file in report.files:
        path = shown_path(file.path)
        for item in file.diagnostics:
            place, rule, message = visible(item.place), visible(item.rule), visible(item.message)
            stream.write(f"{path}: {place}: {item.severity.label}[{rule}] {message}\n")
