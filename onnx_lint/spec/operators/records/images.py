# SPDX-License-Identifier: Apache-2.0
"""The records of operators on images: convolutions, pools, normalization and sampling.

The texts are in the language of `records.grammar`, and the fields are those of `records.OperatorRecord`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.spec.operators.records import OperatorRecord

_PADS: Final = ("", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")

RECORDS: Final[Mapping[str, Callable[[], OperatorRecord]]] = {
    "ConvTransposeWithDynamicPads": lambda: OperatorRecord(
        attributes={"group": "at least 1"},
        values={"auto_pad": _PADS},
        inputs={"X": "? channels ? *more", "W": "channels ? ? *kernel"},
        computed="contrib_images.padded_transposed_convolution",
    ),
    "CropAndResize": lambda: OperatorRecord(
        values={"mode": ("bilinear", "nearest")},
        inputs={"X": "batch ? ? ?", "rois": "regions 4", "batch_indices": "regions", "crop_size": "2"},
        contents={"batch_indices": "at least 0; below batch", "crop_size": "at least 1"},
        computed="contrib_images.crop",
        reads=("crop_size",),
    ),
    "FusedConv": lambda: OperatorRecord(
        attributes={
            "activation": "with Clip needs activation_params; with HardSigmoid needs activation_params; "
            "with LeakyRelu needs activation_params",
            "activation_params": (
                "as many as 2 if activation=Clip; as many as 2 if activation=HardSigmoid; "
                "as many as 1 if activation=LeakyRelu"
            ),
        },
        since={"activation=HardSwish": "1.32.0"},
        values={
            "activation": ("Clip", "HardSigmoid", "HardSwish", "LeakyRelu", "Relu", "Sigmoid", "Tanh"),
            "auto_pad": _PADS,
        },
        computed="contrib_images.fused_convolution",
    ),
    "GridSample": lambda: OperatorRecord(
        values={"mode": ("bilinear", "nearest", "bicubic"), "padding_mode": ("zeros", "border", "reflection")},
        inputs={"X": "batch ? ? ?", "Grid": "batch ? ? 2"},
        computed="images.sample_at_grid",
    ),
    "GroupNorm": lambda: OperatorRecord(
        flags={"activation": (0, 1), "channels_last": (0, 1)},
        inputs={"X": "*all"},
        advised={
            "X": {"channels_last=0": "? channels=@groups*group_size ? ?", "else": "? ? ? channels=@groups*group_size"},
            "gamma": "channels",
            "beta": "channels",
            "epsilon": "at least 0; not nan",
            "groups": "at least 1",
        },
        outputs={"Y": "*all"},
    ),
    "MaxpoolWithMask": lambda: OperatorRecord(
        minima={"pads": 0},
        lengths="kernel_shape strides dilations 2*pads",
        values={"auto_pad": _PADS},
        combinations=("SOME kernel_shape",),
        inputs={"X": "? ? *spatial", "M": "? ? *spatial"},
        computed="contrib_images.pool_of_integers",
    ),
    "NhwcConv": lambda: OperatorRecord(
        values={"auto_pad": _PADS},
        inputs={"X": "? ? ? *more"},
        defaults={"group": 1},
        advised={"X": "? ? *spatial @group*channels", "W": "outputs channels ? *kernel", "B": "outputs"},
        computed="contrib_images.convolution_with_channels_last",
    ),
    "NhwcFusedConv": lambda: OperatorRecord(
        values={"auto_pad": _PADS},
        inputs={"X": "? ? ? *more"},
        defaults={"group": 1},
        advised={
            "X": "? ? *spatial @group*channels",
            "W": "outputs channels ? *kernel",
            "B": "outputs",
            "Z": "? ? *places outputs",
        },
        computed="contrib_images.convolution_with_channels_last",
    ),
    "NhwcMaxPool": lambda: OperatorRecord(
        minima={"pads": 0},
        lengths="kernel_shape strides dilations 2*pads",
        values={"auto_pad": _PADS},
        inputs={"x": "? ? ? *more"},
        computed="contrib_images.pool_of_integers",
    ),
    "SkipGroupNorm": lambda: OperatorRecord(
        flags={"activation": (0, 1), "channels_last": (0, 1)},
        inputs={"X": "*all"},
        advised={
            "X": {"channels_last=0": "? channels=@groups*group_size ? ?", "else": "? ? ? channels=@groups*group_size"},
            "gamma": "channels",
            "beta": "channels",
            "skip": "{? ? ? ?, ? channels}",
            "bias": "channels",
            "epsilon": "at least 0; not nan",
            "groups": "at least 1",
        },
        outputs={"Y": "*all", "S": "*all"},
    ),
}
