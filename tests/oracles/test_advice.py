# SPDX-License-Identifier: Apache-2.0
"""What onnx-lint only warns of, since "only its description requires this": ONNX Runtime must take such a node.

Each entry of `advised` in the records, and each combination that begins with ADVISED, is broken alone. If ONNX Runtime
refuses a model, the entry must be an error; if nothing can break it, it is superfluous. Many of these operators have no
kernel for CPUs: then the session must fail for nothing else.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.models.runtime_forms import Inputs, drawn_node, one_node
from support.processes.runtime_process import NO_KERNEL, RuntimeProcess

from onnx_lint import lint
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.operators import BUILT_IN
from onnx_lint.spec.operators.records import families, record_of

pytestmark = pytest.mark.differential

_SEARCH = "decoder=gpt eos_token_id=8 pad_token_id=0 vocab_size=9"
_MLP = "MatMulNBitsMlp K=32 N=n bits=4 block_size=16 activation='silu'"
_QKV = "QOrderedAttention num_heads=n order_input=1 order_output=1 order_weight=0"
_LONG = "QOrderedLongformerAttention num_heads=n window=2 order_input=1 order_output=1 order_weight=0"
_INDEXER = "SparseAttentionIndexer compress_ratio=2"
_PAGED = "PagedAttention num_heads=n kv_num_heads=n"
_GROUPS = "GroupQueryAttention num_heads=n*g kv_num_heads=n"
_HEADS = "f b s n*g*h, f b s n*h, f b s n*h"
_FORMS = f"""
    BeamSearch {_SEARCH}: i b s, =s+2, i, =g, =1, f, f, i 9, i b 9, i b s, i b 2, i -> 1
    BiasAdd: f b s h, f h, f b s h -> 1
    BiasDropout: f b h, f h, f b h, f, B -> 2
    BitmaskBiasDropout: f b h, f h, f b h, f, B -> 1
    BitmaskDropout: f b h, f, B -> 1
    DecoderAttention num_heads=n: f s b n*h, f p b n*h, f n*h n*h, f n*h 2*n*h, f 3*n*h,
        B b p, f b n p h, f b n p h, B, B, B, B -> 3
    DecoderMaskedSelfAttention num_heads=n past_present_share_buffer=1: f b 1 i, f i 3*n*h, f 3*n*h, i b s, f 2 b n s h,
        f b n 1 s, i, i, i b g s -> 2
    DequantizeBFP bfp_type=0: u v, I 2, I 2 -> 1
    DynamicSparseAttention num_heads=n kv_num_heads=n: f b s n*h, f b s n*h, f b s n*h, -, -, -, -,
        i b s 4, i b s, i b, i -> 1
    GemmaRotaryEmbedding: f b s h, h b n s h, h b n s h, h b n s h, h b n s h -> 2
    {_GROUPS} do_rotary=1: {_HEADS}, -, -, =(s-1)*b, =s, f 40 h//2, f 40 h//2, I b s -> 3
    {_GROUPS} k_quant_type='NONE' v_quant_type='NONE': {_HEADS}, -, -, =(s-1)*b, =s, -, -, -, -,
        -, -, -, f h, f h -> 3
    {_GROUPS} qk_output=1: {_HEADS}, -, -, =(s-1)*b, =s -> 4
    {_GROUPS}: {_HEADS}, f b n p h, f b n p h, =(p+s-1)*b, =p+s, -, -, -, -, -, -, -, -, -, =(s)*b -> 3
    HyperConnectionLowRankMix num_branches=n: f b s n*h, f n*h, f n*h v, f v n*h, f n*h n, f b s h, f b s n -> 3
    LinearAttentionGate: f b s h, f h, f h, f b s h -> 2
    LongformerAttention num_heads=n window=2: f b s n*h, f n*h 3*n*h, f 3*n*h, f b s, f n*h 3*n*h, f 3*n*h, i b s -> 1
    MatMulBlockQuantizedFp4Weight: h b s 32, u n 16, u n 2, f, f, h n -> 1
    MatMulBlockQuantizedFp8Weight: h b s 32, e n 32, f n 2, f, h n -> 1
    MatMulNBitsMlp K=32 N=n block_size=16 activation='silu': f b 32, -, f 32, u n 2 8, f n 2, f n,
        u n 2 8, f n 2, f n -> 1
    MatMulNBitsQLoRA K=32 N=n block_size=16: f b 32, u n 2 8, f n 2, u 3 1 32, f 3 1, u n 1 32, f n 1 -> 1
    MatMulNBitsQkv K=32 Nq=n Nkv=g block_size=16: f b 32, -, f 32, u n 2 8, f n 2, -, u g 2 8,
        f g 2, -, u g 2 8, f g 2 -> 3
    MatMulPacked K=32 N=n packed_type=2: h b s 32, u n 18, f -> 1
    MoEGroupRouter top_k=1: f b n, f n -> 1
    MoE k=1 activation_type='geglu' swiglu_fusion=1: f b h, f b n, f n 2*v h, f n 2*v, f n h v, f n h -> 1
    MoEPacked gate_type=2 down_type=2: h b s h, f b*s n, u n v 18, u n v 18, u n h 18, f b*s n -> 1
    MoEPacked gate_type=2 down_type=2: h b s h, f b*s n, u n v 18, u n v 18, u n h 18 -> 1
    PackedAttention num_heads=n: f b*s i, f i 3*n*h, f 3*n*h, i b s, i b+1, f b n s s -> 1
    PackedMultiHeadAttention num_heads=n: f b*s n*h, f b*s n*h, f b*s n*v, f 2*n*h+n*v, i b s, i b+1, f b n s s -> 1
    {_PAGED}: h b n*h, h b n*h, h b n*h, h p 16 n h, h p 16 n h, i b+1, i b,
        i b p, h 9 h//2, h 9 h//2, i b, h n, h h, h h, -, -, i 3 -> 3
    PagedAttention num_heads=2 kv_num_heads=1: h b 2*h, h b h, h b h, h p 16 1 h, h p 16 1 h, i b+1, i b, i b p -> 1
    PagedAttention num_heads=2 kv_num_heads=1 kv_cache_layout='LATENT': h b 2*h, h b h, -, h p 16 1 h, -,
        i b+1, i b, i b p -> 1
    QMoE k=1 activation_type='geglu' swiglu_fusion=1: f b h, f b n, u n 2*v h//2, f n 2*v, f n 2*v,
        u n h v//2, f n h -> 1
    QMoE k=1 quant_type='int': f b h, f b n, u n v h//2, f n v, f n v, u n h v//2, f n h -> 1
    QLinearSoftmax opset=13: u b h, f, u, f, u -> 1
    {_QKV}: c b s i, f, f, f, f, c i n*h, c i n*h, c i n*h, f, f, f, f n*h,
        f n*h, f n*h, f, f, f, -, c 2 b n p h, f b n s s+p -> 1
    QOrderedGelu: c b h, f, f -> 1
    QOrderedLayerNormalization: c b h, f, f h, f h, f -> 1
    {_LONG} order_global_weight=0: c b s n*h, f, c n*h 3*n*h, f, f 3*n*h, f, f, h b s,
        c n*h 3*n*h, f, f 3*n*h, f, i b s, f -> 1
    QOrderedMatMul order_A=1 order_B=0 order_Y=1: c b s h, f, c h v, f, f, f v, c b s v, f -> 1
    RMSNormRotary rotary_embedding_dim=8: h b s n h, f h, I b s, f 9 4, f 9 4 -> 1
    Sampling {_SEARCH}: i b s, =s+2, i, f, i 9, i b 9, i b s, i b 9, i -> 1
    {_INDEXER} policy_mode='csa' index_topk=4: f b s n*h, f b s 2*h, f h, f h, f 9 4, f 9 4, -, f b p h,
        f b s 2*h, f 2 2*h, f b s n, I b s, i 1, f 2 b 3 2*h -> 3
    {_INDEXER} policy_mode='qsa' token_budget=4: f b s n*h, f b s h, f h, f h, f 9 4, f 9 4, I b 4, f b p h -> 2
    SparseAttention num_heads=2*n kv_num_heads=n sparse_block_size=16: f b s 2*n*h, f b s n*h, f b s n*h, f b n 64 h,
        f b n 64 h, i 2 5, i 2 4, =s, =(s)*b -> 3
    Tokenizer mark=0 mincharnum=1 pad_value='x' separators=['-']: s b -> 1
    GreedySearch {_SEARCH}: i b s, =s+2, i, f, i 9, i b 9, i b s -> 1
    GroupNorm groups=2 activation=0: f b 4 4 v, f v, f v -> 1
    NhwcConv: f b 5 5 v, f 3 v 2 2, f 3 -> 1
    NhwcFusedConv: f b 5 5 v, f 3 v 2 2, f 3, f b 4 4 3 -> 1
    SkipGroupNorm groups=2 activation=0: f b 4 4 v, f v, f v, f b v, f v -> 1
"""


def _embedding(name: str, width: int) -> onnx.TensorProto:
    return numpy_helper.from_array(np.ones((9, width), np.float32), name)


def gpt() -> onnx.GraphProto:
    """Return the smallest model of a language that a search takes: it has 2 heads of size 4, 1 layer and 9 words."""
    nodes = [
        helper.make_node("Gather", ["words", "input_ids"], ["logits"]),
        helper.make_node("Gather", ["states", "input_ids"], ["flat"]),
        helper.make_node("Reshape", ["flat", "split"], ["apart"]),
        helper.make_node("Transpose", ["apart"], ["new"], perm=[2, 0, 3, 1, 4]),
        helper.make_node("Concat", ["past_0", "new"], ["present_0"], axis=3),
    ]
    inputs = [
        *[helper.make_tensor_value_info(name, TensorProto.INT32, ["b", "s"]) for name in ("input_ids", "position_ids")],
        helper.make_tensor_value_info("attention_mask", TensorProto.INT32, ["b", "t"]),
        helper.make_tensor_value_info("past_0", TensorProto.FLOAT, [2, "b", 2, "p", 4]),
    ]
    outputs = [
        helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", "s", 9]),
        helper.make_tensor_value_info("present_0", TensorProto.FLOAT, [2, "b", 2, "t", 4]),
    ]
    split = numpy_helper.from_array(np.array([0, 0, 2, 2, 4], np.int64), "split")
    return helper.make_graph(nodes, "gpt", inputs, outputs, [_embedding("words", 9), _embedding("states", 16), split])


def _sides(operator: str) -> list[str]:
    """Return the entries of advice on an operator: names of inputs and attributes, and combinations."""
    record = record_of(operator)
    assert record is not None
    return [*record.advised, *(each for each in record.combinations if each.startswith("ADVISED"))]


def _sizes(dims: list[int]) -> Iterator[list[int]]:
    """Yield sizes near those of an input: each axis longer and shorter, an axis more, one less."""
    for at, size in enumerate(dims):
        yield from ([*dims[:at], size + step, *dims[at + 1 :]] for step in (1, 2, -1) if size + step > 0)
    yield [1, *dims]
    yield [*dims, 2]
    yield from ([dims[1:]] if dims else [[2, 2]])


_VALUES: dict[str, tuple[Any, ...]] = {
    "FLOAT": (-1.0, 0.0, 0.5),
    "INT": (0, 1, 20),
    "STRING": ("none", "PER_TENSOR", "LATENT"),
}
"""Values that may break what is advised of an attribute of a type."""


def _broken(
    operator: str, entry: str, attributes: dict[str, Any], inputs: Inputs
) -> Iterator[tuple[dict[str, Any], Inputs]]:
    """Yield nodes that may break one entry."""
    schema = BUILT_IN.find("com.microsoft", operator, 1)
    assert schema is not None
    names = [each.name for each in schema.inputs]
    words = [word.removeprefix("in:") for word in entry.split()[2:]] if entry.startswith("ADVISED") else [entry]
    at = names.index(words[-1]) if words[-1] in names else -1
    if at < 0:  # an attribute
        for value in _VALUES[schema.attributes[words[-1]].type]:
            yield {**attributes, words[-1]: value}, inputs
    elif at < len(inputs) and (given := inputs[at]) is not None:
        if entry.startswith("ADVISED"):
            yield attributes, [None if index == at else each for index, each in enumerate(inputs)]
            return
        kind, dims = given
        for sizes in _sizes([len(dims)] if kind == "=" else dims):
            edited = ("i", sizes) if kind == "=" else (kind, sizes)
            yield attributes, [edited if index == at else each for index, each in enumerate(inputs)]


ELSEWHERE = (
    *(*NO_KERNEL, "implemented only on", "(CPU)", "CPU GroupQueryAttention", "requires CUDA", "MoE activation type"),
    "past_key->DataRaw() == present_key->DataRaw()",
)
"""What ONNX Runtime says of what its build for CPUs lacks, and of caches that a caller must share."""


def test_onnx_runtime_takes_what_is_only_advised(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="no part of the development packages")
    path = tmp_path / "model.onnx"
    dice = random.Random(66)
    left = {operator: {*_sides(operator)} for operator in families() if _sides(operator)}
    wrong: list[str] = []
    count = 0
    with RuntimeProcess() as runtime:
        for form in re.sub(r",\n {8}", ", ", _FORMS).strip().splitlines():
            operator, attributes, inputs, outputs = drawn_node(form.strip(), dice, {"gpt": gpt()})
            for entry in _sides(operator):
                for changed, edited in _broken(operator, entry, attributes, inputs):
                    path.write_bytes(one_node(operator, changed, edited, outputs).SerializeToString())
                    found = [each for each in lint(path).diagnostics if each.rule not in _OF_VALUES]
                    if not found or any(_is_error(each) for each in found):
                        continue
                    left[operator].discard(entry)
                    count += 1
                    answer = "".join(runtime.answer(path) or ("crash",))
                    if answer and not any(word in answer for word in ELSEWHERE):
                        wrong.append(f"{operator} {entry} {changed} {edited}: {answer.strip()[-200:]}")
    assert wrong == []
    assert {operator: entries for operator, entries in left.items() if entries} == {}
    assert count > 200


_OF_VALUES = ("shapeless-graph-value", "untyped-graph-value")
"""Rules on the outputs of the model, which the models do not declare."""


def _is_error(found: Diagnostic) -> bool:
    return found.severity.label == "error"
