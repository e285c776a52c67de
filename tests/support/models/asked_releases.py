# SPDX-License-Identifier: Apache-2.0
"""What onnx-lint says of the known releases of ONNX Runtime, for a model in the text form of onnx."""

from __future__ import annotations

import onnx
import onnx.parser

import onnx_lint


def states(graph: str, *, opset: int = 17, imports: str = "") -> list[bool | None]:
    """Return whether the known releases load a model, the oldest first."""
    text = f'<ir_version: {9 if opset > 18 else 8}, opset_import: ["": {opset}{imports}]> g {graph}'
    found = onnx.parser.parse_model(text)
    targets = [f"onnxruntime={version}" for version in ("1.17.3", "1.20.1", "1.23.2", "1.32")]
    report = onnx_lint.lint(found, target=targets)
    return [each.loads for each in report.files[0].targets]
