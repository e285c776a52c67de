# SPDX-License-Identifier: Apache-2.0
"""Layers of language models besides attention: experts, positions and normalization."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.spec.operators.records import EVERY_RELEASE, MOST, OperatorRecord

_BITS: Final = (2, 3, 4, 8)
_ACTIVATIONS: Final = ("relu", "gelu", "silu", "swiglu", "identity", "relu2", "geglu")

_FUSED: Final = {
    "activation_type=swiglu swiglu_fusion": "2*i",
    "activation_type=geglu swiglu_fusion": "2*i",
    "else": "i",
}
"""The rows of the first matrix of an expert."""

_SWIGLU: Final = {
    "swiglu_fusion": "one of 1 2 if activation_type=geglu",
    "swiglu_limit_after_activation": "one of 0 1; one of 0 if !activation_type=swiglu",
}

RECORDS: Final[Mapping[str, Callable[[], OperatorRecord]]] = {
    "BranchwiseRMSNorm": lambda: OperatorRecord(
        attributes={"num_branches": "at least 0"},
        inputs={
            "X": {"num_branches": "*rows @num_branches*h", "else": "*rows c h"},
            "scale": {"num_branches": "{h, @num_branches h, @num_branches*h}", "else": "{h, c h, c*h}"},
        },
        sizes={"c": "at least 1", "h": "at least 1"},
        outputs={"Y": {"num_branches": "*rows @num_branches*h", "else": "*rows c h"}},
    ),
    "EmbedLayerNormalization": lambda: OperatorRecord(
        attributes={"epsilon": "at least 0; not nan", "mask_index_type": "needs mask_index if mask_index_type>0"},
        defaults={"mask_index_type": 1},
        since={"mask_index_type=0 outputs=2": "1.32.0"},
        combinations=("NEEDS in:segment_ids in:segment_embedding",),
        inputs={
            "input_ids": "b s",
            "segment_ids": "b s",
            "word_embedding": "words h",
            "position_embedding": "places h",
            "segment_embedding": "segments h",
            "gamma": "h",
            "beta": "h",
            "mask": "b s",
            "position_ids": "1|b s",
        },
        sizes={"s": "at most places if !position_ids"},
        contents={
            "input_ids": "at least 0; below words",
            "segment_ids": "at least 0; below segments",
            "position_ids": "at least 0; below places",
        },
        outputs={"output": "b s h", "mask_index": "b", "embedding_sum": "b s h"},
    ),
    "GatedAdd": lambda: OperatorRecord(
        inputs={"X": "*rows c", "Y": "*rows c", "gate": "*rows 1"},
        outputs={"output": "*rows c"},
    ),
    "GatedRMSNorm": lambda: OperatorRecord(
        values={"activation": ("silu", "swish", "sigmoid")},
        inputs={"X": "*rows w", "scale": "{c, , ? ? *more}", "gate": "*rows w"},
        sizes={"w": "multiple of c"},
        outputs={"Y": "*rows w"},
    ),
    "GemmaRotaryEmbedding": lambda: OperatorRecord(
        inputs={"q": "*q", "k": "*k"},
        advised={
            "emb": "b s d",
            "q": "b h s d",
            "q_rot": "b h s d",
            "k": "b ? s d",
            "k_rot": "b ? s d",
        },
        outputs={"output1": "*q", "output2": "*k"},
    ),
    "MRotaryEmbedding": lambda: OperatorRecord(
        lists={"mrope_section": 3},
        attributes={
            "mrope_section": "at least 0",
            "num_heads": f"at least 0; at most {MOST}",
            "rotary_embedding_dim": "at least 0; multiple of 2; needs num_heads",
        },
        values={"mrope_layout": (0, 1)},
        sizes={"h": "multiple of 2 if !rotary_embedding_dim"},
        cases=("packed or by_head",),
        where={"half": {"rotary_embedding_dim": "@rotary_embedding_dim/2", "else": "h/2"}},
        inputs={
            "input": {
                "num_heads": {"packed": "b s @num_heads*h", "by_head": "b n s h"},
                "rotary_embedding_dim": "*all",
                "else": "b n s h",
            },
            "position_ids": "3 b s",
            "cos_cache": "m half",
            "sin_cache": "m @mrope_section.0+@mrope_section.1+@mrope_section.2",
        },
        contents={"position_ids": "at least 0; below m"},
        check="contrib_transformers.check_head_count",
        compared="an input of 3 dimensions requires `num_heads` above 0",
        outputs={
            "output": {
                "num_heads": {"packed": "b s @num_heads*h", "by_head": "b n s h"},
                "rotary_embedding_dim": "*all",
                "else": "b n s h",
            }
        },
    ),
    "MoE": lambda: OperatorRecord(
        failing={"fc3_experts_weights": EVERY_RELEASE},
        until={
            "!k=2 use_sparse_mixer=1": EVERY_RELEASE,
            "activation_type=geglu": EVERY_RELEASE,
            "activation_type=relu2": EVERY_RELEASE,
            "!swiglu_limit_after_activation=0": EVERY_RELEASE,
            "swiglu_fusion=0 activation_type=swiglu": EVERY_RELEASE,
            "swiglu_fusion=2 activation_type=swiglu": EVERY_RELEASE,
        },
        attributes={
            "k": "at least 1; one of 2 if use_sparse_mixer=1; at most e",
            "swiglu_limit": "at least 0 if activation_type=swiglu",
            "swiglu_fusion": "one of 0 1 2 if activation_type=swiglu",
        },
        defaults={"activation_type": "relu", "k": 1, "swiglu_fusion": 0},
        values={"activation_type": _ACTIVATIONS},
        # The documentation has the experts in rows; ONNX Runtime takes the columns of older exporters as well.
        cases=("rows or columns", "flat or batched"),
        where={"f": _FUSED},
        inputs={
            "input": {"flat": "t h", "batched": "b s h"},
            "router_probs": {"flat": "t e", "batched": "b*s e"},
            "fc1_experts_weights": {"rows": "e f h", "columns": "e h f"},
            "fc1_experts_bias": "e f",
            "fc2_experts_weights": {"rows": "e h i", "columns": "e i h"},
            "fc2_experts_bias": "e h",
            "fc3_experts_weights": {"rows": "e i h", "columns": "e h i"},
            "fc3_experts_bias": "e i",
        },
        advised=_SWIGLU,
        outputs={"output": {"flat": "t h", "batched": "b s h"}},
    ),
    "MoEGroupRouter": lambda: OperatorRecord(
        attributes={
            "group_topk": "at least 1",
            "n_group": "at least 1",
            "top_k": "at least 1; at most e",
            "topk_group": "at least 1; at most n_group",
        },
        defaults={"n_group": 1},
        combinations=(
            "TOGETHER out:selection_scores out:router_weights",
            "AT_MOST_ONE out:router_probs out:selection_scores+out:router_weights",
        ),
        sizes={"e": "multiple of @n_group"},
        # ONNX Runtime takes a bias in any form that has as many elements.
        cases=("many or one", "flat or batched or nested"),
        where={
            "tokens": {"flat": "t", "batched": "b s", "nested": "? ? ? *rows"},
            "total": {"projection_weight or flat": "t", "batched": "b*s", "nested": "?"},
        },
        inputs={
            "logits": {"projection_weight": "t 256*w", "many": "tokens e", "one": "tokens e=1"},
            "expert_bias": {"projection_weight": "e", "many": "{e, e 1, 1 e, ? ? ? *more}", "one": ""},
            "projection_weight": "e 256*w",
        },
        advised={
            "expert_bias": "e",
        },
        outputs={"router_probs": "total e", "selection_scores": "total e", "router_weights": "total e"},
    ),
    "MoEPacked": lambda: OperatorRecord(
        inputs={"input": "*all"},
        advised={
            "input": "*rows h",
            "router_probs": "? e",
            "gate_experts_weights": "e i ?",
            "up_experts_weights": "e i ?",
            "down_experts_weights": "e h ?",
            "router_weights": "? e",
            "routed_scaling_factor": "one of 1.0 if !router_weights",
            "routing_epsilon": "one of 0.0 if !router_weights",
        },
        outputs={"output": "*all"},
    ),
    "QMoE": lambda: OperatorRecord(
        failing={
            "fc3_experts_weights": EVERY_RELEASE,
            "fc1_expert_weight_bits!=fc2_expert_weight_bits": EVERY_RELEASE,
            "fc1_expert_weight_bits!=expert_weight_bits !fc2_expert_weight_bits": EVERY_RELEASE,
            "fc2_expert_weight_bits!=expert_weight_bits !fc1_expert_weight_bits": EVERY_RELEASE,
        },
        block_scales="fc1_scales fc2_scales fc3_scales",
        since={"expert_weight_bits=2": "1.32.0", "expert_weight_bits=3": "1.32.0"},
        until={
            "!k=2 use_sparse_mixer=1": EVERY_RELEASE,
            "activation_type=geglu": EVERY_RELEASE,
            "activation_type=relu2": EVERY_RELEASE,
            "!swiglu_limit_after_activation=0": EVERY_RELEASE,
            "swiglu_fusion=0 activation_type=swiglu": "1.23.2",
            "swiglu_fusion=2 activation_type=swiglu": "1.23.2",
        },
        attributes={
            "k": "at least 1; one of 2 if use_sparse_mixer=1; at most e",
            "swiglu_limit": "at least 0 if activation_type=swiglu",
            "swiglu_fusion": "one of 0 1 2 if activation_type=swiglu",
            "block_size": "at least 0; power of 2 from 16 if block_size>0 quant_type=int",
            "weights_prepacked": "one of -1 0 1",
            "expert_weight_bits": "with 3 excludes fc3_experts_weights if !fc3_expert_weight_bits",
        },
        defaults={
            "activation_type": "relu",
            "block_size": 0,
            "expert_weight_bits": 4,
            "k": 1,
            "quant_type": "int",
            "swiglu_fusion": 0,
            "weights_prepacked": -1,
        },
        values={
            "activation_type": _ACTIVATIONS,
            "expert_weight_bits": _BITS,
            "fc1_expert_weight_bits": _BITS,
            "fc2_expert_weight_bits": _BITS,
            "fc3_expert_weight_bits": _BITS,
        },
        combinations=(
            "SOME in:fc1_scales in:fc1_global_scale",
            "SOME in:fc2_scales in:fc2_global_scale",
            "NEEDS in:fc3_scales in:fc3_experts_weights",
            "NEEDS in:fc3_experts_bias in:fc3_experts_weights",
            "NEEDS in:fc3_zero_points in:fc3_experts_weights",
        ),
        cases=("rows or columns", "flat or batched", "by_block or by_row"),
        where={
            "f": _FUSED,
            "bits1": {"fc1_expert_weight_bits": "@fc1_expert_weight_bits", "else": "@expert_weight_bits"},
            "bits2": {"fc2_expert_weight_bits": "@fc2_expert_weight_bits", "else": "@expert_weight_bits"},
        },
        inputs={
            "input": {"flat": "t h", "batched": "b s h"},
            "router_probs": {"flat": "t e", "batched": "b*s e"},
            "fc1_experts_weights": {
                "quant_type=int": {"rows": "e f ceil(h*bits1/8)", "columns": "e h ceil(f*bits1/8)"},
                "else": "e ? ?",
            },
            "fc1_scales": {
                "quant_type=int block_size>0": {"by_block": "e f ceil(h/@block_size)", "by_row": "e f"},
                "quant_type=int": "{e f, e f 1}",
            },
            "fc1_experts_bias": {"quant_type=int": "e f", "else": "e ?"},
            "fc2_experts_weights": {
                "quant_type=int": {"rows": "e h ceil(i*bits2/8)", "columns": "e i ceil(h*bits2/8)"},
                "else": "e ? ?",
            },
            "fc2_scales": {
                "quant_type=int block_size>0": {"by_block": "e h ceil(i/@block_size)", "by_row": "e h"},
                "quant_type=int": "{e h, e h 1}",
            },
            "fc2_experts_bias": "e h",
            "fc3_experts_weights": "e ? ?",
            "fc3_experts_bias": "e ?",
            "fc1_zero_points": {
                "quant_type=int block_size>0": {
                    "by_block": "e f ceil(ceil(h/@block_size)*bits1/8)",
                    "by_row": "e ceil(f*bits1/8)",
                },
                "quant_type=int": "e ceil(f*bits1/8)",
            },
            "fc2_zero_points": {
                "quant_type=int block_size>0": {
                    "by_block": "e h ceil(ceil(i/@block_size)*bits2/8)",
                    "by_row": "e ceil(h*bits2/8)",
                },
                "quant_type=int": "e ceil(h*bits2/8)",
            },
            "router_weights": {"flat": "t e", "batched": "b*s e"},
        },
        check="contrib_transformers.check_weight_bits",
        advised={"quant_type": "one of int fp4 nvfp4 fp8 wfp4afp8", **_SWIGLU},
        outputs={"output": {"flat": "t h", "batched": "b s h"}},
    ),
    "RMSNormRotary": lambda: OperatorRecord(
        attributes={
            "input_start": "at least 0; needs input_width",
            "input_width": "at least 0",
            "rotary_embedding_dim": "at least 2; multiple of 2; at most w",
        },
        values={"flatten_batch": (0, 1), "use_fp32_arithmetic": (0, 1)},
        inputs={
            "X": {"input_width": "b s n ?", "else": "b s n w"},
            "scale": {"input_width": "w=@input_width", "else": "w"},
        },
        advised={
            "cosine": "m @rotary_embedding_dim/2",
            "sine": "m @rotary_embedding_dim/2",
            "epsilon": "at least 0; not nan inf",
        },
        outputs={
            "Y": {"flatten_batch": None, "else": "b s n*w"},
            "normalized_fp32": {"flatten_batch": None, "else": "b s n w"},
        },
    ),
    "RotaryEmbedding": lambda: OperatorRecord(
        attributes={
            "num_heads": f"at least 0; at most {MOST}",
            "rotary_embedding_dim": "at least 0; needs num_heads; at most d",
        },
        cases=("packed or by_head", "of_part or of_head"),
        where={
            "pairs": {
                "rotary_embedding_dim": {"of_part": "r=@rotary_embedding_dim//2", "of_head": "r=d//2"},
                "num_heads": "r=d//2",
                "else": {"packed": "r", "by_head": "r=d//2"},
            },
            "width": {"num_heads": "w=@num_heads*d", "rotary_embedding_dim": "w", "else": "w=?*2*r"},
        },
        inputs={
            "input": {"packed": "b s width", "by_head": "b n s d"},
            "position_ids": "{, b s}",
            "cos_cache": "m pairs",
            "sin_cache": "m pairs",
        },
        sizes={"m": "at least s if !is_packed_batching"},
        outputs={"output": {"packed": "b s w", "by_head": "b n s d"}},
        check="contrib_transformers.check_positions",
        reads=("position_ids",),
    ),
    "RouterGateUpProj": lambda: OperatorRecord(
        inputs={"X": "*rows k", "W": "k @router_size+2*i"},
        outputs={"router": "*rows @router_size", "activated": "*rows i"},
    ),
    "SkipLayerNormalization": lambda: OperatorRecord(
        attributes={"epsilon": "at least 0; not nan"},
        cases=("rows or texts",),
        inputs={
            "input": {"rows": "s h", "texts": "b s h"},
            "skip": {"rows": "s h", "texts": "{? s h, s h}"},
            "gamma": "h",
            "beta": "h",
            "bias": "h",
        },
        outputs={
            "output": {"rows": "s h", "texts": "b s h"},
            "mean": {"rows": "s 1", "texts": "b s 1"},
            "inv_std_var": {"rows": "s 1", "texts": "b s 1"},
            "input_skip_bias_sum": {"rows": "s h", "texts": "b s h"},
        },
    ),
    "SkipSimplifiedLayerNormalization": lambda: OperatorRecord(
        attributes={"epsilon": "at least 0; not nan"},
        cases=("rows or texts",),
        inputs={
            "input": {"rows": "s h", "texts": "b s h"},
            "skip": {"rows": "s h", "texts": "{? s h, s h}"},
            "gamma": "h",
            "bias": "h",
        },
        outputs={
            "output": {"rows": "s h", "texts": "b s h"},
            "mean": {"rows": "s 1", "texts": "b s 1"},
            "inv_std_var": {"rows": "s 1", "texts": "b s 1"},
            "input_skip_bias_sum": {"rows": "s h", "texts": "b s h"},
        },
    ),
    "SwiGLU": lambda: OperatorRecord(
        inputs={"gate": {"up": "*all", "else": "*rows 2*h"}},
        outputs={"output": {"up": "*all", "else": "*rows h"}},
    ),
}
