# SPDX-License-Identifier: Apache-2.0
"""Records of operators that work element by element or change the layout, and of operators that fit no other module.

The texts are in the language of `records.grammar`, and the fields are those of `records.OperatorRecord`.
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
        where={
            "directions": {"direction=bidirectional": "2", "else": "1"},
            "attended_width": {"AW": "attended_width", "else": "memory_width"},
        },
        inputs={
            "X": "length batch input_width",
            "W": "directions 4*@hidden_size input_width+attended_width",
            "R": "directions 4*@hidden_size @hidden_size",
            "B": "directions 8*@hidden_size",
            "sequence_lens": "batch",
            "initial_h": "directions batch @hidden_size",
            "initial_c": "directions batch @hidden_size",
            "P": "directions 3*@hidden_size",
            "QW": "directions @hidden_size attention_width",
            "MW": "directions memory_width attention_width",
            "V": "directions attention_width",
            "M": "batch ? memory_width",
            "memory_seq_lens": "batch",
            "AW": "directions memory_width+@hidden_size attended_width",
        },
        outputs={
            "Y": "length directions batch @hidden_size",
            "Y_h": "directions batch @hidden_size",
            "Y_c": "directions batch @hidden_size",
        },
    ),
    "BiasAdd": lambda: OperatorRecord(
        inputs={"X": "*all"},
        advised={"X": "batch length channels", "bias": "channels", "skip": "batch length channels"},
        outputs={"Y": "*all"},
    ),
    "BiasDropout": lambda: OperatorRecord(
        takes_any_attribute=True,
        inputs={"data": "*all"},
        advised={
            "data": "*rows channels",
            "bias": "{channels, *rows channels}",
            "residual": "*rows channels",
            "ratio": "",
            "training_mode": "",
        },
        outputs={"output": "*all", "mask": "*all"},
    ),
    "BiasGelu": lambda: OperatorRecord(computed="contrib_elements.with_bias"),
    "BiasSoftmax": lambda: OperatorRecord(inputs={"data": "*all"}, outputs={"output": "*all"}),
    "BiasSplitGelu": lambda: OperatorRecord(
        inputs={"X": "batch length 2*width", "bias": "2*width"}, outputs={"Y": "batch length width"}
    ),
    "BitmaskBiasDropout": lambda: OperatorRecord(
        takes_any_attribute=True,
        inputs={"data": "*all"},
        advised={
            "data": "*rows channels",
            "bias": "{channels, *rows channels}",
            "residual": "*rows channels",
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
        inputs={"A": "rows columns", "B": "other_rows columns"},
        outputs={"C": "rows other_rows"},
    ),
    "ComplexMul": lambda: OperatorRecord(unknown=NO_WORD),
    "ComplexMulConj": lambda: OperatorRecord(unknown=NO_WORD),
    "DynamicTimeWarping": lambda: OperatorRecord(inputs={"input": "{? ?, 1 ? ?}"}, outputs={"output": "2 ?"}),
    "EPContext": lambda: OperatorRecord(takes_any_attribute=True, unknown=COMPILED),
    "ExpandDims": lambda: OperatorRecord(computed="contrib_elements.expand", reads=("axis",)),
    "FastGelu": lambda: OperatorRecord(computed="contrib_elements.with_bias"),
    "GatherND": lambda: OperatorRecord(computed="gathering.gather_nd", reads=("indices",)),
    "Gelu": _as_input,
    "Inverse": lambda: OperatorRecord(inputs={"X": "*batch size size"}, outputs={"Y": "*batch size size"}),
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
        inputs={"weight": "rows width", "indices": "*places"},
        outputs={"Y": "*places width"},
    ),
    "Trilu": lambda: OperatorRecord(inputs={"X": "*batch rows columns", "k": ""}, outputs={"Y": "*batch rows columns"}),
    "UnfoldTensor": lambda: OperatorRecord(
        attributes={"size": "at least 1", "step": "at least 1"},
        inputs={"input": "*rows ?"},
        computed="contrib_elements.unfold",
    ),
    "Unique": lambda: OperatorRecord(inputs={"x": "count"}, outputs={"y": "?", "idx": "count", "counts": "?"}),
}
