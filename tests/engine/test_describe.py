# SPDX-License-Identifier: Apache-2.0
"""Findings become diagnostics, also if something crashes on the way."""

from __future__ import annotations

from typing import Any

import pytest
from support.models.clean_model import TWICE, binary

from onnx_lint.engine import describe
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource


def test_a_finding_that_cannot_be_described_keeps_message_and_place(monkeypatch: pytest.MonkeyPatch):
    real, located = describe.located, []

    def spy(*arguments: Any) -> Any:
        located.append(real(*arguments))
        return located[-1]

    def crash(*_: object) -> None:
        raise RuntimeError("a bug")

    settings = Settings(select=("duplicate-definition",))
    [described] = lint_source(BytesSource(binary(TWICE)), "m.onnx", settings).diagnostics
    monkeypatch.setattr(describe, "located", spy)
    monkeypatch.setattr(describe, "_with_surroundings", crash)
    report = lint_source(BytesSource(binary(TWICE)), "m.onnx", settings)
    [bare] = report.diagnostics
    assert [offset for offset, _ in located] == [0]
    assert (bare.message, bare.place, bare.rule) == (described.message, described.place, described.rule)
    assert (bare.byte_range, described.byte_range is None) == (None, False)
    assert [error.exception for error in report.internal_errors] == ["RuntimeError: a bug"]
