# SPDX-License-Identifier: Apache-2.0
"""Nodes of ONNX Runtime's own operators, drawn by their descriptions, whole and with one edit each.

ONNX Runtime loads and runs each model; its verdict decides what is an error.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from support.processes.runtime_process import RuntimeProcess

from onnx_lint import lint

pytestmark = pytest.mark.consumers

_QKV = "f b s n*g*h, f b s n*h, f b s n*h"
_GROUPS = "GroupQueryAttention num_heads=n*g kv_num_heads=n"
_CODES = "f, u, f, u"
_FORMS = f"""
    Attention num_heads=n: f b s i, f i 3*n*h, f 3*n*h, -, f 2 b n p h -> 2
    Attention num_heads=n: f b s i, f i 3*n*h, f 3*n*h, -, -, f b n s s -> 1
    Attention num_heads=n qkv_hidden_sizes=n*h,n*h,n*v: f b s i, f i 2*n*h+n*v, f 2*n*h+n*v -> 1
    BiasGelu: f b s h, f h -> 1
    CausalConvWithState: f b i s, f i 1 v, f i, f b i v-1 -> 2
    CropAndResize: f b i h h, f s 4, i s, =4,4 -> 1
    EmbedLayerNormalization: i b s, i b s, f p h, f 9 h, f v h, f h, f h, i b s -> 2
    FastGelu: f b s h, f h -> 1
    GatedAdd: f b h, f b h, f b 1 -> 1
    GatedRMSNorm: f b n*h, f h, f b n*h -> 1
    {_GROUPS}: {_QKV}, -, -, =(s-1)*b, =s -> 3
    {_GROUPS}: f b 1 n*g*h, f b 1 n*h, f b 1 n*h, f b n p h, f b n p h, =(p)*b, =p+1 -> 3
    {_GROUPS}: f b 1 (n*g+2*n)*h, -, -, f b n p h, f b n p h, =(p)*b, =p+1 -> 3
    {_GROUPS} do_rotary=1: {_QKV}, -, -, =(s-1)*b, =s, f 40 h//2, f 40 h//2 -> 3
    MatMulBnb4 K=32 N=n block_size=16 quant_type=1: f b 32, u 16*n, f 2*n -> 1
    MatMulNBits K=32 N=n block_size=16 bits=4: f b s 32, u n 2 8, f n 2 -> 1
    MultiHeadAttention num_heads=n: f b s n*h, f b p n*h, f b p n*v, f 2*n*h+n*v -> 1
    MultiHeadAttention num_heads=n: f b s n*h, f b n p h, f b n p h, -, -, f 1 n s p -> 1
    MultiHeadAttention num_heads=n: f b s n*h, f b s n*h, f b s n*h, -, -, f b 1 s s+p, f b n p h, f b n p h -> 3
    MultiHeadAttention num_heads=n: f b s n*h, f b s n*h, f b s n*h, -, -, -, f b n p h, f b n p h -> 3
    NGramRepeatBlock ngram_size=2: I b s, f b h -> 1
    QAttention num_heads=n: u b s i, u i 3*n*h, f 3*n*h, f, f, -, u, u -> 1
    QLinearLeakyRelu: u b h, {_CODES} -> 1
    QLinearSigmoid: u b h, {_CODES} -> 1
    RotaryEmbedding: f b s n*h, I 1, f 9 h//2, f 9 h//2 -> 1
    RotaryEmbedding: f b s n*h, I b s, f 9 h//2, f 9 h//2 -> 1
    RotaryEmbedding: f b n s h, I b s, f 9 h//2, f 9 h//2 -> 1
    SkipLayerNormalization: f b s h, f b s h, f h, f h, f h -> 1
"""
"""The forms of nodes: attributes, inputs with the element type (float, uint8, int32, int64) and the sizes, or constants
behind =, and the number of outputs.
"""

_KINDS = {"f": np.float32, "u": np.uint8, "i": np.int32, "I": np.int64}

_EXPLAINED = {
    r"^QAttention.*'weight_(scale|zero_point)'": "one number or one for each column, which only the rank tells apart",
    r"^MultiHeadAttention.*'value' shall absent": "a value without a key is not one of both or neither",
    r"^CausalConvWithState.*\(batch_size, channels, \(kernel": "attributes say what the state is",
    r"^GatedRMSNorm.*must be a multiple": "multiples of another input are not compared",
    r"^GroupQueryAttention.*key sequence length must be 0": "keys beside a past may be as many as the queries, or none",
    r"seqlens_k must have batch_size|total_sequence_length": "what the numbers say, or lengths in rows",
    r"^CropAndResize.*(batch_ind|crop_size values|range)": "what the numbers say",
    r"^(Q?Embed)LayerNormalization.*(position|segment)": "what the numbers say",
}
"""Messages of ONNX Runtime for models that onnx-lint does not reject, and the reasons."""

Inputs = list[tuple[str, list[int]] | None]


def _drawn(form: str, dice: random.Random) -> tuple[str, dict[str, Any], Inputs, int]:
    """A node of the form with sizes at random."""
    node, inputs, outputs = re.split(":|->", form)
    sizes = {name: dice.randint(1, 3) for name in "bnpg"} | {"s": dice.randint(2, 5), "i": dice.randint(2, 6)}
    sizes |= {"h": 16, "v": 8 * dice.randint(1, 3)}

    def value(text: str) -> Any:
        return eval(text, {}, sizes)

    operator, *attributes = node.split()
    given = {}
    for each in attributes:
        name, _, text = each.partition("=")
        found = value(text)
        given[name] = list(found) if isinstance(found, tuple) else found
    drawn: Inputs = []
    for each in re.split(", ", inputs.strip()):
        kind, *dims = each.split()
        if kind.startswith("="):
            text = kind[1:]
            many, _, count = text.rpartition(")*")
            numbers = [value(many + ")")] * value(count) if many else value(text)
            drawn.append(("=", [int(number) for number in np.atleast_1d(numbers)]))
        else:
            drawn.append(None if kind == "-" else (kind, [value(dim) for dim in dims]))
    return operator, given, drawn, int(outputs)


def _edited(attributes: dict[str, Any], inputs: Inputs, dice: random.Random) -> tuple[dict[str, Any], Inputs]:
    """The node with one edit: a size, a rank, an input or an attribute."""
    attributes, inputs = dict(attributes), list(inputs)
    numbers = [name for name, value in attributes.items() if isinstance(value, int)]
    if numbers and dice.random() < 0.15:
        name = dice.choice(numbers)
        attributes[name] = dice.choice([-1, 0, attributes[name] + 1])
        return attributes, inputs
    at, chosen = dice.choice([(at, each) for at, each in enumerate(inputs) if each is not None and each[0] != "="])
    kind, dims = chosen
    match dice.randrange(5):
        case 0:
            inputs[at] = kind, [1, *dims]
        case 1:
            inputs[at] = kind, dims[1:] if dims else [2]
        case 2 if at:
            inputs[at] = None
        case _ if dims:
            axis = dice.randrange(len(dims))
            inputs[at] = kind, [*dims[:axis], max(0, dims[axis] + dice.choice([-1, 1, 2])), *dims[axis + 1 :]]
        case _:
            inputs[at] = kind, [2]
    return attributes, inputs


def _model(operator: str, attributes: dict[str, Any], inputs: Inputs, outputs: int) -> onnx.ModelProto:
    names = ["" if each is None else f"x{index}" for index, each in enumerate(inputs)]
    while not names[-1]:
        names.pop()
    values, constants = [], []
    for name, each in zip(names, inputs, strict=False):
        if each is None:
            continue
        kind, dims = each
        if kind == "=":
            constants.append(numpy_helper.from_array(np.array(dims, np.int32), name))
        elif kind in "iI":
            constants.append(numpy_helper.from_array(np.zeros(dims, _KINDS[kind]), name))
        else:
            code = helper.np_dtype_to_tensor_dtype(np.dtype(_KINDS[kind]))
            values.append(helper.make_tensor_value_info(name, code, dims))
    made = helper.make_node(operator, names, [f"y{at}" for at in range(outputs)], domain="com.microsoft", **attributes)
    graph = helper.make_graph([made], "g", values, [onnx.ValueInfoProto(name=each) for each in made.output], constants)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


DRAWN = 30
"""The models of each form."""


@pytest.mark.parametrize("form", [each.strip() for each in _FORMS.strip().splitlines()])
def test_a_node_has_an_error_exactly_if_onnx_runtime_refuses_it(form, tmp_path):
    pytest.importorskip("onnxruntime", reason="no part of the development packages: pip install onnxruntime")
    dice = random.Random(form)
    path = tmp_path / "model.onnx"
    runtime = RuntimeProcess()
    wrong: list[str] = []
    judged: Counter[bool] = Counter()
    try:
        for index in range(DRAWN):
            operator, attributes, inputs, outputs = _drawn(form, dice)
            if index % 5:
                attributes, inputs = _edited(attributes, inputs, dice)
            path.write_bytes(_model(operator, attributes, inputs, outputs).SerializeToString())
            answer = runtime.answer(path)
            if answer is None:
                continue
            refused = "".join(answer).strip()
            found = [
                each.message
                for each in lint(path).diagnostics
                if each.severity.label == "error" and each.rule not in ("untyped-graph-value", "shapeless-graph-value")
            ]
            what = f"{operator}{attributes}{inputs}"
            if not index % 5:
                assert not refused, f"{what}: {refused}"
            judged[bool(refused)] += 1
            if found and not refused:
                wrong.append(f"false alarm {what}: {found[0]}")
            elif refused and not found and not any(re.search(each, f"{operator}: {refused}") for each in _EXPLAINED):
                wrong.append(f"missed {what}: {refused[-200:]}")
    finally:
        runtime.stop()
    assert not wrong, "\n".join(wrong)
    assert judged[True]
    assert judged[False]
