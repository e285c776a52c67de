# SPDX-License-Identifier: Apache-2.0
"""Operators that work element by element, or move elements about, and those that belong nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onnx_lint.spec.operators.records import COMPILED, NO_WORD, OperatorRecord

_AS_INPUT: Final = OperatorRecord(inputs={"X": "*all"}, outputs={"Y": "*all"})

RECORDS: Final[Mapping[str, OperatorRecord]] = {
    "AttnLSTM": OperatorRecord(
        attributes={"hidden_size": "at least 1"},
        values={"direction": "forward reverse bidirectional"},
        combinations=("SOME in:QW", "SOME in:MW", "SOME in:V", "SOME in:M", "SOME hidden_size"),
        where={"o": {"AW": "o", "else": "m"}},
        inputs={
            "X": "t b i",
            "W": "d 4*@hidden_size i+o",
            "R": "d 4*@hidden_size @hidden_size",
            "B": "d 8*@hidden_size",
            "sequence_lens": "b",
            "initial_h": "d b @hidden_size",
            "initial_c": "d b @hidden_size",
            "P": "d 3*@hidden_size",
            "QW": "d @hidden_size a",
            "MW": "d m a",
            "V": "d a",
            "M": "b ? m",
            "memory_seq_lens": "b",
            "AW": "d m+@hidden_size o",
        },
        outputs={"Y": "t d b @hidden_size", "Y_h": "d b @hidden_size", "Y_c": "d b @hidden_size"},
    ),
    "BiasAdd": OperatorRecord(
        inputs={"X": "*all"},
        advised={"X": "n s c", "bias": "c", "skip": "n s c"},
        outputs={"Y": "*all"},
    ),
    "BiasDropout": OperatorRecord(
        inputs={"data": "*all"},
        advised={
            "data": "*rows c",
            "bias": "{c, *rows c}",
            "residual": "*rows c",
            "ratio": "",
            "training_mode": "",
        },
        outputs={"output": "*all", "mask": "*all"},
    ),
    "BiasGelu": OperatorRecord(computed="contrib_elements.with_bias"),
    "BiasSoftmax": OperatorRecord(inputs={"data": "*all"}, outputs={"output": "*all"}),
    "BiasSplitGelu": OperatorRecord(inputs={"X": "b s 2*h", "bias": "2*h"}, outputs={"Y": "b s h"}),
    "BitmaskBiasDropout": OperatorRecord(
        inputs={"data": "*all"},
        advised={
            "data": "*rows c",
            "bias": "{c, *rows c}",
            "residual": "*rows c",
            "ratio": "",
            "training_mode": "",
        },
        outputs={"output": "*all"},
    ),
    "BitmaskDropout": OperatorRecord(
        inputs={"data": "*all"},
        advised={"ratio": "", "training_mode": ""},
        outputs={"output": "*all"},
    ),
    "CDist": OperatorRecord(
        values={
            "metric": "braycurtis canberra chebyshev cityblock correlation cosine dice euclidean hamming jaccard "
            "jensenshannon kulsinski mahalanobis matching minkowski rogerstanimoto russellrao seuclidean sokalmichener "
            "sokalsneath sqeuclidean wminkowski yule",
        },
        inputs={"A": "m n", "B": "k n"},
        outputs={"C": "m k"},
    ),
    "ComplexMul": OperatorRecord(unknown=NO_WORD),
    "ComplexMulConj": OperatorRecord(unknown=NO_WORD),
    "DynamicTimeWarping": OperatorRecord(inputs={"input": "{? ?, 1 ? ?}"}, outputs={"output": "2 ?"}),
    "EPContext": OperatorRecord(unknown=COMPILED),
    "ExpandDims": OperatorRecord(computed="contrib_elements.expand", reads=("axis",)),
    "FastGelu": OperatorRecord(computed="contrib_elements.with_bias"),
    "GatherND": OperatorRecord(computed="gathering.gather_nd"),
    "Gelu": _AS_INPUT,
    "Inverse": OperatorRecord(inputs={"X": "*batch n n"}, outputs={"Y": "*batch n n"}),
    "Irfft": OperatorRecord(computed="contrib_elements.inverse_real_transform"),
    "IsAllFinite": OperatorRecord(outputs={"output": ""}),
    "MurmurHash3": _AS_INPUT,
    "Pad": OperatorRecord(
        inputs={"data": None, "pads": "{?, 1 ?}", "value": ""},
        computed="contrib_elements.pad",
        reads=("pads",),
    ),
    "QuickGelu": _AS_INPUT,
    "Range": OperatorRecord(computed="constants.number_range", reads=("start", "limit", "delta")),
    "Rfft": OperatorRecord(computed="contrib_elements.real_transform"),
    "SampleOp": OperatorRecord(unknown="an example for authors of operators"),
    "ScaledSiLU": _AS_INPUT,
    "Snpe": OperatorRecord(unknown=COMPILED),
    "TorchEmbedding": OperatorRecord(
        inputs={"weight": "n m", "indices": "*places"},
        outputs={"Y": "*places m"},
    ),
    "Trilu": OperatorRecord(inputs={"X": "*batch n m", "k": ""}, outputs={"Y": "*batch n m"}),
    "UnfoldTensor": OperatorRecord(
        attributes={"size": "at least 1", "step": "at least 1"},
        inputs={"input": "*rows ?"},
        computed="contrib_elements.unfold",
    ),
    "Unique": OperatorRecord(inputs={"x": "n"}, outputs={"y": "?", "idx": "n", "counts": "?"}),
}
