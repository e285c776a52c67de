# SPDX-License-Identifier: Apache-2.0
"""The ranks that onnx.checker and ONNX Runtime accept for operands of one number or one list, and the table of ranks.

Each operand of the table is tested in a node of its own, as a constant and as an input, with ranks 0 to 2. The verdicts
of both consumers must agree with the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.checker
import onnx.parser
import pytest

from onnx_lint import lint
from onnx_lint.spec.operators import BUILT_IN
from onnx_lint.spec.operators.operand_ranks import _table, contains, operand_ranks

pytestmark = pytest.mark.consumers

_BRANCHES = (
    "<then_branch = t () => (float[2, 3] a) { a = Relu(x) }, else_branch = e () => (float[2, 3] b) { b = Abs(x) }>"
)
_BODY = "<body = b (int64 i, bool%s c, float[2, 3] a) => (bool%s d, float[2, 3] z) { d = Identity(c) z = Relu(a) }>"
_CONVOLVED = "uint8[1, 1, 4] u = {1, 2, 3, 4}, uint8[1, 1, 2] v = {1, 2}, float c = {1.0}, uint8 z = {0}"
_MEL = "int64 a = {8}, int64 b = {16}, int64 c = {8192}, float d = {0.0}, float e = {4096.0}"
_BOXES = "float[1, 2, 4] p = {0, 0, 1, 1, 0, 0, 2, 2}, float[1, 1, 2] q = {0.5, 0.6}, int64 k = {2}, float j = {0.5}"
_SEQUENCE = "q = SequenceConstruct(x, x)"

# The operator and the input; the node, with `s` for the operand; type and element of `s`; the output; and constants.
_NODES: dict[tuple[str, int], tuple[str, str, Any, str, str]] = {
    ("Range", 0): ("y = Range(s, b, c)", "float", 1.0, "float[N]", "float b = {5.0}, float c = {1.0}"),
    ("Range", 1): ("y = Range(a, s, c)", "float", 5.0, "float[N]", "float a = {1.0}, float c = {1.0}"),
    ("Range", 2): ("y = Range(a, b, s)", "float", 1.0, "float[N]", "float a = {1.0}, float b = {5.0}"),
    ("Dropout", 1): ("y = Dropout(x, s)", "float", 0.5, "float[2, 3]", ""),
    ("Dropout", 2): ("y = Dropout(x, r, s)", "bool", 0, "float[2, 3]", "float r = {0.5}"),
    ("BlackmanWindow", 0): ("y = BlackmanWindow(s)", "int64", 5, "float[N]", ""),
    ("HammingWindow", 0): ("y = HammingWindow(s)", "int64", 5, "float[N]", ""),
    ("HannWindow", 0): ("y = HannWindow(s)", "int64", 5, "float[N]", ""),
    ("MelWeightMatrix", 0): ("y = MelWeightMatrix(s, b, c, d, e)", "int64", 8, "float[N, M]", _MEL),
    ("MelWeightMatrix", 1): ("y = MelWeightMatrix(a, s, c, d, e)", "int64", 16, "float[N, M]", _MEL),
    ("MelWeightMatrix", 2): ("y = MelWeightMatrix(a, b, s, d, e)", "int64", 8192, "float[N, M]", _MEL),
    ("MelWeightMatrix", 3): ("y = MelWeightMatrix(a, b, c, s, e)", "float", 0.0, "float[N, M]", _MEL),
    ("MelWeightMatrix", 4): ("y = MelWeightMatrix(a, b, c, d, s)", "float", 4096.0, "float[N, M]", _MEL),
    ("DFT", 1): ("y = DFT(w, s, k)", "int64", 8, "float[1, N, 2]", "int64 k = {1}"),
    ("DFT", 2): ("y = DFT(w, , s)", "int64", 1, "float[1, N, 2]", ""),
    ("STFT", 0): ("y = STFT(s, k, , f)", "float", 1.0, "float[1, A, B, 2]", "int64 k = {2}, int64 f = {4}"),
    ("STFT", 1): ("y = STFT(w, s, , k)", "int64", 2, "float[1, A, B, 2]", "int64 k = {4}"),
    ("STFT", 3): ("y = STFT(w, k, , s)", "int64", 4, "float[1, A, B, 2]", "int64 k = {2}"),
    ("Clip", 1): ("y = Clip(x, s)", "float", 0.0, "float[2, 3]", ""),
    ("Clip", 2): ("y = Clip(x, m, s)", "float", 1.0, "float[2, 3]", "float m = {0.0}"),
    ("Pad", 1): ("f = Squeeze(w) y = Pad(f, s)", "int64", 1, "float[N]", ""),
    ("Pad", 2): ("y = Pad(x, p, s)", "float", 0.0, "float[4, 5]", "int64[4] p = {1, 1, 1, 1}"),
    ("CumProd", 1): ("y = CumProd(x, s)", "int64", 1, "float[2, 3]", ""),
    ("CumSum", 1): ("y = CumSum(x, s)", "int64", 1, "float[2, 3]", ""),
    ("OneHot", 1): ("y = OneHot(i, s, v)", "int64", 4, "float[2, 4]", "int64[2] i = {1, 2}, float[2] v = {0.0, 1.0}"),
    ("Trilu", 1): ("y = Trilu(x, s)", "int64", 1, "float[2, 3]", ""),
    ("NonMaxSuppression", 2): ("y = NonMaxSuppression(p, q, s)", "int64", 2, "int64[A, 3]", _BOXES),
    ("NonMaxSuppression", 3): ("y = NonMaxSuppression(p, q, k, s)", "float", 0.5, "int64[A, 3]", _BOXES),
    ("NonMaxSuppression", 4): ("y = NonMaxSuppression(p, q, k, j, s)", "float", 0.5, "int64[A, 3]", _BOXES),
    ("SequenceAt", 1): (f"{_SEQUENCE} y = SequenceAt(q, s)", "int64", 1, "float[2, 3]", ""),
    ("SequenceErase", 1): (f"{_SEQUENCE} r = SequenceErase(q, s) y = SequenceLength(r)", "int64", 1, "int64", ""),
    ("SequenceInsert", 2): (f"{_SEQUENCE} r = SequenceInsert(q, x, s) y = SequenceLength(r)", "int64", 1, "int64", ""),
    ("If", 0): (f"y = If(s) {_BRANCHES}", "bool", 1, "float[2, 3]", ""),
    ("Loop", 0): (f"y = Loop(s, , x) {_BODY % ('', '')}", "int64", 2, "float[2, 3]", ""),
    ("Loop", 1): (f"y = Loop(k, s, x) {_BODY}", "bool", 1, "float[2, 3]", "int64 k = {2}"),
    ("ConvInteger", 2): ("y = ConvInteger(u, v, s)", "uint8", 1, "int32[1, 1, 3]", _CONVOLVED),
    ("QLinearConv", 1): ("y = QLinearConv(u, s, z, v, c, z, c, z)", "float", 1.0, "uint8[1, 1, 3]", _CONVOLVED),
    ("QLinearConv", 2): ("y = QLinearConv(u, c, s, v, c, z, c, z)", "uint8", 1, "uint8[1, 1, 3]", _CONVOLVED),
    ("QLinearConv", 6): ("y = QLinearConv(u, c, z, v, c, z, s, z)", "float", 1.0, "uint8[1, 1, 3]", _CONVOLVED),
    ("QLinearConv", 7): ("y = QLinearConv(u, c, z, v, c, z, c, s)", "uint8", 1, "uint8[1, 1, 3]", _CONVOLVED),
    ("Unsqueeze", 1): ("y = Unsqueeze(x, s)", "int64", 0, "float[1, 2, 3]", ""),
    ("Expand", 1): ("y = Expand(x, s)", "int64", 3, "float[2, 3]", ""),
    ("ConstantOfShape", 0): ("y = ConstantOfShape(s)", "int64", 2, "float[2]", ""),
    ("Upsample", 1): ("f = Squeeze(w) y = Upsample(f, s)", "float", 2.0, "float[A]", ""),
    ("Resize", 1): ("f = Squeeze(w) y = Resize(f, s)", "float", 2.0, "float[A]", ""),
    ("Resize", 2): ("f = Squeeze(w) y = Resize(f, , s)", "float", 2.0, "float[A]", ""),
    ("Resize", 3): ("f = Squeeze(w) y = Resize(f, , , s)", "int64", 16, "float[A]", ""),
    ("Compress", 1): ("y = Compress<axis = 0>(x, s)", "bool", 1, "float[A, 3]", ""),
}

_NUMPY = {"float": np.float32, "int64": np.int64, "bool": np.bool_, "uint8": np.uint8}
_OPSETS = {("CumProd", 1): 26, ("DFT", 1): 20, ("DFT", 2): 20, ("Upsample", 1): 9, ("Resize", 1): 10}
_COUNTS = {("Pad", 1): 2}
"""The number of elements of the last axis of the operand; the others have one."""


def _opset(operand: tuple[str, int]) -> int:
    return _OPSETS.get(operand, 17)


def _shape(operand: tuple[str, int], rank: int) -> tuple[int, ...]:
    if operand == ("STFT", 0):
        return ((), (8,), (1, 8))[rank]
    return (*(1,) * (rank - 1), _COUNTS.get(operand, 1)) if rank else ()


def _model(operand: tuple[str, int], rank: int, *, is_constant: bool) -> onnx.ModelProto:
    node, kind, element, output, constants = _NODES[operand]
    shape = _shape(operand, rank)
    dims = f"[{', '.join(map(str, shape))}]" if shape else ""
    declared = f"{kind}{dims} s"
    inputs = f"float[2, 3] x, float[1, 8, 1] w{'' if is_constant else f', {declared}'}"
    if is_constant:
        elements = ", ".join([str(element)] * int(np.prod(shape)))
        constants = f"{constants}{', ' if constants else ''}{declared} = {{{elements}}}"
    opset = _opset(operand)
    text = f"g ({inputs}) => ({output} y) {f'<{constants}>' if constants else ''} {{ {node.replace('%s', dims)} }}"
    header = f'<ir_version: {5 if opset < 11 else 10}, producer_name: "t", opset_import: ["": {opset}]>'
    return onnx.parser.parse_model(header + text)


def _checker_takes(model: onnx.ModelProto) -> bool:
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


def _runtime_takes(model: onnx.ModelProto, operand: tuple[str, int], rank: int) -> bool:
    runtime = pytest.importorskip("onnxruntime", reason="pip install onnxruntime")
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    _, kind, element, _, _ = _NODES[operand]
    values = {"x": np.ones((2, 3), np.float32), "w": np.ones((1, 8, 1), np.float32)}
    values["s"] = np.full(_shape(operand, rank), element, _NUMPY[kind])
    try:
        session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        session.run(None, {each.name: values[each.name] for each in session.get_inputs()})
    except Exception as error:  # ONNX Runtime has an exception of its own for each status
        if "ONNXRuntimeError" not in str(error):
            raise
        return False
    return True


def test_each_operand_of_the_table_has_a_node():
    assert sorted(_NODES) == sorted(_table())


@pytest.mark.parametrize("operand", _NODES, ids=lambda operand: f"{operand[0]}-{operand[1]}")
@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("is_constant", [True, False], ids=["constant", "input"])
def test_consumers_take_the_ranks_of_the_table(operand, rank, is_constant, tmp_path):
    if operand == ("Pad", 1) and rank == 0:
        return  # two numbers are no scalar
    model = _model(operand, rank, is_constant=is_constant)
    schema = BUILT_IN.find("", operand[0], _opset(operand))
    ranks = operand_ranks(schema, operand[1])
    takes = _runtime_takes(model, operand, rank)
    assert takes == contains(ranks.constant if is_constant else ranks.run, rank)
    if takes:
        assert _checker_takes(model)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    found = lint(tmp_path / "m.onnx").of_rule("incompatible-operand-shapes")
    assert bool(found) == (not contains(ranks.text, rank) or not takes)
    assert all((each.clause == "NOD-8d") == takes and "needs" in each.message for each in found)
