# SPDX-License-Identifier: Apache-2.0
"""Nodes of ONNX Runtime's own operators, drawn by their descriptions, whole and with one edit each.

ONNX Runtime loads and runs each model; its verdict decides what is an error.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.models.runtime_forms import Inputs, drawn_node, one_node
from support.processes.runtime_process import NO_KERNEL, RuntimeProcess

from onnx_lint import lint
from onnx_lint.spec.operators.records import families, record_of

pytestmark = pytest.mark.consumers

_QKV = "f b s n*g*h, f b s n*h, f b s n*h"
_GROUPS = "GroupQueryAttention num_heads=n*g kv_num_heads=n"
_CODES = "f, u, f, u"
_LSTM = "u 1 i 4*h, u 1 h 4*h, f 1 8*h, -, f 1 b h, f 1 b h, f 1 3*h, f 1, u 1, f 1, u 1"
_EMBEDDING = "f, f, f, f, f, u, u, u, u, u"
_GROUPED = "LinearAttention q_num_heads=n kv_num_heads=n"
_MEMORY = "f 1 h 5, f 1 7 5, f 1 5, f b 6 7, =(1)*b, f 1 7+h h"
_TABLES = "f h, f h, f 9 4, f 9 4"
_INDEXED = (
    f"f s n*h, f s 2*h, {_TABLES}, i b+1, i b, f s 2*h, f 2 2*h, f s n, I s, f b 8 h, f b 3 2*h, f b 3 2*h, i b 2"
)
_SPARSE = f"f b s n*h, f b s h, {_TABLES}, I b 4, f b p h"
_DENSE = f"f b s n*h, f b s 2*h, {_TABLES}, -, f b p h, f b s 2*h, f 2 2*h, f b s n, I b s, -, f 2 b 3 2*h"
_MERGE = "PackedSparseAttentionIndexerMerge max_output_entries=4 policy_mode='append"
_MERGED = "i b 3, i b, i s"
_FORMS = f"""
    Attention num_heads=n: f b s i, f i 3*n*h, f 3*n*h, -, f 2 b n p h -> 2
    Attention num_heads=n: f b s i, f i 3*n*h, f 3*n*h, -, -, f b n s s -> 1
    Attention num_heads=n qkv_hidden_sizes=n*h,n*h,n*v: f b s i, f i 2*n*h+n*v, f 2*n*h+n*v -> 1
    Attention num_heads=n: f b s i, f i 3*n*h, f 3*n*h, i b s -> 1
    AttnLSTM hidden_size=h: f s b i, f 1 4*h i+h, f 1 4*h h, f 1 8*h, =(1)*b, f 1 b h, f 1 b h, f 1 3*h, {_MEMORY} -> 3
    BiasGelu: f b s h, f h -> 1
    BifurcationDetector: I s, I p, I, I s+1 -> 2
    BranchwiseRMSNorm: f b s n h, f n*h -> 1
    CDist metric='euclidean': f n h, f p h -> 1
    CausalConvWithState: f b i s, f i 1 v, f i, f b i v-1 -> 2
    CausalConvWithState dilation=2: f b i s, f i 1 3, f i, f b i 4 -> 2
    CausalConvWithState channels_last=1: f b s i, f i 1 3, f i, f b 2 i -> 2
    CausalConvWithState channels_last=1: f b s 2 h, f 2*h 1 3, f 2*h, f b 2 2 h -> 2
    CropAndResize: f b i h h, f s 4, i s, =4,4 -> 1
    DecoderMaskedMultiHeadAttention num_heads=n: f b 1 n*h, f b 1 n*h, f b 1 n*h -> 1
    DynamicQuantizeLSTM hidden_size=h: f s b i, {_LSTM} -> 1
    DynamicQuantizeMatMul: f b s i, u i h, f h, u h, f h -> 1
    DynamicQuantizeMatMul: f b s i, u b i h, f, u b 1 h, f h -> 1
    DequantizeLinear axis=1: u b h, f h, u h -> 1
    DynamicTimeWarping: f 1 b s -> 1
    EmbedLayerNormalization mask_index_type=0: i b s, -, f p h, f 9 h, -, f h, f h -> 1
    EmbedLayerNormalization: i b s, i b s, f p h, f 9 h, f v h, f h, f h, i b s -> 2
    EngramGate: f b s n h, f b s n h, f b s h, f n h, f n h -> 1
    FastGelu: f b s h, f h -> 1
    FusedConv: f b i 9 9, f n i 3 3, f n -> 1
    FusedConv activation='Relu': f b i 5 5, f n i 3 3, f n, f b n 3 3 -> 1
    FusedGemm activation='Relu': f b i, f i h, f h -> 1
    FusedMatMul: f b s i, f b i h -> 1
    FusedMatMulActivation activation='Relu': f b i, f i h -> 1
    GatedAdd: f b h, f b h, f b 1 -> 1
    GatedDeltaNet: f s*b n h, f s*b n h, f s*b n*g v, -, f s*b n*g, f s*b n*g, f b n*g v h -> 2
    GatedDeltaNet: f b s n h, f b s n h, f b s n*g v, -, f b s n*g, f b s n*g, f b n*g v h -> 2
    GatedRMSNorm: f b n*h, f h, f b n*h -> 1
    GatherBlockQuantized block_size=16 bits=8 quantize_axis=1: u n 32, I b, f n 2, u n 2 -> 1
    GatherBlockQuantized block_size=16 quantize_axis=1: u n 32, I b, f n 4, u n 2 -> 1
    GatherND: f n p h, I s 1 -> 1
    GridSample: f b i 4 4, f b 3 3 2 -> 1
    {_GROUPS}: {_QKV}, -, -, =(s-1)*b, =s -> 3
    {_GROUPS}: f b 1 n*g*h, f b 1 n*h, f b 1 n*h, f b n p h, f b n p h, =(p)*b, =p+1 -> 3
    {_GROUPS}: f b 1 (n*g+2*n)*h, -, -, f b n p h, f b n p h, =(p)*b, =p+1 -> 3
    {_GROUPS} do_rotary=1: {_QKV}, -, -, =(s-1)*b, =s, f 40 h//2, f 40 h//2 -> 3
    {_GROUPS}: {_QKV}, -, -, =(s-1)*b, =s, -, -, -, f b n*g s s, f n*g -> 3
    {_GROUPS} do_rotary=1: {_QKV}, -, -, =(s-1)*b, =s, f s+g h//2, f s+g h//2 -> 3
    HyperConnectionPostMix: f b n h, f b h, f b n -> 1
    HyperConnectionLowRankMix num_branches=n: f b s n*h, f n*h, f n*h v, f v n*h, f n*h n, f b s h, f b s n -> 3
    HyperConnectionPostMix: f b s n h, f b s h, f b s n 1, f b s n n -> 1
    HyperConnectionPostMix: f b s n h, f b s h, f b s n h -> 1
    HyperConnectionPostMix num_branches=n: f b s n*h, f b s h, f b s n -> 1
    HyperConnectionPreMix: f b n h, f b n -> 1
    HyperConnectionPreMix: f b s n h, f b s n h -> 1
    HyperConnectionPreMix num_branches=n: f b s n*h, f b s n*h -> 1
    Inverse: f b h h -> 1
    {_GROUPED}: f b s n*h, f b s n*h, f b s n*v, f b n h v, f b s n, f b s n -> 2
    LinearAttention q_num_heads=n*g kv_num_heads=n: f b s n*g*h, f b s n*h, f b s n*v, -, f b s n*h, f b s 1 -> 2
    LinearAttention q_num_heads=n kv_num_heads=n*g update_rule='linear': f b s n*h, f b s n*g*h, f b s n*g*v -> 2
    LinearAttentionGate: f b s h, f h, f h, f b s h -> 2
    MatMulBnb4 K=32 N=n block_size=16 quant_type=1: f b 32, u 16*n, f 2*n -> 1
    MatMulNBits K=32 N=n block_size=16 bits=4: f b s 32, u n 2 8, f n 2 -> 1
    MatMulIntegerToFloat: u b s i, u i h, f, f h, u, u h, f h -> 1
    MRotaryEmbedding mrope_section=4,2,2 num_heads=n: f b s n*h, I 3 b s, f 9 8, f 9 8 -> 1
    MRotaryEmbedding mrope_section=2,1,1 rotary_embedding_dim=8 num_heads=n: f b n s h, I 3 b s, f 9 4, f 9 4 -> 1
    MatMulIntegerToFloat: u b s i, u b i h, f, f b 1 h, u, u b 1 h, f h -> 1
    MaxpoolWithMask kernel_shape=2,2: f b i 4 4, i b i 4 4 -> 1
    MoE k=1: f b h, f b n, f n v h, f n v, f n h v, f n h -> 1
    MoE k=1: f b s h, f b*s n, f n h v, f n v, f n v h, f n h -> 1
    MoE k=1 activation_type='swiglu' swiglu_fusion=1: f b h, f b n, f n 2*v h, f n 2*v, f n h v, f n h -> 1
    MoEGroupRouter top_k=1: f b n, f n -> 1
    MultiHeadAttention num_heads=n: f b s n*h, f b p n*h, f b p n*v, f 2*n*h+n*v -> 1
    MultiHeadAttention num_heads=n: f b s n*h, f b n p h, f b n p h, -, -, f 1 n s p -> 1
    MultiHeadAttention num_heads=n: f b s n*h, f b s n*h, f b s n*h, -, -, f b 1 s s+p, f b n p h, f b n p h -> 3
    MultiHeadAttention num_heads=n: f b s n*h, f b s n*h, f b s n*h, -, -, -, f b n p h, f b n p h -> 3
    NGramHashMapping max_ngram_size=3 n_head_per_ngram=2 pad_id=0: i b s, i 3, =(7)*4, i b 2, i 4 -> 2
    NhwcConv: f b 5 5 i, f n i 3 3 -> 1
    NhwcFusedConv: f b 5 5 i, f n i 3 3 -> 1
    NhwcMaxPool kernel_shape=2,2: u b 4 4 i -> 1
    NGramRepeatBlock ngram_size=2: I b s, f b h -> 1
    PackedSparseAttentionIndexer policy_mode='csa' compress_ratio=2 index_topk=4 state_capacity=8: {_INDEXED} -> 6
    MulInteger: u b s i, u, u i, u -> 1
    {_MERGE}_indices': {_MERGED}, -, -, i s 3, i s -> 3
    {_MERGE}_range': {_MERGED}, i s, i s -> 3
    QAttention num_heads=n: u b s i, u i 3*n*h, f 3*n*h, f, f 3*n*h, -, u, u 3*n*h -> 1
    QAttention num_heads=n: u b s i, u i 3*n*h, f 3*n*h, f, f, -, u, u -> 1
    QEmbedLayerNormalization: i b s, i b s, u 9 h, u 9 h, u v h, u h, u h, i b s, {_EMBEDDING} -> 2
    QGemm: u b i, f, u, u i h, f h, u h, -, f, u -> 1
    QGemm transB=1: u b i, f, u, u h i, f, u, -, f, u -> 1
    QLinearAdd: u b h, f, u, u b h, {_CODES} -> 1
    QLinearAveragePool kernel_shape=2,2: u b i 4 4, {_CODES} -> 1
    QLinearConcat axis=1: f, u, u b h, f, u, u b v, f, u -> 1
    QLinearConv: u b i 5 5, f, u, u n i 3 3, f n, u n, f, u -> 1
    QLinearConv channels_last=1: u b 5 5 i, f, u, u n i 3 3, f n, u n, f, u -> 1
    QLinearGlobalAveragePool: u b i 4 4, {_CODES} -> 1
    QLinearLeakyRelu: u b h, {_CODES} -> 1
    QLinearMul: u b h, f, u, u b h, {_CODES} -> 1
    QLinearReduceMean axes=[1] keepdims=1: u b s h, {_CODES} -> 1
    QLinearSigmoid: u b h, {_CODES} -> 1
    QLinearSoftmax opset=13: u b h, {_CODES} -> 1
    QLinearWhere: B b h, u b h, f, u, u b h, {_CODES} -> 1
    QMoE k=1 expert_weight_bits=8: f b 32, f b n, u n 16 32, f n 16, f n 16, u n 32 16, f n 32, f n 32 -> 1
    QMoE k=1: f b h, f b n, u n v h//2, f n v, f n v, u n h v//2, f n h -> 1
    QMoE k=1 block_size=16: f b 32, f b n, u n 64 16, f n 64 2, -, u n 32 32, f n 32 4 -> 1
    QuantizeLinear axis=1: f b h, f h, u h -> 1
    RotaryEmbedding: f b s n*h, I 1, f 9 h//2, f 9 h//2 -> 1
    RotaryEmbedding: f b s n*h, I b s, f 9 h//2, f 9 h//2 -> 1
    RotaryEmbedding: f b n s h, I b s, f 9 h//2, f 9 h//2 -> 1
    SkipLayerNormalization: f b s h, f b s h, f h, f h, f h -> 1
    SkipSimplifiedLayerNormalization: f b s h, f b s h, f h, f h -> 1
    SparseAttentionIndexer policy_mode='csa' compress_ratio=2 index_topk=4: {_DENSE} -> 3
    SparseAttentionIndexer policy_mode='qsa' compress_ratio=2 token_budget=4: {_SPARSE} -> 2
    TransposeMatMul transA=1: f i b, f i h -> 1
    Unique: f b -> 3
    UnfoldTensor dim=-1 size=h: f b h -> 1
    VarlenCausalConvWithState: f s i, f i 1 3, =0,s, f i, f 1 i 2 -> 2
    VarlenNGramHashMapping max_ngram_size=3 n_head_per_ngram=2 pad_id=0: i s, i 3, =(7)*4, =0,s -> 2
"""
"""The forms of nodes: attributes, inputs with the element type (float, uint8, bool, int32, int64) and the sizes, or
constants behind =, and the number of outputs.
"""

_EXPLAINED = {
    r"^MoE.*only supports interleaved": (
        "other providers have that kernel",
        "MoE k=1 activation_type='swiglu' swiglu_fusion=2: f 2 16, f 2 2, f 2 16 16, f 2 16, f 2 16 8, f 2 16 -> 1",
    ),
    r"^(QAttention|Skip(Simplified)?LayerNormalization): crash": (
        "nothing to compute",
        "SkipLayerNormalization: f 1 3 16, f 0 3 16, f 16, f 16, f 16 -> 1",
    ),
    r"^SparseAttentionIndexer.*at least one query head": (
        "a packed width of no head",
        "SparseAttentionIndexer policy_mode='qsa' compress_ratio=2 token_budget=4: "
        "f 2 5 16, -, f 16, f 16, f 9 4, f 9 4, I 2 4, f 2 1 16 -> 2",
    ),
}
"""Messages of ONNX Runtime for models that onnx-lint does not reject, with the reason and a node that has each."""

_FAILING = """
    Attention num_heads=2 do_rotary=1: f 2 3 16, f 16 48, f 48 -> 1
    Attention num_heads=2: f 2 3 16, f 16 48, f 48, i 2 1 8 8 -> 1
    GroupQueryAttention num_heads=4 kv_num_heads=2: f 2 3 64, f 2 3 32, f 2 3 32, -, -, =2,2, =3, -, -, -, -, -, -, -, \
f 16, f 16 -> 3
    GroupQueryAttention num_heads=4 kv_num_heads=2: f 2 3 64, f 2 3 32, f 2 3 32, -, -, =2,2, =3, -, -, -, -, -, -, -, \
-, f 16 -> 3
    DecoderMaskedMultiHeadAttention num_heads=2: f 2 1 8, f 2 2 3 4, f 2 2 3 4, -, f 1 1 1 3 -> 1
    GroupQueryAttention num_heads=2 kv_num_heads=2 qk_output=1 sliding_window_cache=1 local_window_size=4: f 1 2 16, \
f 1 2 16, f 1 2 16, f 1 2 4 8, f 1 2 4 8, =5, =6 -> 4
    QMoE k=1 fc2_expert_weight_bits=8: f 2 16, f 2 2, u 2 16 8, f 2 16, -, u 2 16 16, f 2 16 -> 1
    QMoE k=1 fc1_expert_weight_bits=8: f 2 16, f 2 2, u 2 16 16, f 2 16, -, u 2 16 8, f 2 16 -> 1
    QMoE k=1 fc1_expert_weight_bits=8 fc2_expert_weight_bits=4: f 2 16, f 2 2, u 2 16 16, f 2 16, -, u 2 16 8, f 2 16 \
-> 1
    MoE k=1 activation_type='silu': f 6 16, f 6 4, f 4 32 16, -, f 4 16 32, -, f 4 32 16 -> 1
    MultiHeadAttention num_heads=2: f 2 3 2 3 8 -> 1
    MultiHeadAttention num_heads=2: f 2 3 16, f 2 3 2 2 8 -> 1
    QAttention num_heads=2: u 2 3 16, u 16 48, f 48, f, f, i 2 1 8 8, u, u -> 1
    QMoE k=1 expert_weight_bits=8: f 6 32, f 6 2, u 2 16 32, f 2 16, -, u 2 32 16, f 2 32, -, u 2 16 32, f 2 16 -> 1
"""
"""Nodes that the newest release loads, and refuses at each run, one for each entry `failing` of a record."""

_FAILING_WITHOUT_ELEMENTS = """
    Attention num_heads=2 do_rotary=1: f 0 3 16, f 16 48, f 48 -> 1
    Attention num_heads=2 do_rotary=1: f 2 0 16, f 16 48, f 48 -> 1
    DecoderMaskedMultiHeadAttention num_heads=2: f 0 1 8, f 0 2 3 4, f 0 2 3 4, -, f 1 1 1 3 -> 1
    GroupQueryAttention num_heads=4 kv_num_heads=2: f 0 3 64, f 0 3 32, f 0 3 32, -, -, i 0, =3, -, -, -, -, -, -, -, \
f 16, f 16 -> 3
    GroupQueryAttention num_heads=4 kv_num_heads=2: f 2 0 64, f 2 0 32, f 2 0 32, -, -, =2,2, =3, -, -, -, -, -, -, -, \
-, f 16 -> 3
    GroupQueryAttention num_heads=2 kv_num_heads=2 qk_output=1 sliding_window_cache=1 local_window_size=4: f 1 0 16, \
f 1 0 16, f 1 0 16, f 1 2 4 8, f 1 2 4 8, =5, =6 -> 4
    MoE k=1 activation_type='silu': f 0 16, f 0 4, f 4 32 16, -, f 4 16 32, -, f 4 32 16 -> 1
    MultiHeadAttention num_heads=2: f 0 3 2 3 8 -> 1
    MultiHeadAttention num_heads=2: f 2 0 2 3 8 -> 1
    MultiHeadAttention num_heads=2: f 0 3 16, f 0 3 2 2 8 -> 1
    MultiHeadAttention num_heads=2: f 2 0 16, f 2 3 2 2 8 -> 1
    QMoE k=1 fc2_expert_weight_bits=8: f 0 16, f 0 2, u 2 16 8, f 2 16, -, u 2 16 16, f 2 16 -> 1
    QMoE k=1 fc1_expert_weight_bits=8: f 0 16, f 0 2, u 2 16 16, f 2 16, -, u 2 16 8, f 2 16 -> 1
    QMoE k=1 fc1_expert_weight_bits=8 fc2_expert_weight_bits=4: f 0 16, f 0 2, u 2 16 16, f 2 16, -, u 2 16 8, f 2 16 \
-> 1
    QMoE k=1 expert_weight_bits=8: f 0 32, f 0 2, u 2 16 32, f 2 16, -, u 2 32 16, f 2 32, -, u 2 16 32, f 2 16 -> 1
"""
"""Nodes of the entries without the word "elements": the newest release refuses each run of these as well."""


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


def _errors(path: Path) -> list[str]:
    found = [each for each in lint(path).diagnostics if each.severity.label == "error"]
    return [each.message for each in found if each.rule not in ("untyped-graph-value", "shapeless-graph-value")]


DRAWN = 40
"""The models of each form."""


@pytest.mark.parametrize("form", [each.strip() for each in _FORMS.strip().splitlines()])
def test_a_node_has_an_error_exactly_if_onnx_runtime_refuses_it(form, tmp_path):
    pytest.importorskip("onnxruntime", reason="no part of the development packages: pip install onnxruntime")
    dice = random.Random(form)
    path = tmp_path / "model.onnx"
    wrong: list[str] = []
    judged: Counter[bool] = Counter()
    with RuntimeProcess() as runtime:
        for index in range(DRAWN):
            operator, attributes, inputs, outputs = drawn_node(form, dice)
            if index % 5:
                attributes, inputs = _edited(attributes, inputs, dice)
            path.write_bytes(one_node(operator, attributes, inputs, outputs).SerializeToString())
            answer = runtime.answer(path) or ("", "crash")
            refused = "" if any(word in answer[0] for word in NO_KERNEL) else "".join(answer).strip()
            found = _errors(path)
            what = f"{operator}{attributes}{inputs}"
            if not index % 5:
                assert not refused, f"{what}: {refused}"
            judged[bool(refused)] += 1
            if found and not refused:
                wrong.append(f"false alarm {what}: {found[0]}")
            elif refused and not found and not any(re.search(each, f"{operator}: {refused}") for each in _EXPLAINED):
                wrong.append(f"missed {what}: {refused[-200:]}")
    assert not wrong, "\n".join(wrong)
    assert judged[True]
    assert judged[False]


def _answer(form: str, path: Path, runtime: RuntimeProcess) -> tuple[str, str]:
    """Write the node of a form without names, and return why it is not loaded, and why it is not run."""
    node = drawn_node(form, random.Random(form))
    path.write_bytes(one_node(*node).SerializeToString())
    return runtime.answer(path) or ("", "crash")


@pytest.mark.parametrize("message", _EXPLAINED)
def test_each_explained_message_is_that_of_a_node_without_an_error(message, tmp_path):
    pytest.importorskip("onnxruntime", reason="no part of the development packages: pip install onnxruntime")
    _, form = _EXPLAINED[message]
    path = tmp_path / "model.onnx"
    with RuntimeProcess() as runtime:
        refused = "".join(_answer(form, path, runtime)).strip()
    assert re.search(message, f"{form.split()[0].rstrip(':')}: {refused}"), refused
    assert not _errors(path)


def test_each_run_fails_of_nodes_that_are_said_to_load_only(tmp_path):
    pytest.importorskip("onnxruntime", reason="no part of the development packages: pip install onnxruntime")
    path = tmp_path / "model.onnx"
    wrong: list[str] = []
    warned: Counter[str] = Counter()
    with RuntimeProcess() as runtime:
        for form in [each.strip() for each in _FAILING.strip().splitlines()]:
            load, run = _answer(form, path, runtime)
            found = [each for each in lint(path, target="onnxruntime=1.32.0").diagnostics if each.clause == "PRD-7"]
            warned[form.split()[0].rstrip(":")] += len(found)
            if load or not run or len(found) != 1:
                wrong.append(f"{form}: {load or run or 'runs'}, {len(found)} warnings")
    assert not wrong, "\n".join(wrong)
    records = {name: record_of(name) for name in families()}
    entries = {name: [*record.failing.values()].count("") for name, record in records.items() if record}
    assert warned == Counter({name: count for name, count in entries.items() if count})


@pytest.mark.parametrize("form", [each.strip() for each in _FAILING_WITHOUT_ELEMENTS.strip().splitlines()])
def test_each_run_without_elements_fails_of_nodes_of_which_it_is_said(form, tmp_path):
    pytest.importorskip("onnxruntime", reason="no part of the development packages: pip install onnxruntime")
    path = tmp_path / "model.onnx"
    with RuntimeProcess() as runtime:
        load, run = _answer(form, path, runtime)
    assert not load
    assert run
    found = [each for each in lint(path, target="onnxruntime=1.32.0").diagnostics if each.clause == "PRD-7"]
    assert [each.message.endswith("on CPUs fails") for each in found] == [True]


def _masked() -> Iterator[tuple[str, Inputs, int]]:
    """Yield nodes of attention with masks of all sizes near those that fit: operator, inputs, number of outputs."""
    for batch in (1, 2, 3):
        data, weights, bias = ("f", [batch, 3, 8]), ("f", [8, 24]), ("f", [24])
        keys, past, before = ("f", [batch, 5, 8]), ("f", [batch, 2, 6, 4]), ("f", [2, batch, 2, 2, 4])
        scale, zero, codes, code_weights = ("f", []), ("u", []), ("u", [batch, 3, 8]), ("u", [8, 24])
        others = {1, batch, batch + 1}
        rows = [[size] for size in range(1, 14)]

        def masks(sizes: list[int], pairs: list[list[int]], others: set[int] = others) -> list[list[int]]:
            return [[one, *size] for one in others for size in (*([each] for each in sizes), *pairs)]

        for mask in [*rows, *masks([1, 3, 4], [[3, 3], [1, 3], [3, 4]]), [], [batch, 1, 1, 3, 3]]:
            yield "Attention", [data, weights, bias, ("i", mask)], 1
            yield "QAttention", [codes, code_weights, bias, scale, scale, ("i", mask), zero, zero], 1
        for mask in [*rows, *masks([1, 3, 5], [[3, 5], [1, 5], [3, 3]]), [], [batch, 1, 3, 5]]:
            yield "MultiHeadAttention", [data, keys, keys, None, ("i", mask)], 1
        for mask in [*rows, *masks([1, 2, 3, 5, 6], [[3, 5], [1, 5], [3, 3], [3, 1]])]:
            yield "Attention", [data, weights, bias, ("i", mask), before], 2
            yield "QAttention", [codes, code_weights, bias, scale, scale, ("i", mask), zero, zero, before], 2
        for mask in [*rows, *masks([1, 5, 6, 11], [[3, 11], [1, 11], [3, 5], [3, 6]])]:
            yield "MultiHeadAttention", [data, keys, keys, None, ("i", mask), None, past, past], 3


def test_what_does_not_run_because_of_a_mask_has_an_error(tmp_path):
    pytest.importorskip("onnxruntime", reason="no part of the development packages: pip install onnxruntime")
    path = tmp_path / "model.onnx"
    judged: Counter[bool] = Counter()
    wrong: list[str] = []
    with RuntimeProcess() as runtime:
        for operator, inputs, outputs in _masked():
            path.write_bytes(one_node(operator, {"num_heads": 2}, inputs, outputs).SerializeToString())
            answer = runtime.answer(path)
            assert answer is not None
            is_refused = any(answer)
            judged[is_refused] += 1
            if any(each.rule == "incompatible-operand-shapes" for each in lint(path).diagnostics) != is_refused:
                wrong.append(f"{operator}({inputs}): {''.join(answer).strip()[-200:] or 'runs'}")
    assert not wrong, "\n".join(wrong)
    assert min(judged[False], judged[True]) > 30
