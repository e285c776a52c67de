# SPDX-License-Identifier: Apache-2.0
"""A small tensor that also has values that the loader leaves in the file has no known elements."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import text_format
from support.project.checkout import ROOT

from onnx_lint import lint, schema

RULE = "unsupported-operand-value"


@pytest.mark.parametrize("size", [8, 5 << 20], ids=["parsed", "left in the file"])
@pytest.mark.parametrize("field", ["raw_data", "int32_data"])
@pytest.mark.parametrize("holder", ["initializer", "Constant"])
def test_elements_of_a_tensor_with_two_kinds_of_values_are_unknown(holder: str, field: str, size: int):
    path = ROOT / "fixtures" / RULE / "invalid" / "an_overlap_above_one.textproto"
    assert [found.rule for found in lint(path, select=RULE).diagnostics] == [RULE]
    proto = text_format.Parse(path.read_text(encoding="utf-8"), schema.message("ModelProto")())
    threshold = next(each for each in proto.graph.initializer if len(each.float_data) == 1)
    if holder == "Constant":
        threshold = in_a_constant(proto, threshold)
        assert [found.rule for found in lint(proto.SerializeToString(), select=RULE).diagnostics] == [RULE]
    threshold.MergeFrom(schema.message("TensorProto")(**{field: bytes(size)}))
    report = lint(proto.SerializeToString(), select=(RULE, "ambiguous-tensor-data"))
    assert [found.rule for found in report.diagnostics] == ["ambiguous-tensor-data"]


def in_a_constant(proto: Any, tensor: Any) -> Any:
    """Move an initializer to a Constant, and return the tensor there."""
    node = schema.message("NodeProto")(op_type="Constant", name="threshold", output=[tensor.name])
    node.attribute.add(name="value", type=4).t.CopyFrom(tensor)
    proto.graph.initializer.remove(tensor)
    nodes = [node, *proto.graph.node]
    proto.graph.ClearField("node")
    proto.graph.node.extend(nodes)
    return proto.graph.node[0].attribute[0].t
