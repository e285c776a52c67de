# SPDX-License-Identifier: Apache-2.0
"""Records of operators that work element by element or change the layout, and of operators that fit no other module.

The syntax of shapes, conditions and combinations is that of `onnx_lint.spec.operators.records`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.spec.operators.records import ACTIVATIONS, COMPILED, EVERY_RELEASE, NO_WORD, OperatorRecord


def _as_input() -> OperatorRecord:
    return OperatorRecord(inputs={"X": "*all"}, outputs={"Y": "*all"})


RECORDS: Final[Mapping[str, Callable[[], OperatorRecord]]] = {
    "AttnLSTM": lambda: OperatorRecord(
        attributes={"activations": ACTIVATIONS, "clip": "above 0; not nan", "hidden_size": "at least 1"},
        values={"direction": ("forward", "reverse", "bidirectional")},
        combinations=("SOME in:QW", "SOME in:MW", "SOME in:V", "SOME in:M", "SOME hidden_size"),
        where={"d": {"direction=bidirectional": "2", "else": "1"}, "o": {"AW": "o", "else": "m"}},
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
    "BiasAdd": lambda: OperatorRecord(
        inputs={"X": "*all"},
        advised={"X": "n s c", "bias": "c", "skip": "n s c"},
        outputs={"Y": "*all"},
    ),
    "BiasDropout": lambda: OperatorRecord(
        takes_any_attribute=True,
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
    "BiasGelu": lambda: OperatorRecord(computed="contrib_elements.with_bias"),
    "BiasSoftmax": lambda: OperatorRecord(inputs={"data": "*all"}, outputs={"output": "*all"}),
    "BiasSplitGelu": lambda: OperatorRecord(inputs={"X": "b s 2*h", "bias": "2*h"}, outputs={"Y": "b s h"}),
    "BitmaskBiasDropout": lambda: OperatorRecord(
        takes_any_attribute=True,
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
    "BitmaskDropout": lambda: OperatorRecord(
        takes_any_attribute=True,
        inputs={"data": "*all"},
        advised={"ratio": "", "training_mode": ""},
        outputs={"output": "*all"},
    ),
    "CDist": lambda: OperatorRecord(
        values={
            "metric": (
                "braycurtis",
                "canberra",
                "chebyshev",
                "cityblock",
                "correlation",
                "cosine",
                "dice",
                "euclidean",
                "hamming",
                "jaccard",
                "jensenshannon",
                "kulsinski",
                "mahalanobis",
                "matching",
                "minkowski",
                "rogerstanimoto",
                "russellrao",
                "seuclidean",
                "sokalmichener",
                "sokalsneath",
                "sqeuclidean",
                "wminkowski",
                "yule",
            ),
        },
        until={"!metric=euclidean !metric=sqeuclidean": EVERY_RELEASE},
        inputs={"A": "m n", "B": "k n"},
        outputs={"C": "m k"},
    ),
    "ComplexMul": lambda: OperatorRecord(unknown=NO_WORD),
    "ComplexMulConj": lambda: OperatorRecord(unknown=NO_WORD),
    "DynamicTimeWarping": lambda: OperatorRecord(inputs={"input": "{? ?, 1 ? ?}"}, outputs={"output": "2 ?"}),
    "EPContext": lambda: OperatorRecord(takes_any_attribute=True, unknown=COMPILED),
    "ExpandDims": lambda: OperatorRecord(computed="contrib_elements.expand", reads=("axis",)),
    "FastGelu": lambda: OperatorRecord(computed="contrib_elements.with_bias"),
    "GatherND": lambda: OperatorRecord(computed="gathering.gather_nd", reads=("indices",)),
    "Gelu": _as_input,
    "Inverse": lambda: OperatorRecord(inputs={"X": "*batch n n"}, outputs={"Y": "*batch n n"}),
    "Irfft": lambda: OperatorRecord(
        flags={"normalized": (0,), "onesided": (1,)}, computed="contrib_elements.inverse_real_transform"
    ),
    "IsAllFinite": lambda: OperatorRecord(outputs={"output": ""}),
    "MurmurHash3": _as_input,
    "Pad": lambda: OperatorRecord(
        values={"mode": ("constant", "reflect", "edge", "wrap")},
        inputs={"data": None, "pads": "{?, 1 ?}", "value": ""},
        computed="contrib_elements.pad",
        reads=("pads",),
    ),
    "QuickGelu": _as_input,
    "Range": lambda: OperatorRecord(computed="constants.number_range", reads=("start", "limit", "delta")),
    "Rfft": lambda: OperatorRecord(
        flags={"normalized": (0,), "onesided": (1,)}, computed="contrib_elements.real_transform"
    ),
    "SampleOp": lambda: OperatorRecord(inputs={"X": "*all"}, outputs={"Y": "*all"}),
    "ScaledSiLU": _as_input,
    "Snpe": lambda: OperatorRecord(takes_any_attribute=True, unknown=COMPILED),
    "TorchEmbedding": lambda: OperatorRecord(
        inputs={"weight": "n m", "indices": "*places"},
        outputs={"Y": "*places m"},
    ),
    "Trilu": lambda: OperatorRecord(inputs={"X": "*batch n m", "k": ""}, outputs={"Y": "*batch n m"}),
    "UnfoldTensor": lambda: OperatorRecord(
        attributes={"size": "at least 1", "step": "at least 1"},
        inputs={"input": "*rows ?"},
        computed="contrib_elements.unfold",
    ),
    "Unique": lambda: OperatorRecord(inputs={"x": "n"}, outputs={"y": "?", "idx": "n", "counts": "?"}),
}
