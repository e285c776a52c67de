# SPDX-License-Identifier: Apache-2.0
"""Names of operators of other projects that occur in models as if they were operators of ONNX."""

from __future__ import annotations

from typing import Final

RUNTIME_HAD_FIRST: Final = frozenset({"LayerNormalization", "MeanVarianceNormalization", "ThresholdedRelu"})
"""Operators that ONNX Runtime had in the default domain before ONNX, with its own schemas of version 1."""

RUNTIME_TRAINING: Final = frozenset({"AveragePoolGrad", "MaxPoolGrad"})
"""Operators that ONNX Runtime Training has in the default domain; its other gradients have a domain of their own."""

OF_FRAMEWORKS: Final = {
    "AdaptiveAvgPool2d": "GlobalAveragePool",
    "AddV2": "Add",
    "AvgPool": "AveragePool",
    "AvgPool2D": "AveragePool",
    "AvgPool2d": "AveragePool",
    "BatchMatMul": "MatMul",
    "BatchNorm": "BatchNormalization",
    "BatchNorm2d": "BatchNormalization",
    "Bmm": "MatMul",
    "Cat": "Concat",
    "Concatenate": "Concat",
    "Conv1d": "Conv",
    "Conv2D": "Conv",
    "Conv2d": "Conv",
    "ConvTranspose2d": "ConvTranspose",
    "Dense": "Gemm",
    "Convolution": "Conv",
    "Divide": "Div",
    "Embedding": "Gather",
    "FullyConnected": "Gemm",
    "GlobalAvgPool": "GlobalAveragePool",
    "GroupNorm": "GroupNormalization",
    "InnerProduct": "Gemm",
    "InstanceNorm": "InstanceNormalization",
    "LayerNorm": "LayerNormalization",
    "Linear": "Gemm",
    "LocalResponseNorm": "LRN",
    "MaxPool2D": "MaxPool",
    "MaxPool2d": "MaxPool",
    "Maximum": "Max",
    "Minimum": "Min",
    "Multiply": "Mul",
    "Permute": "Transpose",
    "Power": "Pow",
    "RealDiv": "Div",
    "Select": "Where",
    "Subtract": "Sub",
    "SyncBatchNorm": "BatchNormalization",
    "View": "Reshape",
}
"""Names that other frameworks have for operators of ONNX. Whether a node may be one is tried."""

TENSORFLOW: Final = frozenset(
    {
        "AddV2",
        "BatchMatMul",
        "BatchMatMulV2",
        "BiasAdd",
        "Bincount",
        "CombinedNonMaxSuppression",
        "ConcatV2",
        "Conv2D",
        "CropAndResize",
        "DecodeJpeg",
        "DepthwiseConv2dNative",
        "Digamma",
        "Erfc",
        "ExpandDims",
        "FFT",
        "FloorDiv",
        "FloorMod",
        "FusedBatchNorm",
        "FusedBatchNormV3",
        "GatherV2",
        "HashTableV2",
        "IRFFT",
        "IteratorGetNext",
        "Lgamma",
        "LookupTableFindV2",
        "MatrixBandPart",
        "MatrixDiagV3",
        "NonMaxSuppressionV5",
        "PartitionedCall",
        "Placeholder",
        "RFFT",
        "ReadVariableOp",
        "RealDiv",
        "ResizeBilinear",
        "Rint",
        "Roll",
        "Rsqrt",
        "SegmentSum",
        "SquaredDifference",
        "StatefulPartitionedCall",
        "StridedSlice",
        "TensorListGetItem",
        "TensorListReserve",
        "TensorListSetItem",
        "TensorListStack",
        "UnsortedSegmentSum",
        "VarHandleOp",
        "Xlogy",
    }
)
"""Operators of TensorFlow that converters leave behind, or that people try instead of ONNX operators."""
