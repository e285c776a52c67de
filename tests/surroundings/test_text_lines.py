# SPDX-License-Identifier: Apache-2.0
"""Findings in a text have their line and column, and are reported without them where they cannot be found."""

from __future__ import annotations

import pytest

from onnx_lint.common.record import replace
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.places.place import ROOT
from onnx_lint.loader import load
from onnx_lint.surroundings.text_lines import with_positions

TEXT = b"""\
ir_version: 10
producer_name: "tests"
opset_import { version: 21 }
graph {
  name: "g"
  node { op_type: "Relu" input: "x" output: "y" }
  output { name: "y" type { tensor_type { elem_type: 1 shape { } } } }
}
"""


def test_a_finding_in_a_text_has_its_position():
    file = lint_source(BytesSource(TEXT), "m.textproto", Settings())
    assert [(item.rule, item.position) for item in file.diagnostics] == [("undefined-name", (6, 33))]
    assert file.internal_errors == ()


def test_a_finding_about_the_whole_text_is_at_its_beginning():
    [found] = lint_source(BytesSource(TEXT), "m.textproto", Settings()).diagnostics
    model = load(BytesSource(TEXT), "m.textproto")
    for byte_range in (None, (0, 3)):
        [shown] = with_positions([replace(found, at=ROOT, byte_range=byte_range)], model)
        assert shown.position == (1, 1)


def test_a_fault_in_the_search_for_positions_takes_no_finding_away(monkeypatch: pytest.MonkeyPatch):
    def crash(*arguments: object) -> object:
        raise ValueError("as asked for")

    monkeypatch.setattr("onnx_lint.surroundings.text_lines.text_positions", crash)
    file = lint_source(BytesSource(TEXT), "m.textproto", Settings())
    assert [(item.rule, item.position) for item in file.diagnostics] == [("undefined-name", None)]
    assert [error.exception for error in file.internal_errors] == ["ValueError: as asked for"]


def test_a_lack_of_memory_in_the_search_for_positions_leaves_no_verdict(monkeypatch: pytest.MonkeyPatch):
    def crash(*arguments: object) -> object:
        raise MemoryError

    monkeypatch.setattr("onnx_lint.surroundings.text_lines.text_positions", crash)
    with pytest.raises(MemoryError):
        lint_source(BytesSource(TEXT), "m.textproto", Settings())
