# SPDX-License-Identifier: Apache-2.0
"""The numbers in a model's constants, also those that are only read on request."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnx_lint import lint


@pytest.mark.parametrize(
    ("wrong", "op_type", "rule", "message"),
    [
        (math.nan, "Add", "impossible-number", "is NaN (and 1 more)"),
        (0, "QuantizeLinear", "impossible-number", "is 0 (and 1 more), but it is a scale"),
        (math.inf, "Mul", "degenerate-number", "is +infinity (and 1 more), but must be finite"),
    ],
)
def test_large_tensors_and_data_files_are_searched_on_request(
    wrong: float, op_type: str, rule: str, message: str, tmp_path: Path
) -> None:
    numbers = np.ones(100_000, np.float32)
    numbers[[70_000, 70_001]] = wrong
    node = helper.make_node(op_type, ["x", "w"], ["y"])
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [100_000])
    graph = helper.make_graph([node], "g", [given], [], [numpy_helper.from_array(numbers, "w")])
    model = helper.make_model(graph, producer_name="us", opset_imports=[helper.make_opsetid("", 21)])
    onnx.save(model, tmp_path / "inside.onnx")
    onnx.save(model, tmp_path / "beside.onnx", save_as_external_data=True, location="beside.bin")
    for name in ("inside.onnx", "beside.onnx"):
        assert not lint(tmp_path / name, select=[rule]).diagnostics
        [found] = lint(tmp_path / name, {"verify_numbers": True}, select=[rule]).diagnostics
        assert found.message.startswith("element 70,000 of ")
        assert message in found.message
