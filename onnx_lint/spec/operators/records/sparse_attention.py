# SPDX-License-Identifier: Apache-2.0
"""Attention to some tokens, to packed ones, and of few operators. Names are those of `attention`; all tokens are t."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.spec.operators.records import MOST, ORDERS, OperatorRecord

_RULES: Final = (
    "with linear excludes decay beta; with gated needs decay; with gated excludes beta; with delta needs beta; "
    "with delta excludes decay; with gated_delta needs decay beta"
)
_ACTIVATED: Final = ("softplus", "qwen", "sigmoid", "kda")
_GATE_INPUTS: Final = "a_log dt_bias"
_GATES: Final = "; ".join(
    [f"with none excludes {_GATE_INPUTS}", *[f"with {each} needs {_GATE_INPUTS}" for each in _ACTIVATED]]
)
_UPDATES: Final = "@state_update_capacity"
_NOT_WITH_QSA: Final = "not given if policy_mode=qsa"
_CACHE_TYPES: Final = ("", "float16", "bfloat16", "int8", "float8e4m3fn", "int4", "float4e2m1")
_QUANTIZED: Final = "one of NONE PER_TENSOR PER_CHANNEL"
_POLICY: Final = ("csa", "qsa")
_CSA: Final = "with csa needs index_topk key gate position_bias head_weights position_ids"
_EACH_HEAD: Final = "{h, h 1, 1 h, ? ? ? *more}"
"""ONNX Runtime takes any form that has as many elements."""
RECORDS: Final[Mapping[str, Callable[[], OperatorRecord]]] = {
    "DecoderAttention": lambda: OperatorRecord(
        inputs={"key_cache": "? ? ? ?"},
        advised={
            "query": "s b w",
            "key": "t b w",
            "q_weight": "w w",
            "kv_weight": "w 2*w",
            "bias": "3*w",
            "key_padding_mask": "b t",
            "key_cache": "b @num_heads ? ?",
            "value_cache": "b @num_heads ? ?",
            "static_kv": "",
            "use_past": "",
            "has_layer_state": "",
            "has_key_padding_mask": "",
        },
        outputs={"output": "s b w", "new_key_cache": "b @num_heads ? ?", "new_value_cache": "b @num_heads ? ?"},
    ),
    "DecoderMaskedSelfAttention": lambda: OperatorRecord(
        attributes={"num_heads": "at least 1"},
        inputs={
            "input": "b s i",
            "weights": "i w=(@num_heads*3)*d",
            "bias": "w=(@num_heads*3)*d",
            "past": "? ? ? ? ?",
        },
        advised={
            "input": "b 1 i",
            "mask_index": "b ?",
            "past": "2 b @num_heads ? ?",
            "attention_bias": "1|b 1|@num_heads 1 ?",
            "past_sequence_length": "",
            "beam_width": "",
            "cache_indirection": "b ? ?",
        },
        outputs={
            "output": "b s @num_heads*d",
            "present": {"past_present_share_buffer": None, "else": "2 b @num_heads ? d"},
        },
    ),
    "DynamicSparseAttention": lambda: OperatorRecord(
        attributes={"kv_num_heads": "at least 1", "num_heads": "at least 1; multiple of kv_num_heads"},
        combinations=("NEEDS in:key in:value", "ADVISED NEEDS in:value in:key"),
        inputs={"query": {"value": "b s @num_heads*d", "else": "b s (@num_heads+2*@kv_num_heads)*d"}},
        outputs={
            "output": "b s @num_heads*d",
            "present_key": "b @kv_num_heads ? d",
            "present_value": "b @kv_num_heads ? d",
        },
    ),
    "GatedDeltaNet": lambda: OperatorRecord(
        attributes={
            "chunk_size": f"at least 1; at most {MOST}",
            "gate_activation": _GATES,
            "gate_lower_bound": "below 0; not nan inf",
            "state_update_capacity": "at least 0; at most 8; needs capture_count; at least 1 if capture_count",
            "update_rule": _RULES,
        },
        defaults={"gate_activation": "none", "state_update_capacity": 0, "update_rule": "gated_delta"},
        values={
            "beta_activation": ("none", "sigmoid"),
            "gate_activation": ("none", "softplus", "qwen", "sigmoid", "kda"),
            "update_rule": ("linear", "gated", "delta", "gated_delta"),
        },
        combinations=(
            "TOGETHER in:key in:value",
            "SOME in:key in:initial_state",
        ),
        cases=("split or packed", "rows or batched", "by_head or by_number"),
        where={"tokens": {"rows": "t", "batched": "b s"}},
        inputs={
            "query": {"split": "tokens h d", "packed": "tokens ?"},
            "key": {"split": "tokens h d!", "packed": "-"},
            "value": {"split": "tokens g v!", "packed": "-"},
            "cu_seqlens": {"rows": "b+1", "batched": "-"},
            "decay": {"packed": None, "by_head": "tokens g", "by_number": "tokens g d"},
            "beta": {"split": "tokens g", "packed": None},
            # Nothing else says how many texts there are.
            "initial_state": {
                "split": {"cu_seqlens": "b g v d", "rows": "b g v d!", "batched": "b g v d"},
                "packed": "b g v d!",
            },
            "a_log": "g",
            "dt_bias": {"by_head": "g", "by_number": "{g, g d, g*d}"},
            "capture_count": "b",
            "state_update_active": "1",
        },
        check="contrib_sparse_attention.check_packed_width",
        sizes={"b": "at least 1", "g": "multiple of h", "t": "multiple of b if !cu_seqlens"},
        contents={"cu_seqlens": "begins with 0; rises by 0; ends with t"},
        outputs={
            "output": "tokens g v",
            "final_state": "b g v d",
            "state_update": {
                "decay by_number": f"b {_UPDATES}*g*d+{_UPDATES}*h*d+{_UPDATES}*g*v",
                "else": f"b {_UPDATES}*g+{_UPDATES}*h*d+{_UPDATES}*g*v",
            },
        },
    ),
    "GatedDeltaNetStateReplay": lambda: OperatorRecord(
        inputs={"source_backing": "?", "capsule_backing": "?", "destination_backing": "n", "metadata": "11"},
        outputs={"destination_out": "n"},
    ),
    "LinearAttentionGate": lambda: OperatorRecord(
        combinations=("NEEDS out:beta in:b",),
        inputs={"a": "*rows h", "dt_bias": _EACH_HEAD, "decay_scale": _EACH_HEAD, "b": "*rows h"},
        advised={"dt_bias": "h", "decay_scale": "h"},
        outputs={"decay": "*rows h", "beta": "*rows h"},
    ),
    "LongformerAttention": lambda: OperatorRecord(
        advised={
            "input": "b s h",
            "weight": "h 3*h",
            "bias": "3*h",
            "mask": "b s",
            "global_weight": "h 3*h",
            "global_bias": "3*h",
            "global": "b s",
        },
        inputs={"input": "*all"},
        outputs={"output": "*all"},
    ),
    "PackedAttention": lambda: OperatorRecord(
        lists={"qkv_hidden_sizes": 3},
        inputs={"input": "t i", "weights": "i w", "bias": "w"},
        advised={
            "token_offset": "b s",
            "cumulative_sequence_length": "b+1",
            "attention_bias": "1|b 1|@num_heads s s",
        },
        outputs={"output": {"qkv_hidden_sizes": "t @qkv_hidden_sizes.2", "else": "t w/3"}},
    ),
    "PackedMultiHeadAttention": lambda: OperatorRecord(
        combinations=("ADVISED TOGETHER in:key in:value",),
        cases=("split or packed",),
        inputs={"query": {"split": "? ?", "packed": "? ? ? ?"}, "key": None, "value": {"split": "? ?", "packed": None}},
        advised={
            "query": {"split": "t h=@num_heads*d", "packed": "t @num_heads 3 d"},
            "key": {"split": "t h!", "packed": "-"},
            "value": {"split": "t w=@num_heads*v!", "packed": "-"},
            "bias": {"split": "h+h+w", "packed": None},
            "token_offset": "b s",
            "cumulative_sequence_length": "b+1",
            "attention_bias": "1|b 1|@num_heads s s",
        },
        outputs={"output": {"split": "t w", "packed": "t @num_heads*d"}},
    ),
    "PackedSparseAttentionIndexer": lambda: OperatorRecord(
        attributes={
            "compress_ratio": f"at least 1; at most {MOST}",
            "head_weight_scale": _NOT_WITH_QSA,
            "index_topk": f"at least 1; at most {MOST}; {_NOT_WITH_QSA}",
            "max_output_entries": "at least 1 if indexshare_mode; needs indexshare_mode",
            "policy_mode": f"{_CSA} past_gate_buffer; with qsa needs token_budget",
            "state_capacity": "at least 1",
            "state_update_capacity": "at least 0; at most 8; one of 0 if policy_mode=csa",
            "token_budget": f"at least 1; at most {MOST}; multiple of compress_ratio; one of 0 if policy_mode=csa",
        },
        defaults={"max_output_entries": 0},
        values={"indexshare_state_policy": ("advance", "default", "hold"), "policy_mode": _POLICY},
        combinations=(
            "TOGETHER in:indexshare_mode in:merged_indices in:merged_counts in:merged_status out:indexshare_status",
        ),
        cases=("keys or no_keys",),
        inputs={
            "query": "t q=?*d",
            "key": {"policy_mode=csa": "t 2*d!", "keys": "t d!", "no_keys": "-"},
            "query_norm_weight": "d",
            "key_norm_weight": "d",
            "cos_cache": "*table",
            "sin_cache": "*table",
            "cumulative_sequence_lengths": "b+1",
            "past_sequence_lengths": "b",
            "gate": {"policy_mode=csa": "t 2*d!", "else": "-"},
            "position_bias": {"policy_mode=csa": "@compress_ratio 2*d!", "else": "-"},
            "head_weights": {"policy_mode=csa": "t q/d!", "else": "-"},
            "position_ids": {"policy_mode=csa": "t!", "else": "-"},
            "past_key_state": "b @state_capacity d",
            "past_kv_buffer": {
                "policy_mode=csa": "b 2*@compress_ratio-1 2*d",
                "else": "b 2*@compress_ratio-1 d",
            },
            "past_gate_buffer": {"policy_mode=csa": "b 2*@compress_ratio-1 2*d!", "else": "-"},
            "past_state_lengths": "b 2",
        },
        outputs={
            "selected_indices": {
                "policy_mode=csa": "t @index_topk",
                "else": "t @token_budget+@compress_ratio-1",
            },
            "selected_counts": "t",
            "present_key_state": "b @state_capacity d",
            "present_kv_buffer": {
                "policy_mode=csa": "b 2*@compress_ratio-1 2*d",
                "else": "b 2*@compress_ratio-1 d",
            },
            "present_gate_buffer": {"policy_mode=csa": "b 2*@compress_ratio-1 2*d"},
            "present_state_lengths": "b 2",
            "state_update": "b @state_update_capacity d",
            "indexshare_status": "t",
            "state_status": "b",
        },
    ),
    "PackedSparseAttentionIndexerMerge": lambda: OperatorRecord(
        attributes={
            "max_output_entries": f"at least 1; at most {MOST}",
            "policy_mode": (
                "with append_range needs range_starts range_ends; "
                "with append_indices needs additional_indices additional_counts"
            ),
        },
        values={"policy_mode": ("append_indices", "append_range")},
        inputs={
            "base_indices": "r ?",
            "base_counts": "r",
            "base_row_indices": "n",
            "range_starts": {"policy_mode=append_range": "n!", "else": "-"},
            "range_ends": {"policy_mode=append_range": "n!", "else": "-"},
            "additional_indices": {"policy_mode=append_range": "-", "else": "n ?!"},
            "additional_counts": {"policy_mode=append_range": "-", "else": "n!"},
        },
        outputs={"selected_indices": "n @max_output_entries", "selected_counts": "n", "status": "n"},
    ),
    "PagedAttention": lambda: OperatorRecord(
        attributes={"kv_cache_layout": "with LATENT excludes value_cache_out"},
        defaults={"kv_cache_layout": "SEPARATE"},
        values={"kv_cache_layout": ("LATENT", "SEPARATE")},
        flags={"k_cache_dtype": _CACHE_TYPES, "v_cache_dtype": _CACHE_TYPES},
        combinations=(
            "NEEDS out:value_cache_out in:value_cache",
            "ADVISED TOGETHER in:q_norm_weight in:k_norm_weight",
        ),
        inputs={
            "query": {"key": "t w", "else": "t (@num_heads+2*@kv_num_heads)*d"},
            "key_cache": "n p g k",
            "value_cache": "*values",
        },
        advised={
            "query": {"key": "t w=@num_heads*e", "else": "t (@num_heads+2*@kv_num_heads)*e"},
            "key": "t u=@kv_num_heads*e",
            "value": "t u",
            # Of types of 4 bits two numbers are in a byte.
            "key_cache": {"k_cache_dtype": "n p @kv_num_heads k", "else": "n p @kv_num_heads k=e"},
            "value_cache": {"v_cache_dtype": "n p @kv_num_heads v", "else": "n p @kv_num_heads v=e"},
            "cumulative_sequence_length": "b+1",
            "past_seqlens": "b",
            "block_table": "b ?",
            "cos_cache": "m r",
            "sin_cache": "m r",
            "slot_mapping": "t",
            "head_sink": "@num_heads",
            "q_norm_weight": "e",
            "k_norm_weight": "e",
            "attention_metadata": "{2, 3}",
            "do_rotary": "with 1 needs cos_cache sin_cache",
            "k_quant_type": f"{_QUANTIZED}; with PER_TENSOR needs k_scale; with PER_CHANNEL needs k_scale",
            "kv_cache_layout": "with LATENT excludes value value_cache; with SEPARATE needs value if key",
            "kv_num_heads": "one of 1 if kv_cache_layout=LATENT",
            "num_heads": "multiple of kv_num_heads",
            "rotary_offset": "at least 0; multiple of 8",
            "v_head_size": "one of 0 if !kv_cache_layout=LATENT",
            "v_quant_type": f"{_QUANTIZED}; with PER_TENSOR needs v_scale; with PER_CHANNEL needs v_scale",
        },
        outputs={
            "output": {"kv_cache_layout=LATENT": "t ?", "v_head_size": "t ?", "key": "t w", "else": "t @num_heads*d"},
            "key_cache_out": "n p g k",
            "value_cache_out": "*values",
        },
    ),
    "QOrderedAttention": lambda: OperatorRecord(
        flags={"order_input": ORDERS, "order_output": ORDERS, "order_weight": ORDERS},
        scales=(
            "scale_input scale_Q_gemm scale_K_gemm scale_V_gemm scale_Q_weight "
            "scale_K_weight scale_V_weight scale_QKT_gemm scale_QKT_softmax scale_values_gemm"
        ),
        advised={
            "input": "b s i",
            "scale_input": "",
            "scale_Q_gemm": "",
            "scale_K_gemm": "",
            "scale_V_gemm": "",
            "Q_weight": "i h=@num_heads*d",
            "K_weight": "i h",
            "V_weight": "i h",
            "scale_Q_weight": "{, h}",
            "scale_K_weight": "{, h}",
            "scale_V_weight": "{, h}",
            "Q_bias": "h",
            "K_bias": "h",
            "V_bias": "h",
            "scale_QKT_gemm": "",
            "scale_QKT_softmax": "",
            "scale_values_gemm": "",
            "past": "2 b @num_heads p ?",
            "attention_bias": "1|b 1|@num_heads s ?",
            "num_heads": "at least 1",
        },
        outputs={"output": {"qkv_hidden_sizes": "b s ?", "else": "b s h"}},
    ),
    "QOrderedLongformerAttention": lambda: OperatorRecord(
        scales="scale_input scale_weight scale_bias scale_qkv_gemm scale_global_weight scale_global_gemm scale_output",
        advised={
            "input": "b s h",
            "scale_input": "",
            "weight": "h 3*h",
            "bias": "3*h",
            "mask": "b s",
            "global_weight": "h 3*h",
            "global_bias": "3*h",
            "global": "b s",
        },
        outputs={"output": "b s h"},
    ),
    "SparseAttention": lambda: OperatorRecord(
        attributes={
            "do_rotary": "with 1 needs cos_cache sin_cache",
            "kv_num_heads": "at least 1",
            "num_heads": "at least 1; multiple of l",
            "sparse_block_size": "at least 1",
        },
        combinations=("TOGETHER in:key in:value",),
        inputs={
            "query": {"key": "b s @num_heads*d", "else": "b s (@num_heads+2*@kv_num_heads)*d"},
            "key": "b s @kv_num_heads*d",
            "value": "b s @kv_num_heads*d",
            "past_key": "b @kv_num_heads c d",
            "past_value": "b @kv_num_heads c d",
            "block_row_indices": "l blocks+1",
            "block_col_indices": "l nonzero",
            "total_sequence_length": "",
            "key_total_sequence_lengths": "b",
            "cos_cache": {"do_rotary=1": "m r", "else": None},
            "sin_cache": {"do_rotary=1": "m r", "else": None},
        },
        sizes={
            "m": "at least #total_sequence_length",
            "nonzero": "at most blocks*blocks",
            "r": "multiple of 8; at most d/2",
        },
        contents={
            "total_sequence_length": "at most blocks*@sparse_block_size",
            "key_total_sequence_lengths": "at least s; at most #total_sequence_length",
        },
        advised={"sparse_block_size": "one of 16 32 64 128"},
        check="contrib_sparse_attention.check_block_mask",
        reads=("block_row_indices", "block_col_indices"),
        outputs={
            "output": "b s @num_heads*d",
            "present_key": "b @kv_num_heads c d",
            "present_value": "b @kv_num_heads c d",
        },
    ),
    "SparseAttentionIndexer": lambda: OperatorRecord(
        attributes={
            "compress_ratio": f"at least 1; at most {MOST}",
            "head_weight_scale": _NOT_WITH_QSA,
            "index_topk": f"at least 1; at most {MOST}; {_NOT_WITH_QSA}",
            "policy_mode": f"{_CSA} past_proj_buffer; with qsa needs token_budget",
            "token_budget": f"at least 1; at most {MOST}; multiple of compress_ratio; one of 0 if policy_mode=csa",
        },
        values={"policy_mode": _POLICY},
        cases=("keys or no_keys",),
        inputs={
            "query": "b s ?*d",
            "key": {"policy_mode=csa": "? ? ?!", "else": "? ? ?"},
            "query_norm_weight": "d",
            "key_norm_weight": "?",
            "cos_cache": "? ? *c",
            "sin_cache": "? ? *s",
            "mask": {"policy_mode=csa": "-", "else": "? ?"},
            "past_key": "? ? ?",
            "gate": {"policy_mode=csa": "? ? ?!", "else": "-"},
            "position_bias": {"policy_mode=csa": "? ?!", "else": "-"},
            "head_weights": {"policy_mode=csa": "? ? ?!", "else": "-"},
            "position_ids": {"policy_mode=csa": "? ?!", "else": "-"},
            "past_sequence_length": "?",
            "past_proj_buffer": {"policy_mode=csa": "2 b p 2*d!", "else": "-"},
        },
        sizes={"p": "at most 2*@compress_ratio-1"},
        advised={
            "query": "b s ?*d",
            "key": {"policy_mode=csa": "b s 2*d!", "keys": "b s d!", "no_keys": "-"},
            "key_norm_weight": "d",
            "cos_cache": "*table",
            "sin_cache": "*table",
            "mask": {"policy_mode=csa": "-", "else": "b ?"},
            "past_key": "b ? d",
            "gate": {"policy_mode=csa": "b s 2*d!", "else": "-"},
            "position_bias": {"policy_mode=csa": "@compress_ratio 2*d!", "else": "-"},
            "head_weights": {"policy_mode=csa": "b s ?!", "else": "-"},
            "position_ids": {"policy_mode=csa": "b s!", "else": "-"},
        },
        outputs={
            "selected_indices": {
                "policy_mode=csa": "b s @index_topk",
                "else": "b s @token_budget+@compress_ratio-1",
            }
        },
    ),
    "SparsePagedAttention": lambda: OperatorRecord(
        inputs={
            "query": {"key": "t w", "else": "t (@num_heads+2*@kv_num_heads)*d"},
            "key_cache": "*keys",
            "value_cache": "*values",
        },
        outputs={
            "output": {"key": "t w", "else": "t @num_heads*d"},
            "key_cache_out": "*keys",
            "value_cache_out": "*values",
        },
    ),
}
