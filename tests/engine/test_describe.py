# SPDX-License-Identifier: Apache-2.0
"""Findings become diagnostics, also if something crashes on the way."""

from __future__ import annotations

from typing import Any

import pytest
from support.models.clean_model import TWICE, binary

from onnx_lint.engine import describe
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.registry import registry
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.places.place import ROOT
from onnx_lint.loader import load
from onnx_lint.rule import Finding, Related
from onnx_lint.spec.clauses import Severity, clauses


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
    assert [each.first_byte for each in located] == [0]
    assert (bare.message, bare.place, bare.rule) == (described.message, described.place, described.rule)
    assert (bare.byte_range, described.byte_range is None) == (None, False)
    assert [error.exception for error in report.internal_errors] == ["RuntimeError: a bug"]


@pytest.mark.parametrize(
    ("most", "words"), [(1, "1 further place is not listed"), (0, "2 further places are not listed")]
)
def test_places_that_are_left_out_are_counted(most: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(describe, "_MAX_RELATED", most)
    model = load(BytesSource(binary(TWICE)))
    finding = Finding(ROOT, "a fault", related=(Related(ROOT, "one"), Related(ROOT, "other")))
    rule = registry()["duplicate-definition"].rule
    clause = clauses()[rule.clauses[0]]
    found = describe.located(rule, finding, clause, Severity.ERROR, model, Settings()).diagnostic
    assert [place.message for place in found.related[most:]] == [words]
