# SPDX-License-Identifier: Apache-2.0
"""Convolutions, pools, normalization and sampling of images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.spec.operators.records import OperatorRecord

_PADS: Final = "NOTSET SAME_UPPER SAME_LOWER VALID"

RECORDS: Final[Mapping[str, Callable[[], OperatorRecord]]] = {
    "ConvTransposeWithDynamicPads": lambda: OperatorRecord(
        attributes={"group": "at least 1"},
        values={"auto_pad": _PADS},
        inputs={"X": "? c ? *more", "W": "c ? ? *kernel"},
        computed="contrib_images.padded_transposed_convolution",
    ),
    "CropAndResize": lambda: OperatorRecord(
        values={"mode": "bilinear nearest"},
        inputs={"X": "? ? ? ?", "rois": "n 4", "batch_indices": "n", "crop_size": "2"},
        computed="contrib_images.crop",
        reads=("crop_size",),
    ),
    "FusedConv": lambda: OperatorRecord(
        values={"activation": "Clip HardSigmoid HardSwish LeakyRelu Relu Sigmoid Tanh", "auto_pad": _PADS},
        computed="contrib_images.fused_convolution",
    ),
    "GridSample": lambda: OperatorRecord(
        values={"mode": "bilinear nearest bicubic", "padding_mode": "zeros border reflection"},
        inputs={"X": "n ? ? ?", "Grid": "n ? ? 2"},
        computed="images.sample_at_grid",
    ),
    "GroupNorm": lambda: OperatorRecord(
        inputs={"X": "*all"},
        advised={"X": "? ? ? ?", "gamma": "c=@groups*d", "beta": "c=@groups*d"},
        outputs={"Y": "*all"},
    ),
    "MaxpoolWithMask": lambda: OperatorRecord(
        minima={"pads": 0},
        lengths="kernel_shape strides dilations 2*pads",
        values={"auto_pad": _PADS},
        combinations=("SOME kernel_shape",),
        inputs={"X": "? ? *spatial", "M": "? ? *spatial"},
        computed="pooling.pool",
    ),
    "NhwcConv": lambda: OperatorRecord(
        values={"auto_pad": _PADS},
        inputs={"X": "? ? ? *more"},
        computed="contrib_images.convolution_with_channels_last",
    ),
    "NhwcFusedConv": lambda: OperatorRecord(
        values={"auto_pad": _PADS},
        inputs={"X": "? ? ? *more"},
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
        inputs={"X": "*all"},
        advised={"X": "? ? ? ?", "gamma": "c=@groups*d", "beta": "c=@groups*d", "bias": "c"},
        outputs={"Y": "*all", "S": "*all"},
    ),
}
