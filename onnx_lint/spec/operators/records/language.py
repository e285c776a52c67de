# SPDX-License-Identifier: Apache-2.0
"""Layers of language models besides attention: experts, positions and normalization.

The texts are in the language of `records.grammar`, and the fields are those of `records.OperatorRecord`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.spec.operators.records import EVERY_RELEASE, MOST, OperatorRecord

_BITS: Final = (2, 3, 4, 8)
_ACTIVATIONS: Final = ("relu", "gelu", "silu", "swiglu", "identity", "relu2", "geglu")

_FUSED: Final = {
    "activation_type=swiglu swiglu_fusion": "2*inner",
    "activation_type=geglu swiglu_fusion": "2*inner",
    "else": "inner",
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
            "X": {"num_branches": "*rows @num_branches*hidden", "else": "*rows branches hidden"},
            "scale": {
                "num_branches": "{hidden, @num_branches hidden, @num_branches*hidden}",
                "else": "{hidden, branches hidden, branches*hidden}",
            },
        },
        sizes={"branches": "at least 1", "hidden": "at least 1"},
        outputs={"Y": {"num_branches": "*rows @num_branches*hidden", "else": "*rows branches hidden"}},
    ),
    "EmbedLayerNormalization": lambda: OperatorRecord(
        attributes={"epsilon": "at least 0; not nan", "mask_index_type": "needs mask_index if mask_index_type>0"},
        defaults={"mask_index_type": 1},
        since={"mask_index_type=0 outputs=2": "1.32.0"},
        combinations=("NEEDS in:segment_ids in:segment_embedding",),
        inputs={
            "input_ids": "batch length",
            "segment_ids": "batch length",
            "word_embedding": "words hidden",
            "position_embedding": "places hidden",
            "segment_embedding": "segments hidden",
            "gamma": "hidden",
            "beta": "hidden",
            "mask": "batch length",
            "position_ids": "1|batch length",
        },
        sizes={"length": "at most places if !position_ids"},
        contents={
            "input_ids": "at least 0; below words",
            "segment_ids": "at least 0; below segments",
            "position_ids": "at least 0; below places",
        },
        outputs={"output": "batch length hidden", "mask_index": "batch", "embedding_sum": "batch length hidden"},
    ),
    "GatedAdd": lambda: OperatorRecord(
        inputs={"X": "*rows channels", "Y": "*rows channels", "gate": "*rows 1"},
        outputs={"output": "*rows channels"},
    ),
    "GatedRMSNorm": lambda: OperatorRecord(
        values={"activation": ("silu", "swish", "sigmoid")},
        inputs={"X": "*rows width", "scale": "{group_width, , ? ? *more}", "gate": "*rows width"},
        sizes={"width": "multiple of group_width"},
        outputs={"Y": "*rows width"},
    ),
    "GemmaRotaryEmbedding": lambda: OperatorRecord(
        inputs={"q": "*queries", "k": "*keys"},
        advised={
            "emb": "batch length head_size",
            "q": "batch heads length head_size",
            "q_rot": "batch heads length head_size",
            "k": "batch ? length head_size",
            "k_rot": "batch ? length head_size",
        },
        outputs={"output1": "*queries", "output2": "*keys"},
    ),
    "MRotaryEmbedding": lambda: OperatorRecord(
        lists={"mrope_section": 3},
        attributes={
            "mrope_section": "at least 0",
            "num_heads": f"at least 0; at most {MOST}",
            "rotary_embedding_dim": "at least 0; multiple of 2; needs num_heads",
        },
        values={"mrope_layout": (0, 1)},
        sizes={"head_size": "multiple of 2 if !rotary_embedding_dim"},
        cases=("packed or by_head",),
        where={"half": {"rotary_embedding_dim": "@rotary_embedding_dim/2", "else": "head_size/2"}},
        inputs={
            "input": {
                "num_heads": {"packed": "batch length @num_heads*head_size", "by_head": "batch heads length head_size"},
                "rotary_embedding_dim": "*all",
                "else": "batch heads length head_size",
            },
            "position_ids": "3 batch length",
            "cos_cache": "positions half",
            "sin_cache": "positions @mrope_section.0+@mrope_section.1+@mrope_section.2",
        },
        contents={"position_ids": "at least 0; below positions"},
        check="contrib_transformers.check_head_count",
        compared="an input of 3 dimensions requires `num_heads` above 0",
        outputs={
            "output": {
                "num_heads": {"packed": "batch length @num_heads*head_size", "by_head": "batch heads length head_size"},
                "rotary_embedding_dim": "*all",
                "else": "batch heads length head_size",
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
            "k": "at least 1; one of 2 if use_sparse_mixer=1; at most experts",
            "swiglu_limit": "at least 0 if activation_type=swiglu",
            "swiglu_fusion": "one of 0 1 2 if activation_type=swiglu",
        },
        defaults={"activation_type": "relu", "k": 1, "swiglu_fusion": 0},
        values={"activation_type": _ACTIVATIONS},
        # The documentation has the experts in rows; ONNX Runtime takes the columns of older exporters as well.
        cases=("rows or columns", "flat or batched"),
        where={"fused": _FUSED},
        inputs={
            "input": {"flat": "tokens hidden", "batched": "batch length hidden"},
            "router_probs": {"flat": "tokens experts", "batched": "batch*length experts"},
            "fc1_experts_weights": {"rows": "experts fused hidden", "columns": "experts hidden fused"},
            "fc1_experts_bias": "experts fused",
            "fc2_experts_weights": {"rows": "experts hidden inner", "columns": "experts inner hidden"},
            "fc2_experts_bias": "experts hidden",
            "fc3_experts_weights": {"rows": "experts inner hidden", "columns": "experts hidden inner"},
            "fc3_experts_bias": "experts inner",
        },
        advised=_SWIGLU,
        outputs={"output": {"flat": "tokens hidden", "batched": "batch length hidden"}},
    ),
    "MoEGroupRouter": lambda: OperatorRecord(
        attributes={
            "group_topk": "at least 1",
            "n_group": "at least 1",
            "top_k": "at least 1; at most experts",
            "topk_group": "at least 1; at most n_group",
        },
        defaults={"n_group": 1},
        combinations=(
            "TOGETHER out:selection_scores out:router_weights",
            "AT_MOST_ONE out:router_probs out:selection_scores+out:router_weights",
        ),
        sizes={"experts": "multiple of @n_group"},
        # ONNX Runtime takes a bias in any form that has as many elements.
        cases=("many or one", "flat or batched or nested"),
        where={
            "tokens": {"flat": "flat_tokens", "batched": "batch length", "nested": "? ? ? *rows"},
            "total": {"projection_weight or flat": "flat_tokens", "batched": "batch*length", "nested": "?"},
        },
        inputs={
            "logits": {
                "projection_weight": "flat_tokens 256*width",
                "many": "tokens experts",
                "one": "tokens experts=1",
            },
            "expert_bias": {
                "projection_weight": "experts",
                "many": "{experts, experts 1, 1 experts, ? ? ? *more}",
                "one": "",
            },
            "projection_weight": "experts 256*width",
        },
        advised={
            "expert_bias": "experts",
        },
        outputs={
            "router_probs": "total experts",
            "selection_scores": "total experts",
            "router_weights": "total experts",
        },
    ),
    "MoEPacked": lambda: OperatorRecord(
        inputs={"input": "*all"},
        advised={
            "input": "*rows hidden",
            "router_probs": "? experts",
            "gate_experts_weights": "experts inner ?",
            "up_experts_weights": "experts inner ?",
            "down_experts_weights": "experts hidden ?",
            "router_weights": "? experts",
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
            "k": "at least 1; one of 2 if use_sparse_mixer=1; at most experts",
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
            "fused": _FUSED,
            "bits1": {"fc1_expert_weight_bits": "@fc1_expert_weight_bits", "else": "@expert_weight_bits"},
            "bits2": {"fc2_expert_weight_bits": "@fc2_expert_weight_bits", "else": "@expert_weight_bits"},
        },
        inputs={
            "input": {"flat": "tokens hidden", "batched": "batch length hidden"},
            "router_probs": {"flat": "tokens experts", "batched": "batch*length experts"},
            "fc1_experts_weights": {
                "quant_type=int": {
                    "rows": "experts fused ceil(hidden*bits1/8)",
                    "columns": "experts hidden ceil(fused*bits1/8)",
                },
                "else": "experts ? ?",
            },
            "fc1_scales": {
                "quant_type=int block_size>0": {
                    "by_block": "experts fused ceil(hidden/@block_size)",
                    "by_row": "experts fused",
                },
                "quant_type=int": "{experts fused, experts fused 1}",
            },
            "fc1_experts_bias": {"quant_type=int": "experts fused", "else": "experts ?"},
            "fc2_experts_weights": {
                "quant_type=int": {
                    "rows": "experts hidden ceil(inner*bits2/8)",
                    "columns": "experts inner ceil(hidden*bits2/8)",
                },
                "else": "experts ? ?",
            },
            "fc2_scales": {
                "quant_type=int block_size>0": {
                    "by_block": "experts hidden ceil(inner/@block_size)",
                    "by_row": "experts hidden",
                },
                "quant_type=int": "{experts hidden, experts hidden 1}",
            },
            "fc2_experts_bias": "experts hidden",
            "fc3_experts_weights": "experts ? ?",
            "fc3_experts_bias": "experts ?",
            "fc1_zero_points": {
                "quant_type=int block_size>0": {
                    "by_block": "experts fused ceil(ceil(hidden/@block_size)*bits1/8)",
                    "by_row": "experts ceil(fused*bits1/8)",
                },
                "quant_type=int": "experts ceil(fused*bits1/8)",
            },
            "fc2_zero_points": {
                "quant_type=int block_size>0": {
                    "by_block": "experts hidden ceil(ceil(inner/@block_size)*bits2/8)",
                    "by_row": "experts ceil(hidden*bits2/8)",
                },
                "quant_type=int": "experts ceil(hidden*bits2/8)",
            },
            "router_weights": {"flat": "tokens experts", "batched": "batch*length experts"},
        },
        check="contrib_transformers.check_weight_bits",
        advised={"quant_type": "one of int fp4 nvfp4 fp8 wfp4afp8", **_SWIGLU},
        outputs={"output": {"flat": "tokens hidden", "batched": "batch length hidden"}},
    ),
    "RMSNormRotary": lambda: OperatorRecord(
        attributes={
            "input_start": "at least 0; needs input_width",
            "input_width": "at least 0",
            "rotary_embedding_dim": "at least 2; multiple of 2; at most head_size",
        },
        values={"flatten_batch": (0, 1), "use_fp32_arithmetic": (0, 1)},
        inputs={
            "X": {"input_width": "batch length heads ?", "else": "batch length heads head_size"},
            "scale": {"input_width": "head_size=@input_width", "else": "head_size"},
        },
        advised={
            "cosine": "positions @rotary_embedding_dim/2",
            "sine": "positions @rotary_embedding_dim/2",
            "epsilon": "at least 0; not nan inf",
        },
        outputs={
            "Y": {"flatten_batch": None, "else": "batch length heads*head_size"},
            "normalized_fp32": {"flatten_batch": None, "else": "batch length heads head_size"},
        },
    ),
    "RotaryEmbedding": lambda: OperatorRecord(
        attributes={
            "num_heads": f"at least 0; at most {MOST}",
            "rotary_embedding_dim": "at least 0; needs num_heads; at most head_size",
        },
        cases=("packed or by_head", "of_part or of_head"),
        where={
            "pairs": {
                "rotary_embedding_dim": {
                    "of_part": "rotary_pairs=@rotary_embedding_dim//2",
                    "of_head": "rotary_pairs=head_size//2",
                },
                "num_heads": "rotary_pairs=head_size//2",
                "else": {"packed": "rotary_pairs", "by_head": "rotary_pairs=head_size//2"},
            },
            "width": {
                "num_heads": "packed_width=@num_heads*head_size",
                "rotary_embedding_dim": "packed_width",
                "else": "packed_width=?*2*rotary_pairs",
            },
        },
        inputs={
            "input": {"packed": "batch length width", "by_head": "batch heads length head_size"},
            "position_ids": "{, batch length}",
            "cos_cache": "positions pairs",
            "sin_cache": "positions pairs",
        },
        sizes={"positions": "at least length if !is_packed_batching"},
        outputs={"output": {"packed": "batch length packed_width", "by_head": "batch heads length head_size"}},
        check="contrib_transformers.check_positions",
        reads=("position_ids",),
    ),
    "RouterGateUpProj": lambda: OperatorRecord(
        inputs={"X": "*rows hidden", "W": "hidden @router_size+2*inner"},
        outputs={"router": "*rows @router_size", "activated": "*rows inner"},
    ),
    "SkipLayerNormalization": lambda: OperatorRecord(
        attributes={"epsilon": "at least 0; not nan"},
        cases=("rows or texts",),
        inputs={
            "input": {"rows": "length hidden", "texts": "batch length hidden"},
            "skip": {"rows": "length hidden", "texts": "{? length hidden, length hidden}"},
            "gamma": "hidden",
            "beta": "hidden",
            "bias": "hidden",
        },
        outputs={
            "output": {"rows": "length hidden", "texts": "batch length hidden"},
            "mean": {"rows": "length 1", "texts": "batch length 1"},
            "inv_std_var": {"rows": "length 1", "texts": "batch length 1"},
            "input_skip_bias_sum": {"rows": "length hidden", "texts": "batch length hidden"},
        },
    ),
    "SkipSimplifiedLayerNormalization": lambda: OperatorRecord(
        attributes={"epsilon": "at least 0; not nan"},
        cases=("rows or texts",),
        inputs={
            "input": {"rows": "length hidden", "texts": "batch length hidden"},
            "skip": {"rows": "length hidden", "texts": "{? length hidden, length hidden}"},
            "gamma": "hidden",
            "bias": "hidden",
        },
        outputs={
            "output": {"rows": "length hidden", "texts": "batch length hidden"},
            "mean": {"rows": "length 1", "texts": "batch length 1"},
            "inv_std_var": {"rows": "length 1", "texts": "batch length 1"},
            "input_skip_bias_sum": {"rows": "length hidden", "texts": "batch length hidden"},
        },
    ),
    "SwiGLU": lambda: OperatorRecord(
        inputs={"gate": {"up": "*all", "else": "*rows 2*width"}},
        outputs={"output": {"up": "*all", "else": "*rows width"}},
    ),
}
