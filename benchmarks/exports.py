# SPDX-License-Identifier: Apache-2.0
"""Makes small models as exporters write them: one function for each exporter, which a seed varies.

They conform, except that their names are not C90 identifiers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Final

import models
from large_models import FLOAT, INT64, declare

from onnx_lint import schema

INT8: Final = 3
INT32: Final = 6
_ML: Final = "ai.onnx.ml"
_SIDE: Final = 16
"""The number of rows and of columns of an image."""


def _writer(seed: int, producer: str, version: int, ir_version: int, *shape: int | str) -> models.Writer:
    """Start a model of one exporter, whose input has this shape."""
    writer = models.Writer(seed)
    writer.model.producer_name = producer
    writer.model.ClearField("producer_version")
    writer.model.ir_version = ir_version
    writer.model.opset_import[0].version = version
    del writer.graph.input[:]
    declare(writer.graph.input, writer.value, FLOAT, *shape)
    return writer


def _ints(writer: models.Writer, name: str, *values: int) -> str:
    """Add an initializer, a list of int64."""
    content = struct.pack(f"<{len(values)}q", *values)
    writer.graph.initializer.add(name=name, data_type=INT64, dims=[len(values)], raw_data=content)
    return name


def _number(writer: models.Writer, value: float) -> str:
    """Add a Constant of one float, as exporters write a number of their program."""
    content = struct.pack("<f", value)
    tensor = schema.message("TensorProto")(data_type=FLOAT, dims=[], raw_data=content)
    return writer.node("Constant", value=tensor)


def tensorflow(seed: int) -> Any:
    """A network of images in the order of TensorFlow, with transpositions and a Constant for each number."""
    writer = _writer(seed, "tf2onnx", 15, 8, "unk__1", _SIDE, _SIDE, 3)
    channels = 3
    for layer in range(2 + seed % 4):
        writer.scope = f"StatefulPartitionedCall/model_1/conv2d_{layer}"
        more = 4 * (1 + writer.random.randrange(4))
        shape = ("unk__1", more, _SIDE, _SIDE)
        first = writer.node("Transpose", writer.value, perm=(0, 3, 1, 2))
        kernel = writer.weight("Conv2D/ReadVariableOp", more, channels, 3, 3)
        value = writer.node("Conv", first, kernel, kernel_shape=(3, 3), strides=(1, 1), pads=(1, 1, 1, 1), group=1)
        value = writer.node("Mul", value, _number(writer, writer.random.random()))
        value = writer.node("Add", value, _number(writer, writer.random.random()), shape=shape)
        value = writer.node("Clip", value, _number(writer, 0.0), _number(writer, 6.0), shape=shape)
        writer.value = writer.node("Transpose", value, perm=(0, 2, 3, 1))
        channels = more
    writer.scope = "StatefulPartitionedCall/model_1/flatten"
    size = writer.node("Cast", writer.node("Shape", writer.value), to=INT32)
    wide = writer.node("Cast", size, to=INT64)
    bounds = (_ints(writer, f"const_{name}", number) for name, number in (("starts", 0), ("ends", 1), ("axes", 0)))
    batch = writer.node("Slice", wide, *bounds)
    target = writer.node("Concat", batch, _ints(writer, "const_flat", _SIDE * _SIDE * channels), axis=0)
    flat = writer.node("Reshape", writer.value, target)
    writer.scope = "StatefulPartitionedCall/model_1/dense"
    product = writer.node("MatMul", flat, writer.weight("MatMul/ReadVariableOp", _SIDE * _SIDE * channels, 10))
    biased = writer.node("Add", product, writer.weight("BiasAdd/ReadVariableOp", 10))
    return _finished(writer, writer.node("Softmax", biased, axis=-1), FLOAT, "unk__1", 10)


def scikit(seed: int) -> Any:
    """A pipeline of scikit-learn: a scaler, and a linear classifier or arithmetic for a regression."""
    features = 4 + seed
    writer = _writer(seed, "skl2onnx", 19, 9, "N", features)
    writer.model.opset_import.add(domain=_ML, version=3)
    offsets = [writer.random.random() for _ in range(features)]
    value = writer.node("Scaler", "input", domain=_ML, offset=offsets, scale=[1.0 + part for part in offsets])
    if seed % 2:
        value = writer.node("MatMul", value, writer.weight("coefficients", features, 1))
        value = writer.node("Exp", writer.node("Add", value, writer.weight("intercept", 1)))
        return _finished(writer, writer.node("Reshape", value, _ints(writer, "shape", -1, 1)), FLOAT, "N", 1)
    classes = 3 + seed
    coefficients = [writer.random.random() for _ in range(classes * features)]
    intercepts = coefficients[:classes]
    labels = {"classlabels_ints": range(classes), "coefficients": coefficients, "intercepts": intercepts}
    writer.node("LinearClassifier", value, domain=_ML, multi_class=1, post_transform=b"NONE", **labels)
    writer.graph.node[-1].output.append("probability_tensor")
    label = writer.graph.node[-1].output[0]
    normalized = writer.node("Normalizer", "probability_tensor", domain=_ML, norm=b"L1")
    writer.graph.node[-1].output[:] = ["probabilities"]
    declare(writer.graph.output, "probabilities", FLOAT, "N", classes)
    assert normalized
    return _finished(writer, label, INT64, "N")


def quantized(seed: int) -> Any:
    """A network with QuantizeLinear and DequantizeLinear around each operator, as quantizers write it."""
    writer = _writer(seed, "onnx.quantize", 17, 8, "batch", 3, _SIDE, _SIDE)
    channels = 3
    value = writer.value
    for layer in range(3 + seed % 5):
        writer.scope = f"features.{layer}"
        more = 4 * (1 + writer.random.randrange(4))
        weight = writer.node(
            "DequantizeLinear",
            _bytes(writer, "weight_quantized", more, channels, 3, 3),
            writer.weight("weight_scale", more),
            _bytes(writer, "weight_zero_point", more),
            axis=0,
        )
        value = writer.node("Conv", _requantized(writer, value, "input"), weight, kernel_shape=(3, 3), pads=[1] * 4)
        if layer % 2:
            value = writer.node("Relu", value, shape=("batch", more, _SIDE, _SIDE))
        channels = more
    writer.scope = "classifier"
    pooled = writer.node("GlobalAveragePool", _requantized(writer, value, "pool"))
    flat = writer.node("Flatten", _requantized(writer, pooled, "flat"), axis=1)
    product = writer.node("Gemm", flat, writer.weight("weight", 10, channels), writer.weight("bias", 10), transB=1)
    return _finished(writer, product, FLOAT, "batch", 10)


def _bytes(writer: models.Writer, name: str, *shape: int) -> str:
    """Add an initializer of int8, all zero but for the first element of a tensor of more than one dimension."""
    count = 1
    for size in shape:
        count *= size
    full = f"{writer.scope}.{name}"
    content = bytes([len(shape) // 2]) + bytes(count - 1)
    writer.graph.initializer.add(name=full, data_type=INT8, dims=shape, raw_data=content)
    return full


def _requantized(writer: models.Writer, value: str, name: str) -> str:
    """Quantize a value and back, with a scale and a zero point of its own."""
    scale = f"{writer.scope}.{name}_scale"
    content = struct.pack("<f", 0.01 + writer.random.random())
    writer.graph.initializer.add(name=scale, data_type=FLOAT, dims=[], raw_data=content)
    zero = _bytes(writer, f"{name}_zero_point")
    return writer.node("DequantizeLinear", writer.node("QuantizeLinear", value, scale, zero), scale, zero)


def _finished(writer: models.Writer, value: str, element_type: int, *shape: int | str) -> Any:
    declare(writer.graph.output, value, element_type, *shape)
    return writer.model


EXPORTERS: Final[MappingProxyType[str, Callable[[int], Any]]] = MappingProxyType(
    {
        "torchscript": lambda seed: models.mixture(30 + 15 * seed, seed),
        "dynamo": lambda seed: models.annotated(30 + 10 * seed),
        "tensorflow": tensorflow,
        "scikit": scikit,
        "quantized": quantized,
    }
)
"""Functions that make a model from a seed, by exporter."""
