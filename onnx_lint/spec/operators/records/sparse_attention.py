# SPDX-License-Identifier: Apache-2.0
"""Attention to some tokens, to packed ones, and of few operators. Names are those of `attention`.

The texts are in the language of `records.grammar`, and the fields are those of `records.OperatorRecord`.
"""

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
_UPDATES_OF_KEYS_AND_VALUES: Final = f"{_UPDATES}*heads*key_size+{_UPDATES}*value_heads*value_size"
_NOT_WITH_QSA: Final = "not given if policy_mode=qsa"
_CACHE_TYPES: Final = ("", "float16", "bfloat16", "int8", "float8e4m3fn", "int4", "float4e2m1")
_QUANTIZED: Final = "one of NONE PER_TENSOR PER_CHANNEL"
_POLICY: Final = ("csa", "qsa")
_CSA: Final = "with csa needs index_topk key gate position_bias head_weights position_ids"
_EACH_HEAD: Final = "{heads, heads 1, 1 heads, ? ? ? *more}"
"""ONNX Runtime takes any form that has as many elements."""
RECORDS: Final[Mapping[str, Callable[[], OperatorRecord]]] = {
    "DecoderAttention": lambda: OperatorRecord(
        inputs={"key_cache": "? ? ? ?"},
        advised={
            "query": "length batch width",
            "key": "key_length batch width",
            "q_weight": "width width",
            "kv_weight": "width 2*width",
            "bias": "3*width",
            "key_padding_mask": "batch key_length",
            "key_cache": "batch @num_heads ? ?",
            "value_cache": "batch @num_heads ? ?",
            "static_kv": "",
            "use_past": "",
            "has_layer_state": "",
            "has_key_padding_mask": "",
        },
        outputs={
            "output": "length batch width",
            "new_key_cache": "batch @num_heads ? ?",
            "new_value_cache": "batch @num_heads ? ?",
        },
    ),
    "DecoderMaskedSelfAttention": lambda: OperatorRecord(
        attributes={"num_heads": "at least 1"},
        inputs={
            "input": "batch length input_width",
            "weights": "input_width width=(@num_heads*3)*head_size",
            "bias": "width=(@num_heads*3)*head_size",
            "past": "? ? ? ? ?",
        },
        advised={
            "input": "batch 1 input_width",
            "mask_index": "batch ?",
            "past": "2 batch @num_heads ? ?",
            "attention_bias": "1|batch 1|@num_heads 1 ?",
            "past_sequence_length": "",
            "beam_width": "",
            "cache_indirection": "batch ? ?",
        },
        outputs={
            "output": "batch length @num_heads*head_size",
            "present": {"past_present_share_buffer": None, "else": "2 batch @num_heads ? head_size"},
        },
    ),
    "DynamicSparseAttention": lambda: OperatorRecord(
        attributes={"kv_num_heads": "at least 1", "num_heads": "at least 1; multiple of kv_num_heads"},
        combinations=("NEEDS in:key in:value", "ADVISED NEEDS in:value in:key"),
        inputs={
            "query": {
                "value": "batch length @num_heads*head_size",
                "else": "batch length (@num_heads+2*@kv_num_heads)*head_size",
            }
        },
        outputs={
            "output": "batch length @num_heads*head_size",
            "present_key": "batch @kv_num_heads ? head_size",
            "present_value": "batch @kv_num_heads ? head_size",
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
        where={"tokens": {"rows": "total_length", "batched": "batch length"}},
        inputs={
            "query": {"split": "tokens heads key_size", "packed": "tokens ?"},
            "key": {"split": "tokens heads key_size!", "packed": "-"},
            "value": {"split": "tokens value_heads value_size!", "packed": "-"},
            "cu_seqlens": {"rows": "batch+1", "batched": "-"},
            "decay": {"packed": None, "by_head": "tokens value_heads", "by_number": "tokens value_heads key_size"},
            "beta": {"split": "tokens value_heads", "packed": None},
            # Nothing else says how many texts there are.
            "initial_state": {
                "split": {
                    "cu_seqlens": "batch value_heads value_size key_size",
                    "rows": "batch value_heads value_size key_size!",
                    "batched": "batch value_heads value_size key_size",
                },
                "packed": "batch value_heads value_size key_size!",
            },
            "a_log": "value_heads",
            "dt_bias": {
                "by_head": "value_heads",
                "by_number": "{value_heads, value_heads key_size, value_heads*key_size}",
            },
            "capture_count": "batch",
            "state_update_active": "1",
        },
        check="contrib_sparse_attention.check_packed_width",
        sizes={
            "batch": "at least 1",
            "value_heads": "multiple of heads",
            "total_length": "multiple of batch if !cu_seqlens",
        },
        contents={"cu_seqlens": "begins with 0; rises by 0; ends with total_length"},
        outputs={
            "output": "tokens value_heads value_size",
            "final_state": "batch value_heads value_size key_size",
            "state_update": {
                "decay by_number": f"batch {_UPDATES}*value_heads*key_size+{_UPDATES_OF_KEYS_AND_VALUES}",
                "else": f"batch {_UPDATES}*value_heads+{_UPDATES_OF_KEYS_AND_VALUES}",
            },
        },
    ),
    "GatedDeltaNetStateReplay": lambda: OperatorRecord(
        inputs={"source_backing": "?", "capsule_backing": "?", "destination_backing": "size", "metadata": "11"},
        outputs={"destination_out": "size"},
    ),
    "LinearAttentionGate": lambda: OperatorRecord(
        combinations=("NEEDS out:beta in:b",),
        inputs={"a": "*rows heads", "dt_bias": _EACH_HEAD, "decay_scale": _EACH_HEAD, "b": "*rows heads"},
        advised={"dt_bias": "heads", "decay_scale": "heads"},
        outputs={"decay": "*rows heads", "beta": "*rows heads"},
    ),
    "LongformerAttention": lambda: OperatorRecord(
        advised={
            "input": "batch length hidden",
            "weight": "hidden 3*hidden",
            "bias": "3*hidden",
            "mask": "batch length",
            "global_weight": "hidden 3*hidden",
            "global_bias": "3*hidden",
            "global": "batch length",
        },
        inputs={"input": "*all"},
        outputs={"output": "*all"},
    ),
    "PackedAttention": lambda: OperatorRecord(
        lists={"qkv_hidden_sizes": 3},
        inputs={"input": "tokens input_width", "weights": "input_width width", "bias": "width"},
        advised={
            "token_offset": "batch length",
            "cumulative_sequence_length": "batch+1",
            "attention_bias": "1|batch 1|@num_heads length length",
        },
        outputs={"output": {"qkv_hidden_sizes": "tokens @qkv_hidden_sizes.2", "else": "tokens width/3"}},
    ),
    "PackedMultiHeadAttention": lambda: OperatorRecord(
        combinations=("ADVISED TOGETHER in:key in:value",),
        cases=("split or packed",),
        inputs={"query": {"split": "? ?", "packed": "? ? ? ?"}, "key": None, "value": {"split": "? ?", "packed": None}},
        advised={
            "query": {"split": "tokens width=@num_heads*head_size", "packed": "tokens @num_heads 3 head_size"},
            "key": {"split": "tokens width!", "packed": "-"},
            "value": {"split": "tokens value_width=@num_heads*value_size!", "packed": "-"},
            "bias": {"split": "width+width+value_width", "packed": None},
            "token_offset": "batch length",
            "cumulative_sequence_length": "batch+1",
            "attention_bias": "1|batch 1|@num_heads length length",
        },
        outputs={"output": {"split": "tokens value_width", "packed": "tokens @num_heads*head_size"}},
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
            "query": "tokens query_width=?*head_size",
            "key": {"policy_mode=csa": "tokens 2*head_size!", "keys": "tokens head_size!", "no_keys": "-"},
            "query_norm_weight": "head_size",
            "key_norm_weight": "head_size",
            "cos_cache": "*table",
            "sin_cache": "*table",
            "cumulative_sequence_lengths": "batch+1",
            "past_sequence_lengths": "batch",
            "gate": {"policy_mode=csa": "tokens 2*head_size!", "else": "-"},
            "position_bias": {"policy_mode=csa": "@compress_ratio 2*head_size!", "else": "-"},
            "head_weights": {"policy_mode=csa": "tokens query_width/head_size!", "else": "-"},
            "position_ids": {"policy_mode=csa": "tokens!", "else": "-"},
            "past_key_state": "batch @state_capacity head_size",
            "past_kv_buffer": {
                "policy_mode=csa": "batch 2*@compress_ratio-1 2*head_size",
                "else": "batch 2*@compress_ratio-1 head_size",
            },
            "past_gate_buffer": {"policy_mode=csa": "batch 2*@compress_ratio-1 2*head_size!", "else": "-"},
            "past_state_lengths": "batch 2",
        },
        outputs={
            "selected_indices": {
                "policy_mode=csa": "tokens @index_topk",
                "else": "tokens @token_budget+@compress_ratio-1",
            },
            "selected_counts": "tokens",
            "present_key_state": "batch @state_capacity head_size",
            "present_kv_buffer": {
                "policy_mode=csa": "batch 2*@compress_ratio-1 2*head_size",
                "else": "batch 2*@compress_ratio-1 head_size",
            },
            "present_gate_buffer": {"policy_mode=csa": "batch 2*@compress_ratio-1 2*head_size"},
            "present_state_lengths": "batch 2",
            "state_update": "batch @state_update_capacity head_size",
            "indexshare_status": "tokens",
            "state_status": "batch",
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
            "base_indices": "base_rows ?",
            "base_counts": "base_rows",
            "base_row_indices": "row_count",
            "range_starts": {"policy_mode=append_range": "row_count!", "else": "-"},
            "range_ends": {"policy_mode=append_range": "row_count!", "else": "-"},
            "additional_indices": {"policy_mode=append_range": "-", "else": "row_count ?!"},
            "additional_counts": {"policy_mode=append_range": "-", "else": "row_count!"},
        },
        outputs={
            "selected_indices": "row_count @max_output_entries",
            "selected_counts": "row_count",
            "status": "row_count",
        },
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
            "query": {"key": "tokens width", "else": "tokens (@num_heads+2*@kv_num_heads)*head_size"},
            "key_cache": "blocks block_length cache_heads key_cache_size",
            "value_cache": "*values",
        },
        advised={
            "query": {
                "key": "tokens width=@num_heads*query_head_size",
                "else": "tokens (@num_heads+2*@kv_num_heads)*query_head_size",
            },
            "key": "tokens key_width=@kv_num_heads*query_head_size",
            "value": "tokens key_width",
            # Of types of 4 bits two numbers are in a byte.
            "key_cache": {
                "k_cache_dtype": "blocks block_length @kv_num_heads key_cache_size",
                "else": "blocks block_length @kv_num_heads key_cache_size=query_head_size",
            },
            "value_cache": {
                "v_cache_dtype": "blocks block_length @kv_num_heads value_cache_size",
                "else": "blocks block_length @kv_num_heads value_cache_size=query_head_size",
            },
            "cumulative_sequence_length": "batch+1",
            "past_seqlens": "batch",
            "block_table": "batch ?",
            "cos_cache": "positions rotary_width",
            "sin_cache": "positions rotary_width",
            "slot_mapping": "tokens",
            "head_sink": "@num_heads",
            "q_norm_weight": "query_head_size",
            "k_norm_weight": "query_head_size",
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
            "output": {
                "kv_cache_layout=LATENT": "tokens ?",
                "v_head_size": "tokens ?",
                "key": "tokens width",
                "else": "tokens @num_heads*head_size",
            },
            "key_cache_out": "blocks block_length cache_heads key_cache_size",
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
            "input": "batch length input_width",
            "scale_input": "",
            "scale_Q_gemm": "",
            "scale_K_gemm": "",
            "scale_V_gemm": "",
            "Q_weight": "input_width width=@num_heads*head_size",
            "K_weight": "input_width width",
            "V_weight": "input_width width",
            "scale_Q_weight": "{, width}",
            "scale_K_weight": "{, width}",
            "scale_V_weight": "{, width}",
            "Q_bias": "width",
            "K_bias": "width",
            "V_bias": "width",
            "scale_QKT_gemm": "",
            "scale_QKT_softmax": "",
            "scale_values_gemm": "",
            "past": "2 batch @num_heads past_length ?",
            "attention_bias": "1|batch 1|@num_heads length ?",
            "num_heads": "at least 1",
        },
        outputs={"output": {"qkv_hidden_sizes": "batch length ?", "else": "batch length width"}},
    ),
    "QOrderedLongformerAttention": lambda: OperatorRecord(
        scales="scale_input scale_weight scale_bias scale_qkv_gemm scale_global_weight scale_global_gemm scale_output",
        advised={
            "input": "batch length hidden",
            "scale_input": "",
            "weight": "hidden 3*hidden",
            "bias": "3*hidden",
            "mask": "batch length",
            "global_weight": "hidden 3*hidden",
            "global_bias": "3*hidden",
            "global": "batch length",
        },
        outputs={"output": "batch length hidden"},
    ),
    "SparseAttention": lambda: OperatorRecord(
        attributes={
            "do_rotary": "with 1 needs cos_cache sin_cache",
            "kv_num_heads": "at least 1",
            "num_heads": "at least 1; multiple of layouts",
            "sparse_block_size": "at least 1",
        },
        combinations=("TOGETHER in:key in:value",),
        inputs={
            "query": {
                "key": "batch length @num_heads*head_size",
                "else": "batch length (@num_heads+2*@kv_num_heads)*head_size",
            },
            "key": "batch length @kv_num_heads*head_size",
            "value": "batch length @kv_num_heads*head_size",
            "past_key": "batch @kv_num_heads cache_length head_size",
            "past_value": "batch @kv_num_heads cache_length head_size",
            "block_row_indices": "layouts blocks+1",
            "block_col_indices": "layouts nonzero",
            "total_sequence_length": "",
            "key_total_sequence_lengths": "batch",
            "cos_cache": {"do_rotary=1": "positions rotary_width", "else": None},
            "sin_cache": {"do_rotary=1": "positions rotary_width", "else": None},
        },
        sizes={
            "positions": "at least #total_sequence_length",
            "nonzero": "at most blocks*blocks",
            "rotary_width": "multiple of 8; at most head_size/2",
        },
        contents={
            "total_sequence_length": "at most blocks*@sparse_block_size",
            "key_total_sequence_lengths": "at least length; at most #total_sequence_length",
        },
        advised={"sparse_block_size": "one of 16 32 64 128"},
        check="contrib_sparse_attention.check_block_mask",
        reads=("block_row_indices", "block_col_indices"),
        outputs={
            "output": "batch length @num_heads*head_size",
            "present_key": "batch @kv_num_heads cache_length head_size",
            "present_value": "batch @kv_num_heads cache_length head_size",
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
            "query": "batch length ?*head_size",
            "key": {"policy_mode=csa": "? ? ?!", "else": "? ? ?"},
            "query_norm_weight": "head_size",
            "key_norm_weight": "?",
            "cos_cache": "? ? *cosines",
            "sin_cache": "? ? *sines",
            "mask": {"policy_mode=csa": "-", "else": "? ?"},
            "past_key": "? ? ?",
            "gate": {"policy_mode=csa": "? ? ?!", "else": "-"},
            "position_bias": {"policy_mode=csa": "? ?!", "else": "-"},
            "head_weights": {"policy_mode=csa": "? ? ?!", "else": "-"},
            "position_ids": {"policy_mode=csa": "? ?!", "else": "-"},
            "past_sequence_length": "?",
            "past_proj_buffer": {"policy_mode=csa": "2 batch buffer_length 2*head_size!", "else": "-"},
        },
        sizes={"buffer_length": "at most 2*@compress_ratio-1"},
        advised={
            "query": "batch length ?*head_size",
            "key": {"policy_mode=csa": "batch length 2*head_size!", "keys": "batch length head_size!", "no_keys": "-"},
            "key_norm_weight": "head_size",
            "cos_cache": "*table",
            "sin_cache": "*table",
            "mask": {"policy_mode=csa": "-", "else": "batch ?"},
            "past_key": "batch ? head_size",
            "gate": {"policy_mode=csa": "batch length 2*head_size!", "else": "-"},
            "position_bias": {"policy_mode=csa": "@compress_ratio 2*head_size!", "else": "-"},
            "head_weights": {"policy_mode=csa": "batch length ?!", "else": "-"},
            "position_ids": {"policy_mode=csa": "batch length!", "else": "-"},
        },
        outputs={
            "selected_indices": {
                "policy_mode=csa": "batch length @index_topk",
                "else": "batch length @token_budget+@compress_ratio-1",
            }
        },
    ),
    "SparsePagedAttention": lambda: OperatorRecord(
        inputs={
            "query": {"key": "tokens width", "else": "tokens (@num_heads+2*@kv_num_heads)*head_size"},
            "key_cache": "*keys",
            "value_cache": "*values",
        },
        outputs={
            "output": {"key": "tokens width", "else": "tokens @num_heads*head_size"},
            "key_cache_out": "*keys",
            "value_cache_out": "*values",
        },
    ),
}
