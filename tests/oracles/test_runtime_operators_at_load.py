# SPDX-License-Identifier: Apache-2.0
"""Nodes of ONNX Runtime's own operators that it rejects when it makes a session, and the findings of onnx-lint.

The nodes are those of `support.models.runtime_nodes`, each changed in one place: a dimension, a rank, an operand, an
attribute. What ONNX Runtime loads and runs may not have an error, and what it refuses to load has to have one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import onnx
import pytest
from onnx import helper
from support.models.runtime_nodes import NODES, RuntimeNode, S, Z, f, i32, node, u8
from support.processes.runtime_process import NO_KERNEL, RuntimeProcess

from onnx_lint import lint

pytestmark = pytest.mark.consumers

OPERATORS = """
    Attention BiasGelu DecoderMaskedMultiHeadAttention DequantizeLinear DynamicQuantizeMatMul
    EmbedLayerNormalization FastGelu FusedConv FusedMatMul FusedMatMulActivation GroupQueryAttention Inverse
    MatMulBnb4 MatMulIntegerToFloat MatMulNBits MaxpoolWithMask MulInteger MultiHeadAttention NhwcConv NhwcFusedConv
    NhwcMaxPool QAttention QGemm QLinearAdd QLinearAveragePool QLinearConcat QLinearConv QLinearGlobalAveragePool
    QLinearLeakyRelu QLinearMul QLinearReduceMean QLinearSigmoid QLinearSoftmax QuantizeLinear RotaryEmbedding
    SkipLayerNormalization SkipSimplifiedLayerNormalization TransposeMatMul
"""
"""The operators that ONNX Runtime's optimizer and quantizer and the exporters for it write."""

EXPLAINED = {
    r"^FusedMatMul\(.*transBatchA.*Incompatible dimensions$": "batches that change places are not compared",
}
"""Messages of ONNX Runtime for models that onnx-lint does not reject, and the reasons."""

Shapes = list[list[int] | None]


def _changes(example: RuntimeNode) -> Iterator[tuple[Shapes, dict[str, Any], int | None]]:
    """The shapes of the inputs, the attributes, and the input that is left out: as they are, and each changed once."""
    shapes: Shapes = [None if each is None else list(each.shape) for each in example.inputs]
    attributes = example.attributes
    yield shapes, attributes, None
    for index, shape in enumerate(shapes):
        if shape is None:
            continue
        others = [[1, *shape], [*shape, 2], shape[1:] if shape else [2]]
        for axis, size in enumerate(shape):
            others += [[*shape[:axis], other, *shape[axis + 1 :]] for other in (size + 1, size - 1 if size > 1 else 2)]
        for other in others:
            yield [*shapes[:index], other, *shapes[index + 1 :]], attributes, None
        yield shapes, attributes, index
    for name, value in attributes.items():
        yield shapes, {key: each for key, each in attributes.items() if key != name}, None
        values: list[Any] = []
        if isinstance(value, int):
            values = [-1, 0, 3, value + 1]
        elif isinstance(value, list) and isinstance(value[0], int):
            values = [*([value[:-1]] if value[1:] else []), [*value, 1], [-1, *value[1:]], [0, *value[1:]]]
        for changed in values:
            yield shapes, {**attributes, name: changed}, None


def _model(example: RuntimeNode, shapes: Shapes, attributes: dict[str, Any], left_out: int | None) -> onnx.ModelProto:
    names = ["" if shape is None or index == left_out else f"x{index}" for index, shape in enumerate(shapes)]
    while names and not names[-1]:
        names.pop()
    node = helper.make_node(
        example.operator,
        names,
        [f"y{index}" for index in range(len(example.outputs))],
        domain="com.microsoft",
        **attributes,
    )
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), shape)
        for name, value, shape in zip(names, example.inputs, shapes, strict=False)
        if name and value is not None
    ]
    graph = helper.make_graph([node], "g", inputs, [onnx.ValueInfoProto(name=name) for name in node.output])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


@pytest.fixture
def of_onnx() -> Iterator[RuntimeProcess]:
    runtime = RuntimeProcess()
    yield runtime
    runtime.stop()


@pytest.mark.parametrize("operator", OPERATORS.split())
def test_what_does_not_load_has_an_error_and_what_runs_has_none(operator, of_onnx, tmp_path):
    pytest.importorskip("onnxruntime", reason="no part of the development packages: pip install onnxruntime")
    path = tmp_path / "model.onnx"
    wrong: list[str] = []
    judged: Counter[bool] = Counter()
    for example in NODES:
        if example.operator != operator:
            continue
        for shapes, attributes, left_out in _changes(example):
            model = _model(example, shapes, attributes, left_out)
            path.write_bytes(model.SerializeToString())
            answer = of_onnx.answer(path)
            # A process that ends says nothing of the model.
            if answer is None or any(word in answer[0] for word in NO_KERNEL):
                continue
            load, run = answer
            found = [
                each
                for each in lint(path).diagnostics
                if each.severity.label == "error" and each.rule not in ("untyped-graph-value", "shapeless-graph-value")
            ]
            judged[bool(load)] += 1
            what = f"{operator}({shapes}, without {left_out}){attributes}"
            if load and not found and not any(re.search(each, f"{what}: {load.strip()}") for each in EXPLAINED):
                wrong.append(f"missed {what}: {load.strip()[-200:]}")
            elif found and not load and not run:
                wrong.append(f"false alarm {what}: {found[0].message}")
    assert judged, "no kernel for any of them"
    assert not wrong, "\n".join(wrong)


def _masked() -> Iterator[RuntimeNode]:
    """Nodes of attention with masks of all sizes near those that fit."""
    for batch in (1, 2, 3):
        data, weights, bias = f(batch, 3, 8), f(8, 24), f(24)
        keys, past = f(batch, 5, 8), f(batch, 2, 6, 4)
        others = {1, batch, batch + 1}
        masks = [(size,) for size in range(1, 14)]
        for_queries = [*masks, *((one, size) for one in others for size in (1, 3, 4))]
        for_queries += [(one, *sizes) for one in others for sizes in ((3, 3), (1, 3), (3, 4))]
        for_keys = [*masks, *((one, size) for one in others for size in (1, 3, 5))]
        for_keys += [(one, *sizes) for one in others for sizes in ((3, 5), (1, 5), (3, 3))]
        two = {"num_heads": 2}
        for mask in [*for_queries, (), (batch, 1, 1, 3, 3)]:
            yield node("Attention", data, weights, bias, i32(*mask), to=None, **two)
            codes = u8(batch, 3, 8), u8(8, 24), bias, S, S, i32(*mask), Z, Z
            yield node("QAttention", *codes, to=None, **two)
        for mask in [*for_keys, (), (batch, 1, 3, 5)]:
            yield node("MultiHeadAttention", data, keys, keys, None, i32(*mask), to=None, **two)
        totals = [(one, size) for one in others for size in (1, 2, 3, 5, 6)]
        totals += [(one, *sizes) for one in others for sizes in ((3, 5), (1, 5), (3, 3), (3, 1))]
        for mask in [*masks, *totals]:
            before = f(2, batch, 2, 2, 4)
            yield node("Attention", data, weights, bias, i32(*mask), before, to=[None] * 2, **two)
            codes = u8(batch, 3, 8), u8(8, 24), bias, S, S, i32(*mask), Z, Z, before
            yield node("QAttention", *codes, to=[None] * 2, **two)
        totals = [(one, size) for one in others for size in (1, 5, 6, 11)]
        totals += [(one, *sizes) for one in others for sizes in ((3, 11), (1, 11), (3, 5), (3, 6))]
        for mask in [*masks, *totals]:
            states = None, past, past
            yield node("MultiHeadAttention", data, keys, keys, None, i32(*mask), *states, to=[None] * 3, **two)


def test_what_does_not_run_because_of_a_mask_has_an_error(of_onnx, tmp_path):
    pytest.importorskip("onnxruntime", reason="no part of the development packages: pip install onnxruntime")
    path = tmp_path / "model.onnx"
    judged: Counter[bool] = Counter()
    wrong: list[str] = []
    for example in _masked():
        shapes: Shapes = [None if each is None else list(each.shape) for each in example.inputs]
        path.write_bytes(_model(example, shapes, example.attributes, None).SerializeToString())
        answer = of_onnx.answer(path)
        assert answer is not None
        is_refused = any(answer)
        found = any(each.rule == "incompatible-operand-shapes" for each in lint(path).diagnostics)
        judged[is_refused] += 1
        if found != is_refused:
            wrong.append(f"{example.operator}({shapes}): {''.join(answer).strip()[-200:] or 'runs'}")
    assert not wrong, "\n".join(wrong)
    assert min(judged[False], judged[True]) > 30
