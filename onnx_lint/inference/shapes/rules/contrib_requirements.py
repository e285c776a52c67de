# SPDX-License-Identifier: Apache-2.0
"""What ONNX Runtime requires of its operators (com.microsoft) besides what their rules compare, as tables.

Each row is a sentence of the operator's description, and ONNX Runtime 1.32 refuses the node without it, when it makes a
session or whenever it runs the node (`tests/oracles/test_runtime_requirements.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from onnx_lint.inference.shapes.equations import require
from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.problem import Element
from onnx_lint.inference.shapes.registration import Infer, ShapeRule

_PAST: Final = "past_key![b @kv_num_heads p ?] past_value![b @kv_num_heads p ?]"
_BEHIND_PAST: Final = "lengths total[] cos[m r] sin[m r] ->"
_SCALARS: Final = "x x_scale[] x_zero_point[] y_scale[] y_zero_point[] ->"

FORMS: Final[Mapping[str, tuple[str, ...]]] = {
    "BiasSplitGelu": ("x[b s 2*h] bias[2*h] ->",),
    "ConvTransposeWithDynamicPads": ("x[? c ? *more] w[c ? ? *kernel] ->",),
    "CropAndResize": ("x[? ? ? ?] rois[n 4] batch_indices[n] crop_size[2] ->",),
    "DecoderMaskedMultiHeadAttention": (
        "query[b ? ?] key![b t ?] value![b t ?] ... ->",
        "query[b ? ?] key![b @num_heads t ?] value![b @num_heads t ?] ... ->",
    ),
    "DequantizeBFP": ("x[?] ... ->",),
    "EmbedLayerNormalization": (
        "ids[b s] segments[b s] words positions segment gamma beta mask[b s] position_ids[1|b s] ->",
    ),
    "EngramGate": ("key[b s m h] query[b s m h] value[b s h] ... ->",),
    "GatedAdd": ("x[*rows c] y[*rows c] gate[*rows 1] ->",),
    "GatedRMSNorm": ("x[*all] scale gate[*all] ->",),
    "GatherPacked": ("data[? ?] indices ->",),
    "GroupQueryAttention": (
        f"query[b s @num_heads*d] key![b s @kv_num_heads*d] value![b s @kv_num_heads*d] - - {_BEHIND_PAST}",
        f"query[b ? @num_heads*d] key![b t @kv_num_heads*d] value![b t @kv_num_heads*d] {_PAST} {_BEHIND_PAST}",
        f"query[b ? ?] - - - - {_BEHIND_PAST}",
        f"query[b ? ?] - - {_PAST} {_BEHIND_PAST}",
    ),
    "MatMulFpQ4": ("a b[?] b_shape[2] ->",),
    "MultiHeadAttention": (
        "query[b s D] key![b t D] value![b t @num_heads*v] bias[D+D+v*@num_heads] mask "
        "attention_bias[1|b 1|@num_heads s p+t] past_key[b @num_heads p D/@num_heads] "
        "past_value[b @num_heads p D/@num_heads] - ->",
        "query[b s D] key![b @num_heads t D/@num_heads] value![b @num_heads t D/@num_heads] bias[D+D+D] mask "
        "attention_bias[1|b 1|@num_heads s t] - - - ->",
        "query[b s D] key![b t @num_heads 2 D/@num_heads] - ... ->",
        "query[b s @num_heads 3 ?] - - ... ->",
    ),
    "NGramHashMapping": ("ids[? ?] ... ->",),
    "NGramRepeatBlock": ("ids[b ?] scores[b ?] ->",),
    "NhwcConv": ("x[? ? ? *more] ... ->",),
    "NhwcFusedConv": ("x[? ? ? *more] ... ->",),
    "PackedAttention": ("x[t i] weights[i w] bias[w] ... ->",),
    "QAttention": ("x weights bias x_scale[] weight_scale mask x_zero_point[] ... ->",),
    "QGemm": ("a a_scale[] a_zero_point[] ... ->",),
    "QLinearLeakyRelu": (_SCALARS,),
    "QLinearSigmoid": (_SCALARS,),
    "RelativePositionBias": ("table[? ? *more] ... ->",),
    "RemovePadding": ("x[b s h] count ->",),
    "RestorePadding": ("x[t h] offsets[b s] ->",),
    "RotaryEmbedding": tuple(
        f"{x} {positions} cos[m r] sin[m r] ->"
        for x in ("x[b s ?]", "x[b ? s ?]")
        for positions in ("ids[]", "ids[b s]")
    ),
    "VarlenCausalConvWithState": ("x[? c] weights[c 1 ?] offsets[?] ... ->",),
}
"""The forms of each operator, as equations."""

LEAST: Final[Mapping[str, Mapping[str, int]]] = {
    "AttnLSTM": {"hidden_size": 1},
    "ConvTransposeWithDynamicPads": {"group": 1},
    "DynamicQuantizeLSTM": {"hidden_size": 1},
    "GatherPacked": {"K": 1},
    "MoE": {"k": 1},
    "NGramHashMapping": {"max_ngram_size": 2, "n_head_per_ngram": 1},
    "NGramRepeatBlock": {"ngram_size": 1},
    "QMoE": {"k": 1},
    "Tokenizer": {"mincharnum": 1},
    "UnfoldTensor": {"size": 1, "step": 1},
}
"""The least value of attributes."""

_MULTIPLES: Final[Mapping[str, tuple[str, str]]] = {"GroupQueryAttention": ("num_heads", "kv_num_heads")}
"""An attribute that is a multiple of another."""


def required(operator: str, rule: ShapeRule) -> ShapeRule:
    """Return the rule of an operator with what the tables require of it."""
    if operator not in FORMS and operator not in LEAST:
        return rule
    return ShapeRule(partial(_infer, rule.infer, operator), rule.reads)


def _infer(infer: Infer, operator: str, node: Operands) -> Outputs:
    found = infer(node)
    if node.problems:
        return found  # one fault, one finding
    for name, least in LEAST.get(operator, {}).items():
        node.at_least(least, (node.integer(name),), name)
    one, other = map(node.integer, _MULTIPLES.get(operator, ("", "")))
    if one is not None and other and one % other:
        names = _MULTIPLES[operator]
        node.indivisible(Element(names[0], one), other, Element(names[1], other))
    if not node.problems and operator in FORMS:
        require(FORMS[operator], node)
    return found
