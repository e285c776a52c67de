# SPDX-License-Identifier: Apache-2.0
"""Models that the tests of the model have in common."""

from __future__ import annotations

from onnx_lint.loader import load
from onnx_lint.model import Model
from onnx_lint.source import BytesSource


def loaded(data: bytes) -> Model:
    return load(BytesSource(data), "model.onnx")


def from_text(text: str) -> Model:
    return load(BytesSource(f"ir_version: 10 {text}".encode()), "model.textproto")
