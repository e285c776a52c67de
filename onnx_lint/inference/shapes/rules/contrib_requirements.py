# SPDX-License-Identifier: Apache-2.0
"""What ONNX Runtime requires of its operators (com.microsoft) besides what their rules compare, as tables.

Each row is a sentence of the operator's description, and ONNX Runtime 1.32 refuses the node without it, when it makes a
session or whenever it runs the node (`tests/oracles/test_runtime_requirements.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import product
from typing import Final

from onnx_lint.inference.shapes.equations import require
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, InputDimension, Remark
from onnx_lint.inference.shapes.registration import Infer, ShapeRule
from onnx_lint.inference.shapes.rules.transformers import has_gates

_PAST: Final = "past_key![b @kv_num_heads p ?] past_value![b @kv_num_heads p ?]"
_SHARED: Final = "key![b s @kv_num_heads*d] value![b s @kv_num_heads*d]"
_BEHIND_PAST: Final = "lengths total[] cos[m r] sin[m r] ->"
_SCALARS: Final = "x x_scale[] x_zero_point[] y_scale[] y_zero_point[] ->"
_HEADS: Final = "@n_head_per_ngram*@max_ngram_size-@n_head_per_ngram"
_CHANNELS: Final = "@heads*@head_dim+2*@n_groups*@d_state"
_SNAPSHOTS: Final = f"s[n {_CHANNELS} 3] t[n @heads @d_state @head_dim]"
_BY_HEAD: Final = f"bias[{_CHANNELS}] dt[@heads] a[@heads] d[@heads] norm[0+@heads*@head_dim] row[1] ->"

_PLAIN_STATE: Final = "ndim=1 !state_window !state_length !input_channels state_channels_last=-1"
_INDEXED: Final = "q_norm[d] k_norm[d] cos[*table] sin[*table]"
_BY_COLUMN: Final = (("b[*batch k n]", ""), ("b[k n]", "n"), ("b[*batch k n]", "*batch 1 n"))
_SCALES: Final = ("[]", "[n]", "[? ? *more]")
_STREAMS: Final = ("!num_branches: streams[*rows C H]", "num_branches: streams[*rows @num_branches*H]")
_BRANCHES: Final = ("C", "@num_branches")

FORMS: Final[Mapping[str, tuple[str, ...]]] = {
    "AttnLSTM": tuple(
        f"X[t b i] W[d 4*@hidden_size i+{size}] R[d 4*@hidden_size @hidden_size] B[d 8*@hidden_size] n[b] "
        "h[d b @hidden_size] c[d b @hidden_size] P[d 3*@hidden_size] query[d @hidden_size a] memory[d m a] v[d a] "
        f"M[b ? m] lengths[b] {weights} ->"
        for size, weights in (("o", "weights![d m+@hidden_size o]"), ("m", "-"))
    ),
    "BifurcationDetector": ("source[?] current[?] index predicted[?] ->",),
    "BeamSearch": ("ids[? ?] ... ->", "model_type model_type=2: features[? ? ?] ... ->"),
    "BiasSplitGelu": ("x[b s 2*h] bias[2*h] ->",),
    "BranchwiseRMSNorm": ("x scale[?] ->", "x scale[? ?] ->"),
    "CausalConvWithState": tuple(
        f"{_PLAIN_STATE} {attributes}: {x.format(state)} ->"
        for dilation, state in (("!dilation", "k-1"), ("dilation", "@dilation*k-@dilation"))
        for attributes, x in (
            (f"!channels_last {dilation}", "x[b c ?] w[c 1 k] bias[c] state[b c {}]"),
            (f"channels_last {dilation}", "x[b ? c] w[c 1 k] bias[c] state[b {} c]"),
            (f"channels_last {dilation}", "x[b ? d e *more] w[c 1 k] bias[c] state[b {} d e *more]"),
        )
    ),
    "ConvStateReplay": ("source[?] capture[?] destination[?] metadata[8] ->",),
    "ConvTransposeWithDynamicPads": ("x[? c ? *more] w[c ? ? *kernel] ->",),
    "CropAndResize": ("x[? ? ? ?] rois[n 4] batch_indices[n] crop_size[2] ->",),
    "DecoderMaskedMultiHeadAttention": (
        "query[b 1 D] key![b t D] value![b t ?] ... ->",
        "query[b 1 D] key![b @num_heads t D/@num_heads] value![b @num_heads t D/@num_heads] ... ->",
        "query[b 1 D] key![b t @num_heads 2 D/@num_heads] - ... ->",
        "query[b 1 @num_heads 3 ?] - - ... ->",
    ),
    "DequantizeBFP": ("x[?] ... ->",),
    "DynamicQuantizeLSTM": tuple(
        "X[t b i] W[d i ?] R B[d 8*@hidden_size] n[b] h[d b @hidden_size] c[d b @hidden_size] P[d 3*@hidden_size] "
        f"w[{w}] wz[{wz}] r[{r}] rz[{rz}] ->"
        for w, wz, r, rz in product(("d", "d 4*@hidden_size"), repeat=4)
    ),
    "DynamicQuantizeMatMul": tuple(
        f"a {b} scale{scale} zero[{zero}] bias[*x 1|n] ->" for b, zero in _BY_COLUMN for scale in _SCALES
    ),
    "DynamicTimeWarping": ("x[? ?] ->", "x[1 ? ?] ->"),
    "DynamicSparseAttention": ("query[? ? ?] ... ->",),
    "EmbedLayerNormalization": (
        "ids[b s] segments[b s] words positions segment gamma beta mask[b s] position_ids[1|b s] ->",
    ),
    "EngramGate": ("key[b s m h] query[b s m h] value[b s h] k[m h] q[m h] gated[m h] ->",),
    "GatedAdd": ("x[*rows c] y[*rows c] gate[*rows 1] ->",),
    "GatedDeltaNet": (
        *(
            f"query[{t} h d] key![{t} h d] value![{t} g v] lengths decay[{t} {decay}] beta[{t} g] state[b g v d] ... ->"
            for t, decay in (("t", "g"), ("t", "g d"), ("b t", "g"), ("b t", "g d"))
        ),
        "query[? ?] - - lengths decay beta state![? ? ? ?] ... ->",
        "query[? ? ?] - - lengths decay beta state![? ? ? ?] ... ->",
    ),
    "GatedDeltaNetStateReplay": ("source[?] capsule[?] destination[?] metadata[11] ->",),
    "GatedRelativePositionBias": ("x bias positions weight gate eco offset[? ? *more] ->",),
    "GatedRMSNorm": ("x[*all] scale gate[*all] ->",),
    "GatherPacked": ("data[? ?] indices ->",),
    "GreedySearch": ("ids[? ?] ... ->",),
    "GridSample": ("x[n ? ? ?] grid[n ? ? 2] ->",),
    "GroupQueryAttention": (
        f"query[b s @num_heads*d] {_SHARED} - - {_BEHIND_PAST}",
        f"query[b ? @num_heads*d] key![b t @kv_num_heads*d] value![b t @kv_num_heads*d] {_PAST} {_BEHIND_PAST}",
        f"query[b ? ?] - - - - {_BEHIND_PAST}",
        f"query[b ? ?] - - {_PAST} {_BEHIND_PAST}",
    ),
    "HyperConnectionLowRankMix": ("streams[*rows @num_branches*H] ... ->",),
    "HyperConnectionPostMix": tuple(
        f"{streams} block[*rows H] gate[*rows {gate}] mix[*rows {c} {c}] ->"
        for streams, c in zip(_STREAMS, _BRANCHES, strict=True)
        for gate in (c, f"{c} 1|H")
    ),
    "HyperConnectionPreMix": tuple(
        f"{streams} gate[*rows {gate}] ->"
        for streams, c in zip(_STREAMS, _BRANCHES, strict=True)
        for gate in (c, f"{c} 1|H", *(["@num_branches*H"] if c != "C" else []))
    ),
    "LinearAttention": tuple(
        f"{window}state_window: query[b t @q_num_heads*d] key[b t ?*d] value[b t @kv_num_heads*v] "
        f"state[{state}b @kv_num_heads d v] decay[b t {decay}] beta[b t 1|@kv_num_heads] ->"
        for window, state in (("!", ""), ("", "@state_window "))
        for decay in ("@kv_num_heads", "@kv_num_heads*d")
    ),
    "LinearAttentionGate": ("a[*rows h] bias[*x 1|h] scale[*y 1|h] b[*rows h] ->",),
    "Mamba2Verify": tuple(
        f"x[r {_CHANNELS}+@heads*@head_dim+@heads] {_SNAPSHOTS} {weights} {_BY_HEAD}"
        for weights in (f"w[{_CHANNELS} 4]", f"w[{_CHANNELS} 1 4]")
    ),
    "MatMulBlockQuantizedFp4Weight": ("a[*rows k] b[n k/2] ... ->",),
    "MatMulBlockQuantizedFp8Weight": ("a[*rows k] b[n k] ... ->",),
    "MatMulFpQ4": ("a b[?] b_shape[2] ->",),
    "MatMulIntegerToFloat": tuple(
        f"a {b} a_scale scale{scale} a_zero[] zero[{zero}] bias[*x 1|n] ->"
        for b, zero in _BY_COLUMN
        for scale in _SCALES
    ),
    "MatMulNBitsMlp": ("a[*rows ?] skip norm[@K] gate scales bias[@N] up up_scales up_bias[@N] ->",),
    "MatMulNBitsQkv": ("a[*rows ?] skip norm[@K] q s b[@Nq] k k_s k_b[@Nkv] v v_s v_b[@Nkv] ->",),
    "MatMulNBitsQLoRA": ("x[*rows ?] w scales a[? ? ?] a_scales[? ?] b[? ? ?] b_scales[? ?] ->",),
    "MatMulPacked": ("a[*rows ?] ... ->",),
    "MaxpoolWithMask": ("x[? ? *spatial] mask[? ? *spatial] ->",),
    "MoE": tuple(
        f"{x} {weights} {more} ->"
        for (x, more), weights in product(
            (("x[t h] p[t e]", "u[e ? ?] d[e ?]"), ("x[? ? h] p[? e]", "...")),
            # The second layout is an older one, which ONNX Runtime still takes.
            ("w[e i h] b[e i] v[e h ?] c[e h]", "w[e h i] b[e i] v[e ? h] c[e h]"),
        )
    ),
    "MoEGroupRouter": ("logits[? *rows ?] bias - ->", "logits[? 256*w] bias[e] weights![e 256*w] ->"),
    "MRotaryEmbedding": tuple(
        f"{x} positions[3 b s] cos[m {half}] sin[m @mrope_section.0+@mrope_section.1+@mrope_section.2] ->"
        for half, x in (
            ("h/2", "!rotary_embedding_dim num_heads: x[b s @num_heads*h]"),
            ("h/2", "!rotary_embedding_dim: x[b ? s h]"),
            ("@rotary_embedding_dim/2", "rotary_embedding_dim num_heads: x[b s @num_heads*h]"),
            ("@rotary_embedding_dim/2", "rotary_embedding_dim num_heads: x[b ? s h]"),
        )
    ),
    "MultiHeadAttention": (
        "query[b s D] key![b t D] value![b t @num_heads*v] bias[D+D+v*@num_heads] mask "
        "attention_bias[1|b 1|@num_heads s p+t] past_key[b @num_heads p D/@num_heads] "
        "past_value[b @num_heads p D/@num_heads] - ->",
        "query[b s D] key![b @num_heads t D/@num_heads] value![b @num_heads t D/@num_heads] bias[D+D+D] mask "
        "attention_bias[1|b 1|@num_heads s t] - - - ->",
        "query[b s D] key![b t @num_heads 2 D/@num_heads] - ... ->",
        "query[b s @num_heads 3 ?] - - ... ->",
    ),
    "NGramHashMapping": (
        f"ids[b s] multipliers[?] sizes[{_HEADS}] past[b @max_ngram_size-1] offsets[{_HEADS}] eos[] segments[b s] ->",
    ),
    "NGramRepeatBlock": ("ids[b ?] scores[b ?] ->",),
    "NhwcConv": ("x[? ? ? *more] ... ->",),
    "NhwcFusedConv": ("x[? ? ? *more] ... ->",),
    "NhwcMaxPool": ("x[? ? ? *more] ->",),
    "PackedAttention": ("x[t i] weights[i w] bias[w] ... ->",),
    "PackedMultiHeadAttention": ("query[? ?] ... ->", "query[? ? ? ?] ... ->"),
    "PackedSparseAttentionIndexer": tuple(
        f"{mode} {_INDEXED} lengths[b+1] past[b] {more} n[b 2] ... ->"
        for mode, more in (
            ("policy_mode=qsa: q[t ?*d] key![t d]", "- - - - K[b @state_capacity d] V[b 2*@compress_ratio-1 d] -"),
            ("policy_mode=qsa: q[t ?*d] -", "- - - - K[b @state_capacity d] V[b 2*@compress_ratio-1 d] -"),
            (
                "policy_mode=csa: q[t ?*d] key![t 2*d]",
                "gate![t 2*d] bias![@compress_ratio 2*d] heads![t ?] positions![t] K[b @state_capacity d] "
                "V[b 2*@compress_ratio-1 2*d] G![b 2*@compress_ratio-1 2*d]",
            ),
        )
    ),
    "PackedSparseAttentionIndexerMerge": (
        "policy_mode=append_range: base[r ?] counts[r] rows[n] starts![n] ends![n] - ->",
        "policy_mode=append_indices: base[r ?] counts[r] rows[n] - - more![n ?] many![n] ->",
    ),
    "Pad": ("data pads[?] value[] ->", "data pads[1 ?] value[] ->"),
    "PagedAttention": ("query[? ?] ... ->",),
    "QAttention": tuple(
        f"x weights[? w] bias x_scale[] weight_scale[{scale}] mask x_zero_point[] weight_zero_point[{zero}] ... ->"
        for scale, zero in product(("", "w"), repeat=2)
    ),
    "QEmbedLayerNormalization": (
        "ids[b s] segments[b s] words[? h] positions[? h] segment[? h] gamma[h] beta[h] mask[b s] "
        "w[] p[] s[] g[] b[] wz[] pz[] sz[] gz[] bz[] ->",
    ),
    "QGemm": tuple(
        f"{condition}: a a_scale[] a_zero[] b[{b}] b_scale[{each}] b_zero[{each}] c y_scale[] y_zero[] ->"
        for condition, b in (("!transB", "? n"), ("transB", "n ?"))
        for each in ("", "n")
    ),
    "QLinearLeakyRelu": (_SCALARS,),
    "QLinearSigmoid": (_SCALARS,),
    "QMoE": (
        "x[t h] p[t e] w[e ? ?] s b[e ?] v[e ? ?] r c[e h] u[e ? ?] z d[e ?] ... ->",
        "x[? ? h] p[? e] w[e ? ?] s b[e ?] v[e ? ?] r c[e h] ... ->",
    ),
    "QOrderedMatMul": ("a[? *a] scale b[? *b] ... ->",),
    "RelativePositionBias": ("table[? ? *more] ... ->",),
    "RemovePadding": ("x[b s h] count ->",),
    "RestorePadding": ("x[t h] offsets[b s] ->",),
    "RMSNormRotary": ("x[? ? ? ?] scale[?] ... ->",),
    "RotaryEmbedding": tuple(
        f"{x} {positions} cos[m r] sin[m r] ->"
        for x in ("x[b s ?]", "x[b ? s ?]")
        for positions in ("ids[]", "ids[b s]")
    ),
    "RouterGateUpProj": ("x[*rows k] weights[k ?] ->",),
    "Sampling": ("ids[? ?] ... ->",),
    "SparseAttention": tuple(
        f"{qkv} past_key[b @kv_num_heads c d] past_value[b @kv_num_heads c d] "
        "rows[l ?] cols[l ?] total[] lengths[b] ... ->"
        for qkv in ("query[b s ?] - -", f"query[b s @num_heads*d] {_SHARED}")
    ),
    "SparseAttentionIndexer": tuple(
        f"policy_mode={mode}: q[b ? ?*d] {key}[? ? ?] q_norm[d] k_norm[?] cos[? ? *c] sin[? ? *s] {more} ->"
        for mode, key, more in (
            ("qsa", "key", "mask[? ?] K[? ? ?] - - - - n -"),
            ("csa", "key!", "- K[? ? ?] gate![? ? ?] bias![? ?] heads![? ? ?] positions![? ?] n P![2 b ? 2*d]"),
        )
    ),
    "SparsePagedAttention": ("query[? ?] ... ->",),
    "SpeculativePrefixCommit": ("next[?] ... ->", "next[? ?] ... ->"),
    "Tokenizer": ("x[?] ->", "x[? ?] ->"),
    "UnfoldTensor": ("x[*rows ?] ->",),
    "Unique": ("x[?] ->",),
    "VarlenCausalConvWithState": ("x[? c] weights[c 1 ?] offsets[?] bias[c] state[? c ?] ... ->",),
    "VarlenNGramHashMapping": (
        f"ids[t] multipliers sizes[{_HEADS}] lengths[?] past[b @max_ngram_size-1] offsets[{_HEADS}] eos[] segments[t] "
        "past_segments[b @max_ngram_size-1] captured[b] ->",
    ),
    "WordConvEmbedding": ("words[? *rows ?] w[f ? ? c *more] bias[f] chars[? c *size] ->",),
}
"""The forms of each operator, as equations."""

_SEARCH: Final = "ids[b s] longest[] least[] repetition[] words[v] first[b v] mask[b s]"
_DROPOUT: Final = tuple(f"x[*rows c] bias[{bias}] residual[*rows c] ratio[] training[] ->" for bias in ("c", "*rows c"))

ADVISED: Final[Mapping[str, tuple[str, ...]]] = {
    "BiasDropout": _DROPOUT,
    "BeamSearch": (
        "ids[b s *more] longest[] least[] beams[] texts[] penalty[] repetition[] words[v] first[b v] mask[b s] "
        "forced[b ?] processor[] ->",
    ),
    "BitmaskBiasDropout": _DROPOUT,
    "BitmaskDropout": ("x ratio[] training[] ->",),
    "BiasAdd": ("x[n s c] bias[c] skip[n s c] ->",),
    "DecoderAttention": (
        "query[s b w] key[t b w] q[w w] kv[w 2*w] bias[3*w] mask[b t] K[b @num_heads ? ?] V[b @num_heads ? ?] "
        "static[] past[] state[] masked[] ->",
    ),
    "DecoderMaskedSelfAttention": (
        "x[b 1 i] weights[i w] bias[w] mask[b ?] past[2 b @num_heads ? ?] bias[1|b 1|@num_heads 1 ?] n[] beams[] "
        "indirect[b ? ?] ->",
    ),
    "GemmaRotaryEmbedding": ("angles[b s d] q[b h s d] q_rot[b h s d] k[b ? s d] k_rot[b ? s d] ->",),
    "GreedySearch": (f"{_SEARCH} ->",),
    "GroupNorm": ("x[? ? ? ?] gamma[c] beta[c] ->",),
    "HyperConnectionLowRankMix": (
        "x[*rows @num_branches*H] norm[@num_branches*H] down[@num_branches*H r] up[r @num_branches*H] "
        "inject[@num_branches*H @num_branches] block[*rows H] gate[*rows @num_branches] ->",
    ),
    "LinearAttention": ("query[? ? @q_num_heads*d] key[? ? @kv_num_heads*d] ... ->",),
    "LongformerAttention": ("x[b s h] w[h 3*h] bias[3*h] mask[b s] g[h 3*h] c[3*h] global[b s] ->",),
    "MatMulBlockQuantizedFp4Weight": ("a b[n ?] scales[n ?] global[] a_scale[] bias[n] ->",),
    "MatMulBlockQuantizedFp8Weight": ("a b[n ?] scales[n ?] a_scale[] bias[n] ->",),
    "MatMulNBitsMlp": ("a[*rows @K] ... ->",),
    "MatMulNBitsQLoRA": ("x[*rows @K] w[@N ? ?] s a[? ? ?] t[r ?] b[@N ? ?] u[@N ?] ->",),
    "MatMulNBitsQkv": ("a[*rows @K] ... ->",),
    "MatMulPacked": ("a[*rows @K] b[@N ?] scale[] ->",),
    "MoEGroupRouter": ("logits[? *rows e] bias[e] - ->", "logits[? w] bias[e] weights![e w] ->"),
    "MoEPacked": ("x[*rows h] p[? e] gate[e i ?] up[e i ?] down[e h ?] weights[? e] ->",),
    "PackedAttention": ("x w b offsets[b s] lengths[b+1] bias[1|b 1|@num_heads s s] ->",),
    "PackedMultiHeadAttention": (
        "q[t h] k![t h] v![t w] bias[h+h+w] offsets[b s] lengths[b+1] scores[1|b 1|@num_heads s s] ->",
        "q[t @num_heads 3 d] - - bias offsets[b s] lengths[b+1] scores[1|b 1|@num_heads s s] ->",
    ),
    "PagedAttention": (
        "q[t ?] k[t w] v[t w] K[n p @kv_num_heads ?] V[n p @kv_num_heads ?] lengths[?] past[b] table[b ?] "
        "cos[m r] sin[m r] slots[t] sink[@num_heads] q_norm[d] k_norm[d] ... ->",
    ),
    "QOrderedAttention": (
        "x[b s i] a[] c[] d[] e[] Q[i h] K[i h] V[i h] q k v qb[h] kb[h] vb[h] f[] g[] j[] mask "
        "past[2 b @num_heads p ?] bias[1|b 1|@num_heads s ?] ->",
    ),
    "QOrderedGelu": ("x a[] c[] ->",),
    "QOrderedLayerNormalization": ("x a[] gamma[h] beta[h] c[] ->",),
    "QOrderedLongformerAttention": (
        "x[b s h] a[] w[h 3*h] d bias[3*h] e f mask[b s] g[h 3*h] i c[3*h] j global[b s] k ->",
    ),
    "QOrderedMatMul": ("a[? m k] b[] c[? ?] d e[] bias[?] f g[] ->",),
    "RMSNormRotary": ("x[b s n ?] scale[?] ids cos[m @rotary_embedding_dim/2] sin[m @rotary_embedding_dim/2] ... ->",),
    "Sampling": (f"{_SEARCH} presence[b v] seed[] ->",),
    "SkipGroupNorm": ("x[? ? ? ?] gamma[c] beta[c] skip bias[c] ->",),
    "SparseAttentionIndexer": tuple(
        f"{mode} {_INDEXED} {more} ... ->"
        for mode, more in (
            ("policy_mode=qsa: q[b s ?*d] key![b s d]", "mask[b ?] K[b ? d] - - - - n[] -"),
            ("policy_mode=qsa: q[b s ?*d] -", "mask[b ?] K[b ? d] - - - - n[] -"),
            (
                "policy_mode=csa: q[b s ?*d] key![b s 2*d]",
                "- K[b ? d] gate![b s 2*d] bias![@compress_ratio 2*d] heads![b s ?] positions![b s] n[] P![2 b ? 2*d]",
            ),
        )
    ),
}
"""Forms that only the descriptions require: ONNX Runtime makes a session without them, and has no kernel for the
processor, or runs the node.
"""

_UNCHECKED: Final = "; only its description requires this, and ONNX Runtime does not check it on the processor"

LEAST: Final[Mapping[str, Mapping[str, int]]] = {
    "LinearAttention": {"kv_num_heads": 1, "q_num_heads": 1, "state_window": 0},
    "MoEGroupRouter": {"top_k": 1},
    "SparseAttention": {"kv_num_heads": 1, "num_heads": 1},
    "VarlenNGramHashMapping": {"max_ngram_size": 2, "n_head_per_ngram": 1},
    "CausalConvWithState": {
        "dilation": 1, "ndim": 1, "channels_last": 0, "state_window": 0, "state_update_capacity": 0,
        "state_channels_last": -1, "state_length": 0, "input_channels": 0, "input_channel_offset": 0,
    },
    "HyperConnectionLowRankMix": {"num_branches": 1},
    "HyperConnectionPostMix": {"num_branches": 0},
    "HyperConnectionPreMix": {"num_branches": 0},
    "MRotaryEmbedding": {"mrope_section": 0, "num_heads": 0, "rotary_embedding_dim": 0},
    "PackedSparseAttentionIndexer": {"compress_ratio": 1, "index_topk": 1, "state_capacity": 1, "token_budget": 1},
    "PackedSparseAttentionIndexerMerge": {"max_output_entries": 1},
    "RotaryEmbedding": {"num_heads": 0, "rotary_embedding_dim": 0},
    "SparseAttentionIndexer": {"compress_ratio": 1, "index_topk": 1, "token_budget": 1},
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
}  # fmt: skip
"""The least value of attributes."""

_MOST: Final[Mapping[str, Mapping[str, int]]] = {
    "CausalConvWithState": {
        "channels_last": 1, "ndim": 3, "state_channels_last": 1, "state_update_capacity": 8, "state_window": 8,
    },
    "LinearAttention": {"state_window": 8},
    "PackedSparseAttentionIndexer": {"state_update_capacity": 8},
}  # fmt: skip
"""The greatest value of attributes."""

_PACKED: Final = frozenset({"DynamicSparseAttention", "PagedAttention", "SparseAttention", "SparsePagedAttention"})
"""Attention whose queries may have keys and values behind them: as many heads as num_heads and twice kv_num_heads."""

_MULTIPLES: Final[Mapping[str, tuple[str, str]]] = {
    "GroupQueryAttention": ("num_heads", "kv_num_heads"),
    "LinearAttention": ("q_num_heads", "kv_num_heads"),
    "PackedSparseAttentionIndexer": ("token_budget", "compress_ratio"),
    "SparseAttentionIndexer": ("token_budget", "compress_ratio"),
}
"""An attribute that is a multiple of another; the heads of LinearAttention in either direction."""


_COSINES: Final = 7


def required(operator: str, rule: ShapeRule | None) -> ShapeRule | None:
    """Return the rule of an operator, if it has one, with what the tables require of it."""
    if operator not in FORMS and operator not in LEAST and operator not in ADVISED:
        return rule
    rule = rule or ShapeRule(lambda _: UNKNOWN)
    return ShapeRule(partial(_infer, rule.infer, operator), rule.reads)


def _infer(infer: Infer, operator: str, node: Operands) -> Outputs:
    found = infer(node)
    if node.problems:
        return found  # one fault, one finding
    advice, node.remarks = node.remarks, []
    for name, least in LEAST.get(operator, {}).items():
        node.at_least(least, node.integers(name) or (node.integer(name),), name)
    for name, most in _MOST.get(operator, {}).items():
        number = node.integer(name)
        if number is not None and number > most:
            node.wrong_value(name, number, f"at most {most}")
    if operator in ("GatedDeltaNet", "LinearAttention"):
        has_gates(node)
    if operator == "GroupQueryAttention" and node.integer("do_rotary") == 1 and not node.given(_COSINES):
        node.wrong_value("do_rotary", 1, "it requires input 7 ('cos_cache'), which the node leaves out")
    masks = node.integer("mask_index_type", 1)
    if operator == "EmbedLayerNormalization" and node.output_count == 1 and masks > 0:
        node.wrong_value("mask_index_type", masks, "it requires output 1 ('mask_index'), which the node leaves out")
    one, other = map(node.integer, _MULTIPLES.get(operator, ("", "")))
    if one and other and one % other and (operator != "LinearAttention" or other % one) and not node.problems:
        names = _MULTIPLES[operator]
        node.indivisible(Element(names[0], one), other, Element(names[1], other))
    if not node.problems and operator in FORMS:
        require(FORMS[operator], node)
    width, shared = node.dim(0, -1), node.integer("kv_num_heads", 0)
    if operator in _PACKED and not node.problems and not node.given(1) and isinstance(width, int) and shared > 0:
        heads = node.integer("num_heads", 0) + 2 * shared
        if width % heads:
            rank = len(node.fact(0).shape or ())
            node.indivisible(InputDimension(0, rank - 1, width), heads, Element("kv_num_heads", shared))
    if not node.problems:
        node.remarks = advice
        if operator in ADVISED and not advice:
            require(ADVISED[operator], node)
            advise(node)
    return found


def advise(node: Operands) -> None:
    """Make remarks of the problems: only the description of the operator forbids them."""
    node.remarks += [Remark(each, _UNCHECKED) for each in node.problems if not isinstance(each, Remark)]
    node.problems.clear()
