# SPDX-License-Identifier: Apache-2.0
"""Records of operators that compute attention to all tokens.

The texts are in the language of `records.grammar`, and the fields are those of `records.OperatorRecord`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.spec.operators.records import EVERY_RELEASE, OperatorRecord

_WIDTHS: Final = "@qkv_hidden_sizes.0+@qkv_hidden_sizes.1+@qkv_hidden_sizes.2"
_RULES: Final = "with gated needs decay; with delta needs beta; with gated_delta needs decay beta"
_QUANTIZATION: Final = "one of NONE PER_TENSOR PER_CHANNEL"
_WITH_BUFFER: Final = "past_sequence_length past_key split or past_sequence_length past_key by_head"
_QUANTIZATION_IN_ANY_CASE: Final = "word of NONE PER_TENSOR PER_CHANNEL"

RECORDS: Final[Mapping[str, Callable[[], OperatorRecord]]] = {
    "Attention": lambda: OperatorRecord(
        failing={"do_rotary=1": EVERY_RELEASE, "mask_index=4 elements": EVERY_RELEASE, "!bias": "1.23.2"},
        flags={"rotary_embedding_dim": (0, 32, 64, 128)},
        attributes={
            "num_heads": "at least 1",
            "past_present_share_buffer": "needs past_sequence_length if past",
            "qkv_hidden_sizes": "at least 1; multiple of num_heads",
        },
        combinations=("NEEDS in:past out:present", "AT_MOST_ONE in:past in:attention_bias"),
        inputs={
            "input": "batch length input_width",
            "weights": {
                "qkv_hidden_sizes": f"input_width width={_WIDTHS}",
                "else": "input_width width=(@num_heads*3)*head_size",
            },
            "bias": {"qkv_hidden_sizes": f"width={_WIDTHS}", "else": "width=(@num_heads*3)*head_size"},
            "mask_index": None,  # `check_mask`
            "past": {
                "past_present_share_buffer": "? ? ? ? ?",
                "qkv_hidden_sizes": "2 batch @num_heads past_length @qkv_hidden_sizes.1/@num_heads",
                "else": "2 batch @num_heads past_length head_size",
            },
            "attention_bias": {
                "past_present_share_buffer": None,
                "else": "1|batch 1|@num_heads length past_length+length",
            },
            "past_sequence_length": {"past_present_share_buffer": None, "else": "-"},
        },
        outputs={
            "output": {
                "qkv_hidden_sizes": "batch length @qkv_hidden_sizes.2",
                "else": "batch length @num_heads*head_size",
            },
            "present": {
                "past_present_share_buffer": None,
                "qkv_hidden_sizes": "2 batch @num_heads past_length+length @qkv_hidden_sizes.2/@num_heads",
                "else": "2 batch @num_heads past_length+length head_size",
            },
        },
        check="contrib_attention.check_mask",
        reads=("mask_index",),
    ),
    "DecoderMaskedMultiHeadAttention": lambda: OperatorRecord(
        failing={"key=4 attention_bias": EVERY_RELEASE},
        since={"beam_width": "1.32.0", "cache_indirection": "1.23.2", "past_sequence_length": "1.32.0"},
        attributes={
            "num_heads": "at least 1",
            "past_present_share_buffer": "not 0 if past_key; needs past_key past_sequence_length",
        },
        defaults={"past_present_share_buffer": 0},
        combinations=(
            "NEEDS in:value in:key",
            "TOGETHER in:past_key in:past_value",
            "NEEDS in:past_key out:present_key",
            "NEEDS in:past_value out:present_value",
        ),
        cases=("split or by_head or packed_keys or packed",),
        inputs={
            "query": {"packed": "batch 1 @num_heads 3 head_size", "else": "batch 1 width=@num_heads*head_size"},
            "key": {
                "split": {
                    "past_key": "batch 1 width=@num_heads*head_size!",
                    "else": "batch key_length width=@num_heads*head_size!",
                },
                "by_head": "batch @num_heads key_length head_size!",
                "packed_keys": "batch key_length @num_heads 2 head_size!",
                "packed": "-",
            },
            "value": {
                "split": {"past_key": "batch 1 value_width!", "else": "batch key_length value_width!"},
                "by_head": "batch @num_heads key_length head_size!",
                "else": "-",
            },
            "mask_index": {"by_head": "batch key_length", "else": "batch total_length"},
            "attention_bias": {
                "split": "1|batch 1|@num_heads 1 total_length",
                "by_head": "1|batch 1|@num_heads 1 key_length",
                "else": None,
            },
            "past_key": {"split": "batch @num_heads past_length head_size", "else": None},
            "past_value": {"split": "batch @num_heads past_length head_size", "else": None},
            "past_sequence_length": {"past_key": "", "else": None},
            "cache_indirection": {"split": "sequences beams past_length", "by_head": "sequences beams ?", "else": None},
            "bias": {"split": "width+width+value_width", "by_head": "width+width+width", "else": None},
        },
        # Heads of values are as large as those of keys, in whole numbers.
        sizes={
            "total_length": "equal to #past_sequence_length+1",
            "sequences": "equal to batch/beams",
            "value_width": "at least width; at most width+@num_heads-1",
        },
        contents={
            "past_sequence_length": "at least 0; below past_length if past_present_share_buffer",
            "cache_indirection": "at least 0; below #beam_width; at most 0 if !beam_width",
            "beam_width": "at most 1 if !cache_indirection; at least beams; at most beams",
        },
        outputs={
            "output": {"split": "batch 1 value_width", "else": "batch 1 @num_heads*head_size"},
            "present_key": {"past_present_share_buffer": {"split": "batch @num_heads past_length head_size"}},
            "present_value": {"past_present_share_buffer": {"split": "batch @num_heads past_length head_size"}},
        },
    ),
    "GroupQueryAttention": lambda: OperatorRecord(
        failing={
            "q_norm_weight": EVERY_RELEASE,
            "!q_norm_weight k_norm_weight": EVERY_RELEASE,
            "sliding_window_cache=1 !qk_output=0": EVERY_RELEASE,
        },
        since={"seqlens_k": "1.32.0", "total_sequence_length": "1.32.0"},
        attributes={
            "causal": "one of 1 if query_seqlens",
            "num_heads": "at least 1; multiple of kv_num_heads",
            "kv_num_heads": "at least 1",
            "do_rotary": "needs cos_cache if do_rotary=1",
            "local_window_size": "one of -1 if causal=0; at least 1 if sliding_window_cache=1",
            "qk_output": "needs output_qk!; one of 1 2 if output_qk past_key",
            "sliding_window_cache": "needs past_key if sliding_window_cache=1",
            "kv_cache_bit_width": (
                "one of 0 if k_quant_type=NONE; one of 4 8 if k_quant_type=PER_TENSOR; "
                "one of 4 8 if k_quant_type=PER_CHANNEL"
            ),
            "k_quant_type": (
                f"{_QUANTIZATION_IN_ANY_CASE}; word of PER_TENSOR PER_CHANNEL if past_key!~query; "
                "with PER_TENSOR needs k_scale; with PER_CHANNEL needs k_scale"
            ),
            "v_quant_type": (
                f"{_QUANTIZATION_IN_ANY_CASE}; same as k_quant_type if k_quant_type=PER_TENSOR; "
                "same as k_quant_type if k_quant_type=PER_CHANNEL; "
                "with PER_TENSOR needs v_scale if !k_quant_type=NONE; "
                "with PER_CHANNEL needs v_scale if !k_quant_type=NONE"
            ),
        },
        defaults={
            "causal": 1,
            "k_quant_type": "NONE",
            "kv_cache_bit_width": 0,
            "local_window_size": -1,
            "qk_output": 0,
            "v_quant_type": "NONE",
        },
        values={"causal": (0, 1), "qk_output": (0, 1, 2)},
        combinations=(
            "TOGETHER in:key in:value",
            "TOGETHER in:past_key in:past_value",
            "TOGETHER in:cos_cache in:sin_cache",
            "TOGETHER out:present_key out:present_value",
            "NEEDS in:query_seqlens in:past_key",
            "ADVISED TOGETHER in:q_norm_weight in:k_norm_weight",
        ),
        inputs={
            "query": {
                "query_seqlens key": "batch length width",  # `check_group_query_attention`
                "key": "batch length width=@num_heads*head_size",
                "else": "batch length (@num_heads+2*@kv_num_heads)*head_size",
            },
            "key": {
                "past_key": "batch key_length @kv_num_heads*head_size",
                "else": "batch length @kv_num_heads*head_size",
            },
            "value": {
                "past_key": "batch key_length @kv_num_heads*head_size",
                "else": "batch length @kv_num_heads*head_size",
            },
            # A cache of few bits has several numbers in an element.
            "past_key": {
                "past_key~query": "batch @kv_num_heads past_length key_cache_size=head_size",
                "kv_cache_bit_width=8": "batch @kv_num_heads past_length key_cache_size=head_size",
                "kv_cache_bit_width=4": "batch @kv_num_heads past_length key_cache_size=head_size/2",
                "else": "batch @kv_num_heads past_length key_cache_size",
            },
            "past_value": {
                "past_value~query": "batch @kv_num_heads past_length value_cache_size=head_size",
                "kv_cache_bit_width=8": "batch @kv_num_heads past_length value_cache_size=head_size",
                "kv_cache_bit_width=4": "batch @kv_num_heads past_length value_cache_size=head_size/2",
                "else": "batch @kv_num_heads past_length value_cache_size",
            },
            "seqlens_k": "{batch, ? ? *more}",
            "total_sequence_length": "",
            "cos_cache": "positions rotary_width",
            "sin_cache": "positions rotary_width",
            "position_ids": "batch position_count *more",
            "attention_bias": "1|batch 1|@num_heads length masked_keys",
            "head_sink": "@num_heads",
            "query_seqlens": "batch",
        },
        sizes={
            "head_size": (
                "multiple of 8; multiple of 16 if do_rotary=1; "
                "multiple of 16 if sliding_window_cache=1 kv_cache_bit_width=8; "
                "multiple of 32 if sliding_window_cache=1 kv_cache_bit_width=4"
            ),
            "positions": "at least #total_sequence_length",
            "position_count": "at least length",
            "past_length": "at least @local_window_size if sliding_window_cache=1",
            "rotary_width": "multiple of 8; at most head_size/2",
            "masked_keys": "equal to #total_sequence_length",
        },
        contents={
            "query_seqlens": "at least 0; at most length",
            "seqlens_k": "at least 0; below #total_sequence_length",
            "total_sequence_length": (
                "at least 1; at most past_length+key_length if past_key key !query_seqlens !sliding_window_cache; "
                "at most past_length+length if past_key !key !query_seqlens !sliding_window_cache; "
                "at least length if !past_key !query_seqlens; at most length if !past_key !query_seqlens"
            ),
        },
        check="contrib_group_query_attention.check_group_query_attention",
        compared=(
            "with `past_key`, `key` has as many tokens as `query`, or none; with `past_key`, but without "
            "`query_seqlens` and a sliding cache, `total_sequence_length` is `past_length+key_length`, or `key_length` "
            "to `past_length`; with `past_key`, several new tokens need `query_seqlens` or a batch of 1; `k_scale` and "
            "`v_scale` have 1 number for PER_TENSOR, and `@kv_num_heads*head_size` for PER_CHANNEL; the first of "
            "`position_ids` is below `positions`"
        ),
        outputs={
            "output": {"key": "batch length width", "else": "batch length @num_heads*head_size"},
            "present_key": {
                "past_key": "batch @kv_num_heads ? key_cache_size",
                "else": "batch @kv_num_heads ? head_size",
            },
            "present_value": {
                "past_value": "batch @kv_num_heads ? value_cache_size",
                "else": "batch @kv_num_heads ? head_size",
            },
            "output_qk": "batch @num_heads length #total_sequence_length",
        },
        reads=("total_sequence_length", "position_ids"),
        advised={
            "query": {
                "key": "batch length width=@num_heads*head_size",
                "else": "batch length (@num_heads+2*@kv_num_heads)*head_size",
            },
            "position_ids": "batch length",
            "q_norm_weight": "head_size",
            "k_norm_weight": "head_size",
            "k_norm_epsilon": "above 0; not nan inf",
            "k_quant_type": _QUANTIZATION,
            "q_norm_epsilon": "above 0; not nan inf",
            "qk_output": "one of 1 2 if output_qk",
            "v_quant_type": f"{_QUANTIZATION}; with PER_TENSOR needs v_scale; with PER_CHANNEL needs v_scale",
        },
    ),
    "LinearAttention": lambda: OperatorRecord(
        until={"!state_window=0": EVERY_RELEASE},
        attributes={
            "kv_num_heads": "at least 1; multiple of key_width/head_size",
            "q_num_heads": "at least 1; either multiple of kv_num_heads",
            "state_window": "at least 0; at most 8",
            "update_rule": _RULES,
        },
        defaults={"update_rule": "gated_delta"},
        values={"update_rule": ("linear", "gated", "delta", "gated_delta")},
        inputs={
            "query": "batch length @q_num_heads*head_size",
            "key": "batch length key_width=?*head_size",
            "value": "batch length @kv_num_heads*value_size",
            "past_state": {
                "state_window": "@state_window batch @kv_num_heads head_size value_size",
                "else": "batch @kv_num_heads head_size value_size",
            },
            "decay": "batch length {@kv_num_heads, @kv_num_heads*head_size}",
            "beta": "batch length 1|@kv_num_heads",
        },
        outputs={
            "output": {
                "kv_num_heads>q_num_heads": "batch length @kv_num_heads*value_size",
                "else": "batch length @q_num_heads*value_size",
            },
            "present_state": {
                "state_window": "@state_window batch @kv_num_heads head_size value_size",
                "else": "batch @kv_num_heads head_size value_size",
            },
        },
    ),
    "MultiHeadAttention": lambda: OperatorRecord(
        failing={"!key": EVERY_RELEASE, "key !value": EVERY_RELEASE},
        attributes={"num_heads": "at least 1"},
        since={"cache_indirection": "1.23.2", "past_sequence_length": "1.32.0"},
        combinations=("TOGETHER in:past_key in:past_value", "NEEDS in:value in:key"),
        cases=("split or by_head or packed_keys or packed",),
        inputs={
            "query": {
                "packed": "batch length @num_heads 3 head_size",
                "else": "batch length width=@num_heads*head_size",
            },
            "key": {
                "split": "batch key_length width=@num_heads*head_size!",
                "by_head": "batch @num_heads key_length head_size!",
                "packed_keys": "batch key_length @num_heads 2 head_size!",
                "packed": "-",
            },
            "value": {
                "split": "batch key_length value_width=@num_heads*value_size!",
                "by_head": "batch @num_heads key_length head_size!",
                "else": "-",
            },
            "bias": {"split": "width+width+value_size*@num_heads", "by_head": "width+width+width", "else": None},
            "key_padding_mask": None,  # `check_padding_mask`
            "attention_bias": {
                "past_sequence_length split or past_sequence_length by_head": (
                    "1|batch 1|@num_heads length total_length"
                ),
                "split or by_head": "1|batch 1|@num_heads length past_length+key_length",
                "else": None,
            },
            "past_key": {"split or by_head": "batch @num_heads past_length head_size", "else": "? ? ? ?"},
            "past_value": {"split or by_head": "batch @num_heads past_length head_size", "else": None},
            "past_sequence_length": {"past_key": "", "else": None},
            "cache_indirection": {
                _WITH_BUFFER: "sequences beams past_length",
                "split or by_head": "sequences beams ?",
                "else": None,
            },
        },
        sizes={"total_length": "equal to #past_sequence_length+key_length", "sequences": "equal to batch/beams"},
        contents={"past_sequence_length": "at least 0; at most past_length-key_length"},
        outputs={
            "output": {"split": "batch length value_width", "else": "batch length @num_heads*head_size"},
            "present_key": {
                _WITH_BUFFER: "batch @num_heads past_length head_size",
                "past_sequence_length": None,
                "split or by_head": "batch @num_heads past_length+key_length head_size",
                "packed_keys": {"past_key": None, "else": "batch @num_heads key_length head_size"},
                "packed": {"past_key": None, "else": "batch @num_heads length head_size"},
            },
            "present_value": {
                "past_sequence_length past_key split": "batch @num_heads past_length value_size",
                "past_sequence_length past_key by_head": "batch @num_heads past_length head_size",
                "past_sequence_length": None,
                "split": "batch @num_heads past_length+key_length value_size",
                "by_head": "batch @num_heads past_length+key_length head_size",
                "packed_keys": {"past_key": None, "else": "batch @num_heads key_length head_size"},
                "packed": {"past_key": None, "else": "batch @num_heads length head_size"},
            },
            "qk": {
                "past_sequence_length": "batch @num_heads length ?",
                "split or by_head": "batch @num_heads length past_length+key_length",
                "else": "batch @num_heads length ?",
            },
        },
        check="contrib_attention.check_padding_mask",
    ),
    "QAttention": lambda: OperatorRecord(
        failing={"mask_index=4 items": EVERY_RELEASE},
        scales="input_scale weight_scale",
        since={"weight_scale": "1.32.0", "weight_zero_point": "1.32.0"},
        attributes={"num_heads": "at least 1"},
        combinations=("NEEDS in:past out:present",),
        inputs={
            "input": "batch length input_width",
            "weight": "input_width width=(@num_heads*3)*head_size",
            "bias": "width=(@num_heads*3)*head_size",
            "input_scale": "",
            "weight_scale": "{, width}",
            "mask_index": None,  # `check_mask`
            "input_zero_point": "",
            "weight_zero_point": "{, width}",
            "past": {
                "past_present_share_buffer": "? ? ? past_length ?",
                "else": "2 batch @num_heads past_length head_size",
            },
        },
        outputs={
            "output": "batch length @num_heads*head_size",
            "present": {"past_present_share_buffer": None, "else": "2 batch @num_heads past_length+length head_size"},
        },
        check="contrib_attention.check_mask",
        reads=("mask_index",),
    ),
}
