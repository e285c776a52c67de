# SPDX-License-Identifier: Apache-2.0
"""Words and their search, states of convolutions, branches and biases of language models.

The texts are in the language of `records.grammar`, and the fields are those of `records.OperatorRecord`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.spec.operators.records import EVERY_RELEASE, MOST, GraphForm, OperatorRecord

_SEARCH: Final = {
    "input_ids": "batch length",
    "max_length": "",
    "min_length": "",
    "repetition_penalty": None,
    "vocab_mask": {"vocab_size>0": "vocabulary=@vocab_size", "else": "vocabulary"},
    "prefix_vocab_mask": {"vocab_size>0": "batch vocabulary=@vocab_size", "else": "batch vocabulary"},
    "attention_mask": "batch length",
}
"""The inputs of a search for words."""

_SEARCHED: Final = {
    "max_length": "at least 1; above length if model_type=0",
    "repetition_penalty": "above 0",
}
"""The numbers in them."""

_STATE: Final = "T ? + ? +"
"""The state of attention after an encoder: texts, heads, words, and the size of a head."""

_DECODER: Final = GraphForm(
    inputs={"input_ids": "int32", "position_ids": "int32", "attention_mask": "int32", "past_0": "T 2 ? + ? +"},
    input_counts={"else": "outputs+2 outputs+3 outputs+5"},
    outputs={"logits": "T ? ? +", "present_0": "T"},
    output_counts={"else": "1+1n"},
)
"""A decoder without encoder, as of GPT-2."""

_LAYERS: Final = {
    "past_sequence_length DecoderMaskedMultiHeadAttention": "named+4n+3",
    "past_sequence_length DecoderMaskedSelfAttention": "named+4n+3",
    "past_sequence_length": "named+4n+1",
    "else": "named+4n",
}
"""The inputs of a decoder: those with names, four states for each layer, and where the words and beams are."""

_DECODER_OF_TEXT: Final = GraphForm(
    inputs={
        "input_ids": "int32 ? ?",
        "?encoder_input_ids": "int32",
        "encoder_attention_mask": "int32",
        "?encoder_hidden_states": "T",
    },
    input_counts=_LAYERS,
    outputs={"logits": "T ? ? +", "*": _STATE},
    output_counts={"else": "1+2n"},
    states="T",
    others="T",
    since={"encoder_input_ids": "1.23.2"},
)
"""A decoder after an encoder of texts, as of T5."""

_ENCODER_OF_TEXT: Final = GraphForm(
    inputs={"encoder_input_ids": "int32", "encoder_attention_mask": "int32", "decoder_input_ids": "int32"},
    input_counts={"else": "named"},
    outputs={
        "logits": "T ? ? +",
        "encoder_hidden_states": "T",
        "present_key_self_0": _STATE,
        "present_value_self_0": "T",
    },
    output_counts={"else": "2+4n"},
    others="T",
)

_ENCODER_ALONE: Final = GraphForm(
    inputs={"encoder_input_ids": "int32", "encoder_attention_mask": "int32"},
    input_counts={"else": "named"},
    outputs={"present_key_cross_0": _STATE, "present_value_cross_0": "T"},
    output_counts={"else": "2n"},
    others="T",
    since={"": "1.23.2"},
)
"""An encoder that does not run the decoder for the first word."""

_DECODER_OF_SOUND: Final = GraphForm(
    inputs={"input_ids": "int32 ? ?", "?encoder_hidden_states": "T"},
    input_counts=_LAYERS,
    outputs={"logits": "any ? ? +", "*": "any ? + ? +"},
    output_counts={"@decoder_output_cross_qk": "1+3n", "else": "1+2n"},
    states="T",
)
"""A decoder after an encoder of sounds, as of Whisper. ONNX Runtime does not compare the types of its outputs."""

_ENCODER_OF_SOUND: Final = GraphForm(
    inputs={"encoder_input_ids": "F", "decoder_input_ids": "int32"},
    input_counts={"else": "named"},
    outputs=_ENCODER_OF_TEXT.outputs,
    output_counts={"else": "2+4n"},
    others="T",
)

_SEARCHED_GRAPHS: Final = {"0": dict.fromkeys(("decoder", "init_decoder"), (_DECODER,))}
_GRAPHS_OF_TEXT: Final = {"encoder": (_ENCODER_OF_TEXT, _ENCODER_ALONE), "decoder": (_DECODER_OF_TEXT,)}
_GRAPHS_OF_SOUND: Final = {"encoder": (_ENCODER_OF_SOUND,), "decoder": (_DECODER_OF_SOUND,)}
"""The graphs that a search runs. If there are several forms, the number of inputs says which it is."""

_EXTENDED: Final = (
    "input_channels or input_channel_offset or state_length or state_update_capacity or !state_channels_last=-1"
)
"""A convolution of some channels of a text, or with a state of another length."""

_PLAIN_STATE: Final = "ndim=1 !state_window !state_length !input_channels state_channels_last=-1"
"""A convolution along one axis. Its state has the inputs that the kernel still needs."""

_HEADS: Final = "@n_head_per_ngram*@max_ngram_size-@n_head_per_ngram"
"""The heads of hashes of n-grams: some for each length from 2 on."""

RECORDS: Final[Mapping[str, Callable[[], OperatorRecord]]] = {
    "BeamSearch": lambda: OperatorRecord(
        attributes={
            "decoder_start_token_id": "at least 0 if model_type=1",
            "model_type": "with 1 needs encoder; with 2 needs encoder",
            "vocab_size": "at least -1",
        },
        defaults={"decoder_start_token_id": -1, "model_type": 0},
        values={"model_type": (0, 1, 2)},
        inputs={
            "input_ids": {"model_type=2": "batch ? ?", "else": "batch length"},
            "max_length": "",
            "min_length": "",
            "num_beams": "",
            "num_return_sequences": "",
            "length_penalty": "",
            "repetition_penalty": None,
            "vocab_mask": _SEARCH["vocab_mask"],
            "prefix_vocab_mask": _SEARCH["prefix_vocab_mask"],
            "attention_mask": {"model_type=2": None, "else": "batch length"},
        },
        graphs={**_SEARCHED_GRAPHS, "1": _GRAPHS_OF_TEXT, "2": _GRAPHS_OF_SOUND},
        computed="contrib_generation.beam_search",
        contents={
            **_SEARCHED,
            "max_length": f"at most 4096; {_SEARCHED['max_length']}",
            "num_beams": "at least 1; at most 128",
            "num_return_sequences": "at least 1; at most #num_beams",
        },
        advised={"repetition_penalty": "", "decoder_input_ids": "batch ?", "logits_processor": ""},
    ),
    "BifurcationDetector": lambda: OperatorRecord(
        attributes={"max_ngram_size": "at least 1", "min_ngram_size": "at least 1; at most max_ngram_size"},
        defaults={"max_ngram_size": 3},
        since={"prev_suffix_match_idx": "1.32.0"},
        inputs={"src_tokens": "length", "cur_tokens": "?", "prev_suffix_match_idx": "", "pred_tokens": "predicted"},
        sizes={"predicted": "equal to length+1-#prev_suffix_match_idx"},
        contents={"prev_suffix_match_idx": "at least 0 if pred_tokens; at most length if pred_tokens"},
        reads=("prev_suffix_match_idx",),
        outputs={"tokens": "?", "suffix_match_idx": ""},
    ),
    "CausalConvWithState": lambda: OperatorRecord(
        until={"ndim=2": EVERY_RELEASE, "ndim=3": EVERY_RELEASE, "!state_window=0": EVERY_RELEASE},
        attributes={
            "channels_last": (
                "at least 0; at most 1; one of 1 if input_channels; one of 1 if input_channel_offset; "
                "one of 1 if state_length; one of 1 if state_update_capacity; one of 1 if !state_channels_last=-1"
            ),
            "dilation": f"at least 1; at most {MOST}",
            "input_channel_offset": f"at least 0; at most {MOST}; needs input_channels",
            "input_channels": f"at least 0; at most {MOST}",
            "ndim": "at least 1; at most 3; one of 1 if channels_last",
            "state_channels_last": "at least -1; at most 1",
            "state_length": f"at least 0; at most {MOST}",
            "state_update_capacity": "at least 0; at most 8; at least 1 if state_update",
            "state_window": (
                "at least 0; at most 8; one of 0 if input_channels; one of 0 if state_length; "
                "one of 0 if state_update_capacity"
            ),
        },
        defaults={"channels_last": 0, "ndim": 1, "state_channels_last": -1, "state_update_capacity": 0},
        values={"activation": ("none", "silu", "swish")},
        cases=("text or image",),
        where={
            "reach": {"dilation": "@dilation*kernel-@dilation", "else": "kernel-1"},
            "taken": {"input_channels": "@input_channels", "else": "width"},
        },
        inputs={
            "input": {
                _EXTENDED: "batch length width",
                f"{_PLAIN_STATE} channels_last": {
                    "text": "batch length channels",
                    "image": "batch length height columns *more",
                },
                _PLAIN_STATE: "batch channels length",
                "else": "*all",
            },
            "weight": {
                _EXTENDED: "taken ? ?",
                _PLAIN_STATE: "channels 1 kernel",
                "ndim=1": "? ? ?",
                "ndim=2": "? ? ? ?",
                "else": "? ? ? ? ?",
            },
            "bias": {_PLAIN_STATE: "channels"},
            "past_state": {
                f"{_PLAIN_STATE} channels_last": {
                    "text": "batch reach channels",
                    "image": "batch reach height columns *more",
                },
                _PLAIN_STATE: "batch channels reach",
            },
        },
        outputs={
            "output": {
                _EXTENDED: "batch length taken",
                f"{_PLAIN_STATE} channels_last": {
                    "text": "batch length channels",
                    "image": "batch length height columns *more",
                },
                _PLAIN_STATE: "batch channels length",
                "else": "*all",
            },
            "present_state": {
                f"{_PLAIN_STATE} channels_last": {
                    "text": "batch reach channels",
                    "image": "batch reach height columns *more",
                },
                _PLAIN_STATE: "batch channels reach",
            },
            "state_update": {_EXTENDED: "batch @state_update_capacity taken"},
        },
        check="contrib_transformers.check_channels_and_state",
    ),
    "ConvStateReplay": lambda: OperatorRecord(
        inputs={"source_backing": "?", "capture_backing": "?", "destination_backing": "size", "metadata": "8"},
        outputs={"destination_out": "size"},
    ),
    "EngramGate": lambda: OperatorRecord(
        inputs={
            "key": "batch length branches hidden",
            "query": "batch length branches hidden",
            "value": "batch length hidden",
            "key_norm_scale": "branches hidden",
            "query_norm_scale": "branches hidden",
            "conv_norm_scale": "branches hidden",
        },
        outputs={"output": "batch length branches hidden", "gated_value_normed": "batch length branches hidden"},
    ),
    "GatedRelativePositionBias": lambda: OperatorRecord(
        inputs={"token_offset": "? ? *more"},
        computed="contrib_transformers.gated_position_bias",
    ),
    "GreedySearch": lambda: OperatorRecord(
        attributes={"vocab_size": "at least -1"},
        defaults={"model_type": 0},
        values={"model_type": (0,)},
        inputs=_SEARCH,
        contents=_SEARCHED,
        graphs=_SEARCHED_GRAPHS,
        advised={"repetition_penalty": ""},
        computed="contrib_generation.search",
    ),
    "HyperConnectionLowRankMix": lambda: OperatorRecord(
        attributes={"num_branches": "at least 1"},
        inputs={"streams": "*rows @num_branches*hidden"},
        advised={
            "norm_scale": "@num_branches*hidden",
            "down_weight": "@num_branches*hidden rank",
            "up_weight": "rank @num_branches*hidden",
            "inject_weight": "@num_branches*hidden @num_branches",
            "prev_block_output": "*rows hidden",
            "prev_post_gate": "*rows @num_branches",
            "gate_div": "not 0",
        },
        outputs={
            "pre_output": "*rows hidden",
            "post_gate": "*rows @num_branches",
            "streams_out": "*rows @num_branches*hidden",
        },
    ),
    "HyperConnectionPostMix": lambda: OperatorRecord(
        attributes={"num_branches": "at least 0"},
        where={"branches": {"num_branches": "@num_branches", "else": "stream_count"}},
        inputs={
            "streams": {"num_branches": "*rows @num_branches*hidden", "else": "*rows stream_count hidden"},
            "block_output": "*rows hidden",
            "post_mix": "*rows {branches, branches 1|hidden}",
            "stream_mix": "*rows branches branches",
        },
        outputs={"output": {"num_branches": "*rows @num_branches*hidden", "else": "*rows stream_count hidden"}},
    ),
    "HyperConnectionPreMix": lambda: OperatorRecord(
        attributes={"num_branches": "at least 0"},
        where={"branches": {"num_branches": "@num_branches", "else": "stream_count"}},
        inputs={
            "streams": {"num_branches": "*rows @num_branches*hidden", "else": "*rows stream_count hidden"},
            "pre_mix": {
                "num_branches": "*rows {branches, branches 1|hidden, @num_branches*hidden}",
                "else": "*rows {branches, branches 1|hidden}",
            },
        },
        outputs={"output": "*rows hidden"},
    ),
    "Mamba2Verify": lambda: OperatorRecord(
        inputs={
            "projection": "row_count channels+@heads*@head_dim+@heads",
            "conv_state": "conv_states channels 3",
            "ssm_state": "ssm_states @heads @d_state @head_dim",
            "conv_weight": "channels {4, 1 4}",
            "conv_bias": "channels",
            "dt_bias": "@heads",
            "A_negative": "@heads",
            "D": "@heads",
            "norm_weight": "0+@heads*@head_dim",
            "state_row": "1",
        },
        where={"channels": "@heads*@head_dim+2*@n_groups*@d_state"},
        outputs={
            "Y": "row_count 0+@heads*@head_dim",
            "conv_snapshots": "conv_states channels 3",
            "ssm_snapshots": "ssm_states @heads @d_state @head_dim",
            "xbc": "row_count channels",
            "readout": "row_count 0+@heads*@head_dim",
        },
    ),
    "NGramHashMapping": lambda: OperatorRecord(
        attributes={"max_ngram_size": "at least 2", "n_head_per_ngram": "at least 1"},
        inputs={
            "input_ids": "batch length",
            "multipliers": "multiplier_count",
            "vocab_sizes": f"hash_heads={_HEADS}",
            "past_ids": "batch @max_ngram_size-1",
            "head_offsets": _HEADS,
            "eos_token_id": "",
            "segment_ids": "batch length",
        },
        sizes={"multiplier_count": "at least @max_ngram_size"},
        outputs={"hash_ids": "batch length hash_heads", "present_ids": "batch @max_ngram_size-1"},
    ),
    "NGramRepeatBlock": lambda: OperatorRecord(
        attributes={"ngram_size": "at least 1"},
        inputs={"input_ids": "batch ?", "scores": "batch vocabulary"},
        check="contrib_generation.check_banned_tokens",
        reads=("input_ids",),
        outputs={"scores_out": "batch vocabulary"},
    ),
    "RelativePositionBias": lambda: OperatorRecord(
        inputs={"bias_table": "? ? *more"},
        computed="contrib_transformers.position_bias",
        reads=("query_length", "key_length"),
    ),
    "RemovePadding": lambda: OperatorRecord(
        inputs={"input": "batch length hidden"},
        outputs={
            "output": "? hidden",
            "token_offset": "batch length",
            "cumulated_seq_len": "batch+1",
            "max_seq_len": "1",
        },
    ),
    "RestorePadding": lambda: OperatorRecord(
        inputs={"input": "tokens hidden", "token_offset": "batch length"},
        outputs={"output": "batch length hidden"},
    ),
    "Sampling": lambda: OperatorRecord(
        attributes={
            "min_tokens_to_keep": "at least 0; below vocab_size if vocab_size>0",
            "vocab_size": "at least -1",
        },
        defaults={"model_type": 0},
        values={"model_type": (0,)},
        inputs={**_SEARCH, "presence_mask": _SEARCH["prefix_vocab_mask"]},
        contents=_SEARCHED,
        graphs=_SEARCHED_GRAPHS,
        advised={"repetition_penalty": "", "seed": ""},
        computed="contrib_generation.search",
    ),
    "SpeculativePrefixCommit": lambda: OperatorRecord(
        cases=("one or several",),
        inputs={"next_tokens": {"one": "?", "several": "batch ?"}, "ctl": "*control", "ctx_commit": "*committed"},
        outputs={
            "head_c": {"one": "1", "several": "batch"},
            "updated_ctl": "*control",
            "updated_ctx_commit": "*committed",
        },
    ),
    "Tokenizer": lambda: OperatorRecord(
        attributes={
            # An empty separator, and a token of any letter, mean single letters.
            "mincharnum": "at least 1; at most 1 if separators=''; at most 1 if tokenexp=. !separators",
        },
        patterns=("separators", "tokenexp"),
        combinations=(
            "SOME separators tokenexp",
            "ADVISED AT_MOST_ONE separators tokenexp",
        ),
        cases=("words or rows",),
        inputs={"X": {"words": "strings", "rows": "batch strings"}},
        outputs={"Y": {"words": "strings ?", "rows": "batch strings ?"}},
        computed="contrib_transformers.tokens",
        compared="without texts, the output has as many dimensions as the input",
    ),
    "VarlenCausalConvWithState": lambda: OperatorRecord(
        combinations=("TOGETHER in:kernel_delta in:previous_mask",),
        attributes={
            "activation": "one of none silu swish; one of none if kernel_delta",
            "dilation": "at least 1; one of 1 if kernel_delta",
            "delta_offset": "at least 0; needs kernel_delta",
            "group_size": "at least 1; needs kernel_delta if group_size>1",
            "state_update_capacity": "at least 0; at most 8; needs capture_count",
        },
        where={"reach": {"dilation": "@dilation*kernel-@dilation", "else": "kernel-1"}},
        inputs={
            "input": "tokens channels",
            "weight": "channels 1 kernel",
            "cumulative_sequence_length": "batch+1",
            "bias": {"kernel_delta": "-", "else": "channels"},
            "initial_state": "batch channels reach",
            "capture_count": {"state_update_capacity": "batch!", "else": "-"},
            "kernel_delta": "tokens ? ?",
            "previous_mask": "tokens 1",
        },
        contents={"cumulative_sequence_length": "begins with 0; rises by 0; ends with tokens"},
        outputs={
            "output": "tokens channels",
            "final_state": "batch channels reach",
            "state_update": "batch @state_update_capacity channels",
        },
    ),
    "VarlenNGramHashMapping": lambda: OperatorRecord(
        attributes={
            "max_ngram_size": "at least 2",
            "n_head_per_ngram": "at least 1",
            "state_update_capacity": "at least 0; at most 8; needs capture_count",
        },
        inputs={
            "input_ids": "tokens",
            "multipliers": "multiplier_count",
            "vocab_sizes": _HEADS,
            "cumulative_sequence_length": "batch+1",
            "past_ids": "batch @max_ngram_size-1",
            "head_offsets": _HEADS,
            "eos_token_id": "",
            "segment_ids": "tokens",
            "past_segment_ids": "batch @max_ngram_size-1",
            "capture_count": "batch",
        },
        sizes={"multiplier_count": "at least @max_ngram_size"},
        contents={"cumulative_sequence_length": "begins with 0; rises by 1; ends with tokens"},
        outputs={
            "hash_ids": f"tokens {_HEADS}",
            "present_ids": "batch @max_ngram_size-1",
            "present_segment_ids": "batch @max_ngram_size-1",
            "state_update": "batch @state_update_capacity @max_ngram_size-1",
        },
    ),
    "WhisperBeamSearch": lambda: OperatorRecord(
        combinations=("SOME encoder",),
        defaults={"model_type": 2},
        values={"model_type": (2,)},
        graphs={"2": _GRAPHS_OF_SOUND},
        computed="contrib_generation.beam_search",
        reads=("max_length", "num_beams", "num_return_sequences"),
    ),
    "WordConvEmbedding": lambda: OperatorRecord(
        attributes=dict.fromkeys(("char_embedding_size", "conv_window_size", "embedding_size"), "at least -1"),
        defaults={"char_embedding_size": -1, "conv_window_size": -1, "embedding_size": -1},
        where={
            "filters": {"embedding_size=-1": "filter_count", "else": "filter_count=@embedding_size"},
            "window": {"conv_window_size=-1": "window_size", "else": "window_size=@conv_window_size"},
            "size": {"char_embedding_size=-1": "char_width", "else": "char_width=@char_embedding_size"},
        },
        inputs={
            # However many dimensions there are, a word has as many letters as dimension 1 says.
            "Sequence": "words letters *rest",
            "W": "filters ? window size *more",
            "B": "filter_count",
            "C": "? char_width *others",
        },
        sizes={"letters": "at least window_size"},
        outputs={"Y": "words filters"},
    ),
}
