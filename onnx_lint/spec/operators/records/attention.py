# SPDX-License-Identifier: Apache-2.0
"""Attention to all tokens. Batches are b, new tokens s, other tokens t, cached ones p, sizes of heads d and v."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.spec.operators.records import EVERY_RELEASE, OperatorRecord

_WIDTHS: Final = "@qkv_hidden_sizes.0+@qkv_hidden_sizes.1+@qkv_hidden_sizes.2"
_RULES: Final = "with gated needs decay; with delta needs beta; with gated_delta needs decay beta"
_IN_CAPITALS: Final = "one of NONE PER_TENSOR PER_CHANNEL"
_QUANTIZED_CACHE: Final = "word of NONE PER_TENSOR PER_CHANNEL"

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
            "input": "b s i",
            "weights": {"qkv_hidden_sizes": f"i w={_WIDTHS}", "else": "i w=(@num_heads*3)*d"},
            "bias": {"qkv_hidden_sizes": f"w={_WIDTHS}", "else": "w=(@num_heads*3)*d"},
            "mask_index": None,  # `check_mask`
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
                "qkv_hidden_sizes": "2 b @num_heads p+s @qkv_hidden_sizes.2/@num_heads",
                "else": "2 b @num_heads p+s d",
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
            "query": {"packed": "b 1 @num_heads 3 d", "else": "b 1 w=@num_heads*d"},
            "key": {
                "split": {"past_key": "b 1 w=@num_heads*d!", "else": "b t w=@num_heads*d!"},
                "by_head": "b @num_heads t d!",
                "packed_keys": "b t @num_heads 2 d!",
                "packed": "-",
            },
            "value": {
                "split": {"past_key": "b 1 y!", "else": "b t y!"},
                "by_head": "b @num_heads t d!",
                "else": "-",
            },
            "mask_index": {"by_head": "b t", "else": "b all"},
            "attention_bias": {"split": "1|b 1|@num_heads 1 all", "by_head": "1|b 1|@num_heads 1 t", "else": None},
            "past_key": {"split": "b @num_heads p d", "else": None},
            "past_value": {"split": "b @num_heads p d", "else": None},
            "past_sequence_length": {"past_key": "", "else": None},
            "cache_indirection": {"split": "c e p", "by_head": "c e ?", "else": None},
            "bias": {"split": "w+w+y", "by_head": "w+w+w", "else": None},
        },
        # Heads of values are as large as those of keys, in whole numbers.
        sizes={
            "all": "equal to #past_sequence_length+1",
            "c": "equal to b/e",
            "y": "at least w; at most w+@num_heads-1",
        },
        contents={
            "past_sequence_length": "at least 0; below p if past_present_share_buffer",
            "cache_indirection": "at least 0; below #beam_width; at most 0 if !beam_width",
            "beam_width": "at most 1 if !cache_indirection; at least e; at most e",
        },
        outputs={
            "output": {"split": "b 1 y", "else": "b 1 @num_heads*d"},
            "present_key": {"past_present_share_buffer": {"split": "b @num_heads p d"}},
            "present_value": {"past_present_share_buffer": {"split": "b @num_heads p d"}},
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
                f"{_QUANTIZED_CACHE}; word of PER_TENSOR PER_CHANNEL if past_key!~query; "
                "with PER_TENSOR needs k_scale; with PER_CHANNEL needs k_scale"
            ),
            "v_quant_type": (
                f"{_QUANTIZED_CACHE}; same as k_quant_type if k_quant_type=PER_TENSOR; "
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
                "query_seqlens key": "b s w",  # `check_group_query_attention`
                "key": "b s w=@num_heads*d",
                "else": "b s (@num_heads+2*@kv_num_heads)*d",
            },
            "key": {"past_key": "b t @kv_num_heads*d", "else": "b s @kv_num_heads*d"},
            "value": {"past_key": "b t @kv_num_heads*d", "else": "b s @kv_num_heads*d"},
            # A cache of few bits has several numbers in an element.
            "past_key": {
                "past_key~query": "b @kv_num_heads p k=d",
                "kv_cache_bit_width=8": "b @kv_num_heads p k=d",
                "kv_cache_bit_width=4": "b @kv_num_heads p k=d/2",
                "else": "b @kv_num_heads p k",
            },
            "past_value": {
                "past_value~query": "b @kv_num_heads p v=d",
                "kv_cache_bit_width=8": "b @kv_num_heads p v=d",
                "kv_cache_bit_width=4": "b @kv_num_heads p v=d/2",
                "else": "b @kv_num_heads p v",
            },
            "seqlens_k": "{b, ? ? *more}",
            "total_sequence_length": "",
            "cos_cache": "m r",
            "sin_cache": "m r",
            "position_ids": "b n *more",
            "attention_bias": "1|b 1|@num_heads s u",
            "head_sink": "@num_heads",
            "query_seqlens": "b",
        },
        sizes={
            "d": (
                "multiple of 8; multiple of 16 if do_rotary=1; "
                "multiple of 16 if sliding_window_cache=1 kv_cache_bit_width=8; "
                "multiple of 32 if sliding_window_cache=1 kv_cache_bit_width=4"
            ),
            "m": "at least #total_sequence_length",
            "n": "at least s",
            "p": "at least @local_window_size if sliding_window_cache=1",
            "r": "multiple of 8; at most d/2",
            "u": "equal to #total_sequence_length",
        },
        contents={
            "query_seqlens": "at least 0; at most s",
            "seqlens_k": "at least 0; below #total_sequence_length",
            "total_sequence_length": (
                "at least 1; at most p+t if past_key key !query_seqlens !sliding_window_cache; "
                "at most p+s if past_key !key !query_seqlens !sliding_window_cache; "
                "at least s if !past_key !query_seqlens; at most s if !past_key !query_seqlens"
            ),
        },
        check="contrib_group_query_attention.check_group_query_attention",
        compared=(
            "beside `past_key`, `key` has as many tokens as `query`, or none; beside it, without `query_seqlens` and a "
            "sliding cache, `total_sequence_length` is `p+t`, or from `t` to `p`; beside it, several new tokens need "
            "`query_seqlens` or a batch of 1; `k_scale` and `v_scale` have 1 number for PER_TENSOR, and "
            "`@kv_num_heads*d` for PER_CHANNEL; the first of `position_ids` is below `m`"
        ),
        outputs={
            "output": {"key": "b s w", "else": "b s @num_heads*d"},
            "present_key": {"past_key": "b @kv_num_heads ? k", "else": "b @kv_num_heads ? d"},
            "present_value": {"past_value": "b @kv_num_heads ? v", "else": "b @kv_num_heads ? d"},
            "output_qk": "b @num_heads s #total_sequence_length",
        },
        reads=("total_sequence_length", "position_ids"),
        advised={
            "query": {"key": "b s w=@num_heads*d", "else": "b s (@num_heads+2*@kv_num_heads)*d"},
            "position_ids": "b s",
            "q_norm_weight": "d",
            "k_norm_weight": "d",
            "k_norm_epsilon": "above 0; not nan inf",
            "k_quant_type": _IN_CAPITALS,
            "q_norm_epsilon": "above 0; not nan inf",
            "qk_output": "one of 1 2 if output_qk",
            "v_quant_type": f"{_IN_CAPITALS}; with PER_TENSOR needs v_scale; with PER_CHANNEL needs v_scale",
        },
    ),
    "LinearAttention": lambda: OperatorRecord(
        until={"!state_window=0": EVERY_RELEASE},
        attributes={
            "kv_num_heads": "at least 1; multiple of k/d",
            "q_num_heads": "at least 1; either multiple of kv_num_heads",
            "state_window": "at least 0; at most 8",
            "update_rule": _RULES,
        },
        defaults={"update_rule": "gated_delta"},
        values={"update_rule": ("linear", "gated", "delta", "gated_delta")},
        inputs={
            "query": "b t @q_num_heads*d",
            "key": "b t k=?*d",
            "value": "b t @kv_num_heads*v",
            "past_state": {"state_window": "@state_window b @kv_num_heads d v", "else": "b @kv_num_heads d v"},
            "decay": "b t {@kv_num_heads, @kv_num_heads*d}",
            "beta": "b t 1|@kv_num_heads",
        },
        outputs={
            "output": {"kv_num_heads>q_num_heads": "b t @kv_num_heads*v", "else": "b t @q_num_heads*v"},
            "present_state": {"state_window": "@state_window b @kv_num_heads d v", "else": "b @kv_num_heads d v"},
        },
    ),
    "MultiHeadAttention": lambda: OperatorRecord(
        failing={"!key": EVERY_RELEASE, "key !value": EVERY_RELEASE},
        attributes={"num_heads": "at least 1"},
        since={"cache_indirection": "1.23.2", "past_sequence_length": "1.32.0"},
        combinations=("TOGETHER in:past_key in:past_value", "NEEDS in:value in:key"),
        cases=("split or by_head or packed_keys or packed",),
        inputs={
            "query": {"packed": "b s @num_heads 3 d", "else": "b s w=@num_heads*d"},
            "key": {
                "split": "b t w=@num_heads*d!",
                "by_head": "b @num_heads t d!",
                "packed_keys": "b t @num_heads 2 d!",
                "packed": "-",
            },
            "value": {"split": "b t y=@num_heads*v!", "by_head": "b @num_heads t d!", "else": "-"},
            "bias": {"split": "w+w+v*@num_heads", "by_head": "w+w+w", "else": None},
            "key_padding_mask": None,  # `check_padding_mask`
            "attention_bias": {
                "past_sequence_length split or past_sequence_length by_head": "1|b 1|@num_heads s all",
                "split or by_head": "1|b 1|@num_heads s p+t",
                "else": None,
            },
            "past_key": {"split or by_head": "b @num_heads p d", "else": "? ? ? ?"},
            "past_value": {"split or by_head": "b @num_heads p d", "else": None},
            "past_sequence_length": {"past_key": "", "else": None},
            "cache_indirection": {
                "past_sequence_length past_key split or past_sequence_length past_key by_head": "c e p",
                "split or by_head": "c e ?",
                "else": None,
            },
        },
        sizes={"all": "equal to #past_sequence_length+t", "c": "equal to b/e"},
        contents={"past_sequence_length": "at least 0; at most p-t"},
        outputs={
            "output": {"split": "b s y", "else": "b s @num_heads*d"},
            "present_key": {
                "past_sequence_length past_key split or past_sequence_length past_key by_head": "b @num_heads p d",
                "past_sequence_length": None,
                "split or by_head": "b @num_heads p+t d",
                "packed_keys": {"past_key": None, "else": "b @num_heads t d"},
                "packed": {"past_key": None, "else": "b @num_heads s d"},
            },
            "present_value": {
                "past_sequence_length past_key split": "b @num_heads p v",
                "past_sequence_length past_key by_head": "b @num_heads p d",
                "past_sequence_length": None,
                "split": "b @num_heads p+t v",
                "by_head": "b @num_heads p+t d",
                "packed_keys": {"past_key": None, "else": "b @num_heads t d"},
                "packed": {"past_key": None, "else": "b @num_heads s d"},
            },
            "qk": {
                "past_sequence_length": "b @num_heads s ?",
                "split or by_head": "b @num_heads s p+t",
                "else": "b @num_heads s ?",
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
            "input": "b s i",
            "weight": "i w=(@num_heads*3)*d",
            "bias": "w=(@num_heads*3)*d",
            "input_scale": "",
            "weight_scale": "{, w}",
            "mask_index": None,  # `check_mask`
            "input_zero_point": "",
            "weight_zero_point": "{, w}",
            "past": {"past_present_share_buffer": "? ? ? p ?", "else": "2 b @num_heads p d"},
        },
        outputs={
            "output": "b s @num_heads*d",
            "present": {"past_present_share_buffer": None, "else": "2 b @num_heads p+s d"},
        },
        check="contrib_attention.check_mask",
        reads=("mask_index",),
    ),
}
