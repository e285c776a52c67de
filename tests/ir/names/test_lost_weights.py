# SPDX-License-Identifier: Apache-2.0
"""Weights of nodes of one operator that lack the same kinds of weights are one group."""

from __future__ import annotations

from support.fixes.case import Case, graph
from support.fixes.deleting import LAST, node

from onnx_lint.input.source import BytesSource
from onnx_lint.ir.names.lost_weights import LostWeights
from onnx_lint.loader import load


def test_weights_that_were_lost_together():
    nodes = (
        node("Gemm", "x l.0.weight l.0.bias", "a")
        + node("Gemm", "a l.1.weight l.1.bias", "b")
        + node("Gemm", "b l.2.weight", "c")
        + node("Relu", "unknown", "d")
    )
    model = load(BytesSource(Case("", graph(nodes + LAST), "").models()[0]), "model.onnx")
    lost = LostWeights(model.resolution.undefined)
    groups = {each.name: lost.group_of(each.uses(1)[0]) for each in model.resolution.undefined}
    assert groups["l.0.weight"] == groups["l.0.bias"] == groups["l.1.weight"] == groups["l.1.bias"]
    assert groups["l.2.weight"] not in (None, groups["l.0.weight"])
    assert groups["unknown"] is None
