# SPDX-License-Identifier: Apache-2.0
"""Attention. Batches are b, new tokens s, other tokens t, cached ones p, sizes of heads d and v; all tokens one behind
the other are t.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onnx_lint.spec.operators.records import PACKED, RECENT, OperatorRecord

_WIDTHS: Final = "@qkv_hidden_sizes.0+@qkv_hidden_sizes.1+@qkv_hidden_sizes.2"
_RULES: Final = "with gated needs decay; with delta needs beta; with gated_delta needs decay beta"
_POLICY: Final = "csa qsa"
_QUANTIZED_CACHE: Final = "one of NONE PER_TENSOR PER_CHANNEL"

RECORDS: Final[Mapping[str, OperatorRecord]] = {
    "Attention": OperatorRecord(
        attributes={
            "num_heads": "at least 1",
            "qkv_hidden_sizes": "at least 1; multiple of num_heads",
        },
        inputs={
            "input": "b s i",
            "weights": {"qkv_hidden_sizes": f"i w={_WIDTHS}", "else": "i w=(@num_heads*3)*d"},
            "bias": {"qkv_hidden_sizes": f"w={_WIDTHS}", "else": "w=(@num_heads*3)*d"},
            "mask_index": None,  # `fits_mask`
            "past": {
                "past_present_share_buffer": "? ? ? ? ?",
                "qkv_hidden_sizes": "2 b @num_heads p @qkv_hidden_sizes.1/@num_heads",
                "else": "2 b @num_heads p d",
            },
            "attention_bias": {"past_present_share_buffer": None, "else": "1|b 1|@num_heads s p+s"},
            "past_sequence_length": {"past_present_share_buffer": None, "else": "-"},
        },
        outputs={
            "output": {"qkv_hidden_sizes": "b s @qkv_hidden_sizes.2", "else": "b s @num_heads*d"},
            "present": {
                "past_present_share_buffer": None,
                "qkv_hidden_sizes": "2 b @num_heads p+s @qkv_hidden_sizes.1/@num_heads",
                "else": "2 b @num_heads p+s d",
            },
        },
        computed="contrib_attention.fits_mask",
    ),
    "DecoderAttention": OperatorRecord(
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
    "DecoderMaskedMultiHeadAttention": OperatorRecord(
        attributes={"num_heads": "at least 1"},
        combinations=("NEEDS in:value in:key",),
        cases=("apart or by_head or packed_keys or packed",),
        inputs={
            "query": {"packed": "b 1 @num_heads 3 d", "else": "b 1 w=@num_heads*d"},
            "key": {
                "apart": "b t w=@num_heads*d!",
                "by_head": "b @num_heads t d!",
                "packed_keys": "b t @num_heads 2 d!",
                "packed": "-",
            },
            "value": {"apart": "b t v!", "by_head": "b @num_heads t d!", "else": "-"},
        },
        outputs={"output": {"apart": "b 1 v", "else": "b 1 @num_heads*d"}},
    ),
    "DecoderMaskedSelfAttention": OperatorRecord(
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
    "DynamicSparseAttention": OperatorRecord(
        combinations=("ADVISED TOGETHER in:key in:value",),
        inputs={"query": {"key": "? ? ?", "else": "? ? (@num_heads+2*@kv_num_heads)*d"}},
        unknown=PACKED,
    ),
    "GatedDeltaNet": OperatorRecord(
        attributes={"update_rule": _RULES},
        defaults={"update_rule": "gated_delta"},
        combinations=("TOGETHER in:key in:value", "SOME in:key in:initial_state"),
        cases=("apart or packed", "rows or batched"),
        where={"tokens": {"rows": "t", "batched": "b t"}},
        inputs={
            "query": {"apart": "tokens h d", "packed": {"rows": "? ?", "batched": "? ? ?"}},
            "key": {"apart": "tokens h d!", "packed": "-"},
            "value": {"apart": "tokens g v!", "packed": "-"},
            "cu_seqlens": None,
            "decay": {"apart": "tokens {g, g d}", "packed": None},
            "beta": {"apart": "tokens g", "packed": None},
            "initial_state": {"apart": "b g v d", "packed": "? ? ? ?!"},
        },
        unknown=PACKED,
    ),
    "GatedDeltaNetStateReplay": OperatorRecord(
        inputs={"source_backing": "?", "capsule_backing": "?", "destination_backing": "?", "metadata": "11"},
        unknown=RECENT,
    ),
    "GroupQueryAttention": OperatorRecord(
        attributes={
            "num_heads": "at least 1; multiple of kv_num_heads",
            "kv_num_heads": "at least 1",
            "do_rotary": "needs cos_cache if do_rotary=1",
        },
        values={"causal": "0 1", "qk_output": "0 1 2"},
        combinations=(
            "TOGETHER in:key in:value",
            "TOGETHER in:past_key in:past_value",
            "TOGETHER in:cos_cache in:sin_cache",
        ),
        inputs={
            "query": {"key": "b s w=@num_heads*d", "else": "b s (@num_heads+2*@kv_num_heads)*d"},
            "key": {"past_key": "b t @kv_num_heads*d", "else": "b s @kv_num_heads*d"},
            "value": {"past_key": "b t @kv_num_heads*d", "else": "b s @kv_num_heads*d"},
            # A cache of few bits has several numbers in an element.
            "past_key": {"past_key~query": "b @kv_num_heads p k=d", "else": "b @kv_num_heads p k"},
            "past_value": {"past_value~query": "b @kv_num_heads p v=d", "else": "b @kv_num_heads p v"},
            "seqlens_k": "{b, ? ? *more}",
            "total_sequence_length": "",
            "cos_cache": "m r",
            "sin_cache": "m r",
        },
        sizes={"d": "multiple of 8"},
        outputs={
            "output": {"key": "b s w", "else": "b s @num_heads*d"},
            "present_key": {"past_key": "b @kv_num_heads ? k", "else": "b @kv_num_heads ? d"},
            "present_value": {"past_value": "b @kv_num_heads ? v", "else": "b @kv_num_heads ? d"},
        },
    ),
    "LinearAttention": OperatorRecord(
        attributes={
            "kv_num_heads": "at least 1",
            "q_num_heads": "at least 1; either multiple of kv_num_heads",
            "state_window": "at least 0; at most 8",
            "update_rule": _RULES,
        },
        defaults={"update_rule": "gated_delta"},
        values={"update_rule": "linear gated delta gated_delta"},
        inputs={
            "query": "b t @q_num_heads*d",
            "key": "b t ?*d",
            "value": "b t @kv_num_heads*v",
            "past_state": {"state_window": "@state_window b @kv_num_heads d v", "else": "b @kv_num_heads d v"},
            "decay": "b t {@kv_num_heads, @kv_num_heads*d}",
            "beta": "b t 1|@kv_num_heads",
        },
        outputs={
            "output": {"kv_num_heads>q_num_heads": "b t @kv_num_heads*v", "else": "b t @q_num_heads*v"},
            "present_state": {"state_window": "@state_window b @kv_num_heads d v", "else": "b @kv_num_heads d v"},
        },
        advised={"key": "b t @kv_num_heads*d"},
    ),
    "LinearAttentionGate": OperatorRecord(
        inputs={"a": "*rows h", "dt_bias": "*x 1|h", "decay_scale": "*y 1|h", "b": "*rows h"},
        advised={"a": "? ? h"},
        outputs={"decay": "*rows h", "beta": "*rows h"},
    ),
    "LongformerAttention": OperatorRecord(
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
    "MultiHeadAttention": OperatorRecord(
        attributes={"num_heads": "at least 1"},
        combinations=("TOGETHER in:past_key in:past_value", "NEEDS in:value in:key"),
        cases=("apart or by_head or packed_keys or packed",),
        inputs={
            "query": {"packed": "b s @num_heads 3 d", "else": "b s w=@num_heads*d"},
            "key": {
                "apart": "b t w=@num_heads*d!",
                "by_head": "b @num_heads t d!",
                "packed_keys": "b t @num_heads 2 d!",
                "packed": "-",
            },
            "value": {"apart": "b t y=@num_heads*v!", "by_head": "b @num_heads t d!", "else": "-"},
            "bias": {"apart": "w+w+v*@num_heads", "by_head": "w+w+w", "else": None},
            "key_padding_mask": None,  # `fits_padding`
            "attention_bias": {
                "apart": "1|b 1|@num_heads s p+t",
                "by_head": "1|b 1|@num_heads s t",
                "else": None,
            },
            "past_key": {"apart": "b @num_heads p d", "by_head": "-", "else": "? ? ? ?"},
            "past_value": {"apart": "b @num_heads p d", "by_head": "-", "else": None},
            "past_sequence_length": {"apart or by_head": "-", "else": None},
        },
        outputs={
            "output": {"apart": "b s y", "else": "b s @num_heads*d"},
            "present_key": {
                "past_sequence_length": None,
                "apart or by_head": "b @num_heads p+t d",
                "packed_keys": {"past_key": None, "else": "b @num_heads t d"},
                "packed": {"past_key": None, "else": "b @num_heads s d"},
            },
            "present_value": {
                "past_sequence_length": None,
                "apart": "b @num_heads p+t v",
                "by_head": "b @num_heads p+t d",
                "packed_keys": {"past_key": None, "else": "b @num_heads t d"},
                "packed": {"past_key": None, "else": "b @num_heads s d"},
            },
            "qk": "b @num_heads s ?",
        },
        computed="contrib_attention.fits_padding",
    ),
    "PackedAttention": OperatorRecord(
        inputs={"input": "t i", "weights": "i w", "bias": "w"},
        advised={
            "token_offset": "b s",
            "cumulative_sequence_length": "b+1",
            "attention_bias": "1|b 1|@num_heads s s",
        },
        outputs={"output": {"qkv_hidden_sizes": "t @qkv_hidden_sizes.2", "else": "t w/3"}},
    ),
    "PackedMultiHeadAttention": OperatorRecord(
        cases=("apart or packed",),
        inputs={"query": {"apart": "? ?", "packed": "? ? ? ?"}},
        advised={
            "query": {"apart": "t h", "packed": "t @num_heads 3 d"},
            "key": {"apart": "t h!", "packed": "-"},
            "value": {"apart": "t w!", "packed": "-"},
            "bias": {"apart": "h+h+w", "packed": None},
            "token_offset": "b s",
            "cumulative_sequence_length": "b+1",
            "attention_bias": "1|b 1|@num_heads s s",
        },
        outputs={"output": {"apart": "t w", "packed": "t @num_heads*d"}},
    ),
    "PackedSparseAttentionIndexer": OperatorRecord(
        attributes={
            "compress_ratio": "at least 1",
            "policy_mode": ("with csa needs key gate position_bias head_weights position_ids past_gate_buffer"),
            "index_topk": "at least 1",
            "state_capacity": "at least 1",
            "state_update_capacity": "at most 8",
            "token_budget": "at least 1; multiple of compress_ratio",
        },
        values={"policy_mode": _POLICY},
        cases=("keys or no_keys",),
        inputs={
            "query": "t ?*d",
            "key": {"policy_mode=csa": "t 2*d!", "keys": "t d!", "no_keys": "-"},
            "query_norm_weight": "d",
            "key_norm_weight": "d",
            "cos_cache": "*table",
            "sin_cache": "*table",
            "cumulative_sequence_lengths": "b+1",
            "past_sequence_lengths": "b",
            "gate": {"policy_mode=csa": "t 2*d!", "else": "-"},
            "position_bias": {"policy_mode=csa": "@compress_ratio 2*d!", "else": "-"},
            "head_weights": {"policy_mode=csa": "t ?!", "else": "-"},
            "position_ids": {"policy_mode=csa": "t!", "else": "-"},
            "past_key_state": "b @state_capacity d",
            "past_kv_buffer": {
                "policy_mode=csa": "b 2*@compress_ratio-1 2*d",
                "else": "b 2*@compress_ratio-1 d",
            },
            "past_gate_buffer": {"policy_mode=csa": "b 2*@compress_ratio-1 2*d!", "else": "-"},
            "past_state_lengths": "b 2",
        },
        unknown=PACKED,
    ),
    "PackedSparseAttentionIndexerMerge": OperatorRecord(
        attributes={
            "max_output_entries": "at least 1",
            "policy_mode": (
                "with append_range needs range_starts range_ends; "
                "with append_indices needs additional_indices additional_counts"
            ),
        },
        values={"policy_mode": "append_indices append_range"},
        inputs={
            "base_indices": "r ?",
            "base_counts": "r",
            "base_row_indices": "n",
            "range_starts": {"policy_mode=append_range": "n!", "else": "-"},
            "range_ends": {"policy_mode=append_range": "n!", "else": "-"},
            "additional_indices": {"policy_mode=append_range": "-", "else": "n ?!"},
            "additional_counts": {"policy_mode=append_range": "-", "else": "n!"},
        },
        unknown=RECENT,
    ),
    "PagedAttention": OperatorRecord(
        inputs={"query": {"key": "? ?", "else": "? (@num_heads+2*@kv_num_heads)*d"}},
        advised={
            "query": "t ?",
            "key": "t w",
            "value": "t w",
            "key_cache": "n p @kv_num_heads k",
            "value_cache": "n p @kv_num_heads v",
            "cumulative_sequence_length": "?",
            "past_seqlens": "b",
            "block_table": "b ?",
            "cos_cache": "m r",
            "sin_cache": "m r",
            "slot_mapping": "t",
            "head_sink": "@num_heads",
            "q_norm_weight": "d",
            "k_norm_weight": "d",
        },
        outputs={"output": "t ?", "key_cache_out": "n p @kv_num_heads k", "value_cache_out": "n p @kv_num_heads v"},
    ),
    "QAttention": OperatorRecord(
        attributes={"num_heads": "at least 1"},
        inputs={
            "input": "b s i",
            "weight": "i w=(@num_heads*3)*d",
            "bias": "w=(@num_heads*3)*d",
            "input_scale": "",
            "weight_scale": "{, w}",
            "mask_index": None,  # `fits_mask`
            "input_zero_point": "",
            "weight_zero_point": "{, w}",
            "past": "? ? ? p ?",
        },
        outputs={
            "output": "b s @num_heads*d",
            "present": {"past_present_share_buffer": None, "else": "2 b @num_heads p+s d"},
        },
        computed="contrib_attention.fits_mask",
    ),
    "QOrderedAttention": OperatorRecord(
        advised={
            "input": "b s i",
            "scale_input": "",
            "scale_Q_gemm": "",
            "scale_K_gemm": "",
            "scale_V_gemm": "",
            "Q_weight": "i h",
            "K_weight": "i h",
            "V_weight": "i h",
            "Q_bias": "h",
            "K_bias": "h",
            "V_bias": "h",
            "scale_QKT_gemm": "",
            "scale_QKT_softmax": "",
            "scale_values_gemm": "",
            "past": "2 b @num_heads p ?",
            "attention_bias": "1|b 1|@num_heads s ?",
        },
        outputs={"output": "b s ?"},
    ),
    "QOrderedLongformerAttention": OperatorRecord(
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
    "SparseAttention": OperatorRecord(
        attributes={"kv_num_heads": "at least 1", "num_heads": "at least 1"},
        combinations=("TOGETHER in:key in:value",),
        inputs={
            "query": {"key": "b s @num_heads*d", "else": "b s (@num_heads+2*@kv_num_heads)*d"},
            "key": "b s @kv_num_heads*d",
            "value": "b s @kv_num_heads*d",
            "past_key": "b @kv_num_heads c d",
            "past_value": "b @kv_num_heads c d",
            "block_row_indices": "l ?",
            "block_col_indices": "l ?",
            "total_sequence_length": "",
            "key_total_sequence_lengths": "b",
        },
        outputs={
            "output": "b s @num_heads*d",
            "present_key": "b @kv_num_heads c d",
            "present_value": "b @kv_num_heads c d",
        },
    ),
    "SparseAttentionIndexer": OperatorRecord(
        attributes={
            "compress_ratio": "at least 1",
            "policy_mode": "with csa needs key gate position_bias head_weights position_ids past_proj_buffer",
            "index_topk": "at least 1",
            "token_budget": "at least 1; multiple of compress_ratio",
        },
        values={"policy_mode": _POLICY},
        cases=("keys or no_keys",),
        inputs={
            "query": "b ? ?*d",
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
            "past_proj_buffer": {"policy_mode=csa": "2 b ? 2*d!", "else": "-"},
        },
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
            "past_sequence_length": "",
            "past_proj_buffer": {"policy_mode=csa": "2 b ? 2*d!", "else": "-"},
        },
        unknown=PACKED,
    ),
    "SparsePagedAttention": OperatorRecord(
        inputs={"query": {"key": "? ?", "else": "? (@num_heads+2*@kv_num_heads)*d"}},
        unknown=PACKED,
    ),
}
