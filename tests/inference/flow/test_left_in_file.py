# SPDX-License-Identifier: Apache-2.0
"""A small initializer that also has values that the loader leaves in the file has no known elements."""

from __future__ import annotations

import pytest
from google.protobuf import text_format
from support.project.checkout import ROOT

from onnx_lint import lint, schema

RULE = "unsupported-operand-value"


@pytest.mark.parametrize("size", [8, 5 << 20], ids=["parsed", "left in the file"])
def test_elements_of_a_tensor_with_two_kinds_of_values_are_unknown(size: int):
    path = ROOT / "fixtures" / RULE / "invalid" / "an_overlap_above_one.textproto"
    assert [found.rule for found in lint(path, select=RULE).diagnostics] == [RULE]
    proto = text_format.Parse(path.read_text(encoding="utf-8"), schema.message("ModelProto")())
    threshold = next(each for each in proto.graph.initializer if len(each.float_data) == 1)
    threshold.raw_data = bytes(size)
    report = lint(proto.SerializeToString(), select=(RULE, "ambiguous-tensor-data"))
    assert [found.rule for found in report.diagnostics] == ["ambiguous-tensor-data"]
