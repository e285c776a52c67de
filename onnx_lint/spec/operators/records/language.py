# SPDX-License-Identifier: Apache-2.0
"""Layers of language models besides attention: experts, positions, normalization, states, words and their search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.spec.operators.records import NO_WORD, PACKED, RECENT, OperatorRecord

_ACTIVATIONS: Final = "relu gelu silu swiglu identity relu2 geglu"

_SEARCH: Final = {
    "input_ids": "b s",
    "max_length": "",
    "min_length": "",
    "repetition_penalty": "",
    "vocab_mask": "v",
    "prefix_vocab_mask": "b v",
    "attention_mask": "b s",
}

_FUSED: Final = {
    "activation_type=swiglu swiglu_fusion": "2*i",
    "activation_type=geglu swiglu_fusion": "2*i",
    "else": "i",
}
"""The rows of the first matrix of an expert."""

_PLAIN_STATE: Final = "ndim=1 !state_window !state_length !input_channels state_channels_last=-1"
"""A convolution along one axis whose state is what the kernel still needs."""

_HEADS: Final = "@n_head_per_ngram*@max_ngram_size-@n_head_per_ngram"
"""The heads of hashes of n-grams: some for each length from 2 on."""

RECORDS: Final[Mapping[str, Callable[[], OperatorRecord]]] = {
    "BeamSearch": lambda: OperatorRecord(
        inputs={"input_ids": {"model_type=2": "{? ?, ? ? ?}", "else": "? ?"}},
        computed="contrib_generation.beam_search",
        reads=("max_length", "num_beams", "num_return_sequences"),
        advised={
            "input_ids": "b s *more",
            "max_length": "",
            "min_length": "",
            "num_beams": "",
            "num_return_sequences": "",
            "length_penalty": "",
            "repetition_penalty": "",
            "vocab_mask": "v",
            "prefix_vocab_mask": "b v",
            "attention_mask": "b s",
            "decoder_input_ids": "b ?",
            "logits_processor": "",
        },
    ),
    "BifurcationDetector": lambda: OperatorRecord(
        inputs={"src_tokens": "?", "cur_tokens": "?", "prev_suffix_match_idx": None, "pred_tokens": "?"},
        unknown="how many words come out depends on what they are",
    ),
    "BranchwiseRMSNorm": lambda: OperatorRecord(
        inputs={"X": "*all", "scale": "{?, ? ?}"},
        outputs={"Y": "*all"},
    ),
    "CausalConvWithState": lambda: OperatorRecord(
        attributes={
            "channels_last": "at least 0; at most 1",
            "dilation": "at least 1",
            "input_channel_offset": "at least 0",
            "input_channels": "at least 0",
            "ndim": "at least 1; at most 3",
            "state_channels_last": "at least -1; at most 1",
            "state_length": "at least 0",
            "state_update_capacity": "at least 0; at most 8",
            "state_window": "at least 0; at most 8",
        },
        defaults={"ndim": 1, "state_channels_last": -1},
        values={"activation": "none silu swish"},
        cases=("text or image",),
        where={"reach": {"dilation": "@dilation*k-@dilation", "else": "k-1"}},
        inputs={
            "input": {
                f"{_PLAIN_STATE} channels_last": {"text": "b t c", "image": "b t d e *more"},
                _PLAIN_STATE: "b c t",
                "else": "*all",
            },
            "weight": {_PLAIN_STATE: "c 1 k"},
            "bias": {_PLAIN_STATE: "c"},
            "past_state": {
                f"{_PLAIN_STATE} channels_last": {"text": "b reach c", "image": "b reach d e *more"},
                _PLAIN_STATE: "b c reach",
            },
        },
        outputs={
            "output": {
                f"{_PLAIN_STATE} channels_last": {"text": "b t c", "image": "b t d e *more"},
                _PLAIN_STATE: "b c t",
                "else": "*all",
            },
            "present_state": {
                f"{_PLAIN_STATE} channels_last": {"text": "b reach c", "image": "b reach d e *more"},
                _PLAIN_STATE: "b c reach",
            },
        },
    ),
    "ConvStateReplay": lambda: OperatorRecord(
        inputs={"source_backing": "?", "capture_backing": "?", "destination_backing": "?", "metadata": "8"},
        unknown=RECENT,
    ),
    "EmbedLayerNormalization": lambda: OperatorRecord(
        attributes={"mask_index_type": "needs mask_index if mask_index_type>0"},
        defaults={"mask_index_type": 1},
        combinations=("NEEDS in:segment_ids in:segment_embedding",),
        inputs={
            "input_ids": "b s",
            "segment_ids": "b s",
            "word_embedding": "? h",
            "position_embedding": "? h",
            "segment_embedding": "? h",
            "gamma": "h",
            "beta": "h",
            "mask": "b s",
            "position_ids": "1|b s",
        },
        outputs={"output": "b s h", "mask_index": "b", "embedding_sum": "b s h"},
    ),
    "EngramGate": lambda: OperatorRecord(
        inputs={
            "key": "b s m h",
            "query": "b s m h",
            "value": "b s h",
            "key_norm_scale": "m h",
            "query_norm_scale": "m h",
            "conv_norm_scale": "m h",
        },
        outputs={"output": "b s m h", "gated_value_normed": "b s m h"},
    ),
    "GatedAdd": lambda: OperatorRecord(
        inputs={"X": "*rows c", "Y": "*rows c", "gate": "*rows 1"},
        outputs={"output": "*rows c"},
    ),
    "GatedRMSNorm": lambda: OperatorRecord(
        values={"activation": "silu swish sigmoid"},
        inputs={"X": "*rows w=?*c", "scale": "{c, , ? ? *more}", "gate": "*rows w=?*c"},
        outputs={"Y": "*rows w"},
    ),
    "GatedRelativePositionBias": lambda: OperatorRecord(
        inputs={"token_offset": "? ? *more"},
        computed="contrib_transformers.gated_position_bias",
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
    "GreedySearch": lambda: OperatorRecord(
        inputs={"input_ids": "? ?"},
        advised=_SEARCH,
        computed="contrib_generation.search",
        reads=("max_length",),
    ),
    "HyperConnectionLowRankMix": lambda: OperatorRecord(
        attributes={"num_branches": "at least 1"},
        inputs={"streams": "*rows @num_branches*h"},
        advised={
            "norm_scale": "@num_branches*h",
            "down_weight": "@num_branches*h r",
            "up_weight": "r @num_branches*h",
            "inject_weight": "@num_branches*h @num_branches",
            "prev_block_output": "*rows h",
            "prev_post_gate": "*rows @num_branches",
        },
        unknown=RECENT,
    ),
    "HyperConnectionPostMix": lambda: OperatorRecord(
        attributes={"num_branches": "at least 0"},
        where={"c": {"num_branches": "@num_branches", "else": "n"}},
        inputs={
            "streams": {"num_branches": "*rows @num_branches*h", "else": "*rows n h"},
            "block_output": "*rows h",
            "post_mix": "*rows {c, c 1|h}",
            "stream_mix": "*rows c c",
        },
        outputs={"output": {"num_branches": "*rows @num_branches*h", "else": "*rows n h"}},
    ),
    "HyperConnectionPreMix": lambda: OperatorRecord(
        attributes={"num_branches": "at least 0"},
        where={"c": {"num_branches": "@num_branches", "else": "n"}},
        inputs={
            "streams": {"num_branches": "*rows @num_branches*h", "else": "*rows n h"},
            "pre_mix": {"num_branches": "*rows {c, c 1|h, @num_branches*h}", "else": "*rows {c, c 1|h}"},
        },
        unknown=PACKED,
    ),
    "MRotaryEmbedding": lambda: OperatorRecord(
        attributes={
            "mrope_section": "at least 0",
            "num_heads": "at least 0",
            "rotary_embedding_dim": "at least 0",
        },
        values={"mrope_layout": "0 1"},
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
        outputs={
            "output": {
                "num_heads": {"packed": "b s @num_heads*h", "by_head": "b n s h"},
                "rotary_embedding_dim": "*all",
                "else": "b n s h",
            }
        },
    ),
    "Mamba2Verify": lambda: OperatorRecord(
        inputs={
            "projection": "r channels+@heads*@head_dim+@heads",
            "conv_state": "n channels 3",
            "ssm_state": "t @heads @d_state @head_dim",
            "conv_weight": "channels {4, 1 4}",
            "conv_bias": "channels",
            "dt_bias": "@heads",
            "A_negative": "@heads",
            "D": "@heads",
            "norm_weight": "0+@heads*@head_dim",
            "state_row": "1",
        },
        where={"channels": "@heads*@head_dim+2*@n_groups*@d_state"},
        unknown=RECENT,
    ),
    "MoE": lambda: OperatorRecord(
        attributes={"k": "at least 1; at most e", "swiglu_fusion": "one of 0 1 2 if activation_type=swiglu"},
        defaults={"activation_type": "relu"},
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
        outputs={"output": {"flat": "t h", "batched": "b s h"}},
    ),
    "MoEGroupRouter": lambda: OperatorRecord(
        attributes={"top_k": "at least 1"},
        inputs={
            "logits": {"projection_weight": "? 256*w", "else": "? *rows e"},
            "expert_bias": {"projection_weight": "e", "else": "{e, , ? ? *more}"},
            "projection_weight": "e 256*w",
        },
        advised={
            "expert_bias": "e",
        },
        unknown=RECENT,
    ),
    "MoEPacked": lambda: OperatorRecord(
        advised={
            "input": "*rows h",
            "router_probs": "? e",
            "gate_experts_weights": "e i ?",
            "up_experts_weights": "e i ?",
            "down_experts_weights": "e h ?",
            "router_weights": "? e",
        },
        unknown=RECENT,
    ),
    "NGramHashMapping": lambda: OperatorRecord(
        attributes={"max_ngram_size": "at least 2", "n_head_per_ngram": "at least 1"},
        inputs={
            "input_ids": "b s",
            "multipliers": "?",
            "vocab_sizes": f"n={_HEADS}",
            "past_ids": "b @max_ngram_size-1",
            "head_offsets": _HEADS,
            "eos_token_id": "",
            "segment_ids": "b s",
        },
        outputs={"hash_ids": "b s n", "present_ids": "b ?"},
    ),
    "NGramRepeatBlock": lambda: OperatorRecord(
        attributes={"ngram_size": "at least 1"},
        inputs={"input_ids": "b ?", "scores": "b v"},
        outputs={"scores_out": "b v"},
    ),
    "QMoE": lambda: OperatorRecord(
        attributes={
            "k": "at least 1; at most e",
            "swiglu_fusion": "one of 0 1 2 if activation_type=swiglu",
            "block_size": "power of 2 from 16 if block_size>0 quant_type=int",
            "weights_prepacked": "one of -1 0 1",
        },
        defaults={"activation_type": "relu", "expert_weight_bits": 4, "quant_type": "int"},
        values={"activation_type": _ACTIVATIONS, "expert_weight_bits": "2 3 4 8"},
        combinations=("SOME in:fc1_scales in:fc1_global_scale", "SOME in:fc2_scales in:fc2_global_scale"),
        cases=("rows or columns", "flat or batched"),
        where={
            "f": _FUSED,
            "bits1": {"fc1_expert_weight_bits": "@fc1_expert_weight_bits", "else": "@expert_weight_bits"},
            "bits2": {"fc2_expert_weight_bits": "@fc2_expert_weight_bits", "else": "@expert_weight_bits"},
        },
        inputs={
            "input": {"flat": "t h", "batched": "b s h"},
            "router_probs": {"flat": "t e", "batched": "b*s e"},
            "fc1_experts_weights": {
                "quant_type=int": {"rows": "e f h*bits1^8", "columns": "e h f*bits1^8"},
                "else": "e ? ?",
            },
            "fc1_scales": {"quant_type=int block_size>0": "{e f, e f h^@block_size}", "quant_type=int": "{e f, e f 1}"},
            "fc1_experts_bias": {"quant_type=int": "e f", "else": "e ?"},
            "fc2_experts_weights": {
                "quant_type=int": {"rows": "e h i*bits2^8", "columns": "e i h*bits2^8"},
                "else": "e ? ?",
            },
            "fc2_scales": {"quant_type=int block_size>0": "{e h, e h i^@block_size}", "quant_type=int": "{e h, e h 1}"},
            "fc2_experts_bias": "e h",
            "fc3_experts_weights": "e ? ?",
            "fc3_experts_bias": "e ?",
            "fc1_zero_points": {
                "quant_type=int block_size>0": "{e ?, e f h^@block_size*bits1^8}",
                "quant_type=int": "{e f*bits1^8, e ? ?}",
            },
            "fc2_zero_points": {
                "quant_type=int block_size>0": "{e ?, e h i^@block_size*bits2^8}",
                "quant_type=int": "{e h*bits2^8, e ? ?}",
            },
            "router_weights": {"flat": "t e", "batched": "b*s e"},
        },
        advised={"quant_type": "one of int fp4 nvfp4 fp8 wfp4afp8"},
        outputs={"output": {"flat": "t h", "batched": "b s h"}},
    ),
    "RMSNormRotary": lambda: OperatorRecord(
        inputs={"X": "? ? ? ?", "scale": "?"},
        advised={
            "X": "b s n ?",
            "cosine": "m @rotary_embedding_dim/2",
            "sine": "m @rotary_embedding_dim/2",
        },
        unknown=RECENT,
    ),
    "RelativePositionBias": lambda: OperatorRecord(
        inputs={"bias_table": "? ? *more"},
        computed="contrib_transformers.position_bias",
        reads=("query_length", "key_length"),
    ),
    "RemovePadding": lambda: OperatorRecord(
        inputs={"input": "b s h"},
        outputs={"output": "? h", "token_offset": "b s", "cumulated_seq_len": "b+1", "max_seq_len": "1"},
    ),
    "RestorePadding": lambda: OperatorRecord(
        inputs={"input": "t h", "token_offset": "b s"},
        outputs={"output": "b s h"},
    ),
    "RotaryEmbedding": lambda: OperatorRecord(
        attributes={"num_heads": "at least 0", "rotary_embedding_dim": "at least 0; needs num_heads; at most d"},
        cases=("packed or by_head",),
        where={
            "pairs": {
                "rotary_embedding_dim": "r=@rotary_embedding_dim//2",
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
        outputs={"output": {"packed": "b s w", "by_head": "b n s d"}},
        computed="contrib_transformers.has_positions",
        reads=("position_ids",),
    ),
    "RouterGateUpProj": lambda: OperatorRecord(inputs={"X": "*rows k", "W": "k ?"}, unknown=RECENT),
    "Sampling": lambda: OperatorRecord(
        inputs={"input_ids": "? ?"},
        advised={**_SEARCH, "presence_mask": "b v", "seed": ""},
        computed="contrib_generation.search",
        reads=("max_length",),
    ),
    "SkipLayerNormalization": lambda: OperatorRecord(
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
            "mean": None,
            "inv_std_var": None,
            "input_skip_bias_sum": {"rows": "s h", "texts": "b s h"},
        },
    ),
    "SkipSimplifiedLayerNormalization": lambda: OperatorRecord(
        cases=("rows or texts",),
        inputs={
            "input": {"rows": "s h", "texts": "b s h"},
            "skip": {"rows": "s h", "texts": "{? s h, s h}"},
            "gamma": "h",
            "bias": "h",
        },
        outputs={
            "output": {"rows": "s h", "texts": "b s h"},
            "mean": None,
            "inv_std_var": None,
            "input_skip_bias_sum": {"rows": "s h", "texts": "b s h"},
        },
    ),
    "SpeculativePrefixCommit": lambda: OperatorRecord(inputs={"next_tokens": "{?, ? ?}"}, unknown=RECENT),
    "SwiGLU": lambda: OperatorRecord(
        inputs={"gate": {"up": "*all", "else": "*rows 2*h"}},
        outputs={"output": {"up": "*all", "else": "*rows h"}},
    ),
    "Tokenizer": lambda: OperatorRecord(
        attributes={"mincharnum": "at least 1"},
        combinations=("ADVISED AT_MOST_ONE separators tokenexp",),
        cases=("words or rows",),
        inputs={"X": {"words": "n", "rows": "b n"}},
        outputs={"Y": {"words": "n ?", "rows": "b n ?"}},
    ),
    "VarlenCausalConvWithState": lambda: OperatorRecord(
        combinations=("TOGETHER in:kernel_delta in:previous_mask",),
        inputs={
            "input": "? c",
            "weight": "c 1 ?",
            "cumulative_sequence_length": "?",
            "bias": "c",
            "initial_state": "? c ?",
        },
        advised={
            "input": "t c",
            "initial_state": "b c n",
        },
        outputs={"output": "t c", "final_state": "b c n", "state_update": "b @state_update_capacity c"},
    ),
    "VarlenNGramHashMapping": lambda: OperatorRecord(
        attributes={"max_ngram_size": "at least 2", "n_head_per_ngram": "at least 1"},
        inputs={
            "input_ids": "t",
            "multipliers": None,
            "vocab_sizes": _HEADS,
            "cumulative_sequence_length": "?",
            "past_ids": "b @max_ngram_size-1",
            "head_offsets": _HEADS,
            "eos_token_id": "",
            "segment_ids": "t",
            "past_segment_ids": "b @max_ngram_size-1",
            "capture_count": "b",
        },
        unknown=PACKED,
    ),
    "WhisperBeamSearch": lambda: OperatorRecord(
        computed="contrib_generation.beam_search",
        reads=("max_length", "num_beams", "num_return_sequences"),
    ),
    "WordConvEmbedding": lambda: OperatorRecord(
        inputs={"Sequence": "? *rows ?", "W": "f ? ? c *more", "B": "f", "C": "? c *size"},
        unknown=NO_WORD,
    ),
}
