# SPDX-License-Identifier: Apache-2.0
"""A scale that is an initializer of one number has the findings of any other constant, with fewer steps."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest
from onnx_lint.rules.hygiene import impossible_number

from benchmarks import large_models
from onnx_lint import lint
from onnx_lint.ir.tensors.numbers import Constants


def _messages(model: Any) -> list[str]:
    return [each.message for each in lint(model.SerializeToString(), select="impossible-number").diagnostics]


def test_good_scales_of_one_number_are_not_read_as_constants(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    monkeypatch.setattr(Constants, "of", lambda self, graph, name: asked.append(name))
    assert (_messages(large_models.quantized(20)), asked) == ([], [])


@pytest.mark.parametrize("field", ["float_data", "raw_data", "both"])
@pytest.mark.parametrize("number", [1.0, 1e-30, 0.0, -0.5, math.inf, -math.inf, math.nan])
def test_a_scale_has_the_findings_of_another_constant(field: str, number: float, monkeypatch: pytest.MonkeyPatch):
    model = large_models.quantized(2)
    tensor = model.graph.initializer[1]
    tensor.ClearField("float_data")
    if field != "raw_data":
        tensor.float_data.append(number)
    if field != "float_data":
        tensor.raw_data = struct.pack("<f", number)
    found = _messages(model)
    monkeypatch.setattr(impossible_number, "_is_single_scale", lambda graph, name: False)
    assert found == _messages(model)
    assert bool(found) == (field != "both" and not 0 < number < math.inf)
