# SPDX-License-Identifier: Apache-2.0
"""Makes families of models, as folders of a model hub hold them: one architecture in several precisions and sizes.

They conform, except that their names are not C90 identifiers.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import models
from exports import INT8
from large_models import FLOAT, FLOAT16, INT64, declare

from onnx_lint import schema

_HEADS: Final = 4
_SIDE: Final = 16
"""The number of rows and of columns of an image."""


@dataclass(frozen=True, slots=True)
class Member:
    """What a model of a family has of its own: its precision, its size and its names."""

    precision: str
    width: int
    vocabulary: int
    prefix: str
    """The first part of all names."""


def _members(seed: int) -> Iterator[tuple[str, Member]]:
    """Yield the members of a family by their names: three precisions of one checkpoint, and three more checkpoints."""
    for precision in ("fp32", "fp16", "int8"):
        yield precision, Member(precision, 16, 100, "model")
    for index, prefix in enumerate(("encoder", "backbone.body", "student"), 1):
        yield f"checkpoint_{index}", Member("fp32", 4 * (seed % 5 + 2 * index + 1), 100 + 17 * seed + index, prefix)


class _Network(models.Writer):
    """Writes a member of a family block by block."""

    def __init__(self, seed: int, member: Member) -> None:
        super().__init__(seed, FLOAT16 if member.precision == "fp16" else FLOAT)
        self._is_quantized = member.precision == "int8"
        self._prefix = member.prefix
        self._width = member.width
        self.model.producer_name = "onnx.quantize" if self._is_quantized else "pytorch"
        self.model.opset_import[0].version = 17 + seed % 4
        del self.graph.input[:]

    def text(self, vocabulary: int, blocks: Sequence[str]) -> Any:
        """Write a network for tokens: an embedding, and blocks of attention and perceptrons."""
        self._enter("embeddings")
        declare(self.graph.input, "input_ids", INT64, "batch", "sequence")
        table = self.weight("word_embeddings.weight", vocabulary, self._width)
        self.value = self.node("Gather", table, "input_ids", shape=("batch", "sequence", self._width))
        for index, block in enumerate(blocks):
            self._enter(f"layer.{index}/{block}")
            _BLOCKS[block](self)
        return self._finished("batch", "sequence", self._width)

    def image(self, classes: int, blocks: Sequence[str]) -> Any:
        """Write a network for images: a first convolution, blocks of convolutions, and a classifier."""
        self._enter("stem")
        declare(self.graph.input, "pixel_values", self.element_type, "batch", 3, _SIDE, _SIDE)
        self.value = self.convolution("pixel_values", "conv", 3)
        for index, block in enumerate(blocks):
            self._enter(f"stages.{index}/{block}")
            _BLOCKS[block](self)
        self._enter("classifier")
        flat = self.node("Flatten", self.node("GlobalAveragePool", self.value), axis=1)
        self.value = self.product(flat, "dense", self._width, classes)
        return self._finished("batch", classes)

    def _enter(self, scope: str) -> None:
        self.scope = f"/{self._prefix}/{scope}"

    def _finished(self, *shape: int | str) -> Any:
        declare(self.graph.output, self.value, self.element_type, *shape)
        return self.model

    # --- parts of blocks

    def product(self, value: str, name: str, inner: int, outer: int) -> str:
        """Multiply by a weight and add a bias; both sides of the product are quantized if the member is."""
        weight = self._weight(name, 1, inner, outer)
        product = self.node("MatMul", self._quantized(value, name), weight)
        return self.node("Add", product, self.weight(f"{name}.bias", outer))

    def convolution(self, value: str, name: str, channels: int, group: int = 1) -> str:
        """Convolve with 3 x 3 weights, without a change of rows and columns."""
        weight = self._weight(name, 0, self._width, channels // group, 3, 3)
        bias = self.weight(f"{name}.bias", self._width)
        same: dict[str, Any] = {"dilations": (1, 1), "kernel_shape": (3, 3), "pads": (1, 1, 1, 1), "strides": (1, 1)}
        shape = ("batch", self._width, _SIDE, _SIDE)
        return self.node("Conv", self._quantized(value, name), weight, bias, group=group, shape=shape, **same)

    def _weight(self, name: str, axis: int, *shape: int) -> str:
        """Return a weight; if the member is quantized, in int8 with a scale for each channel."""
        if not self._is_quantized:
            return self.weight(f"{name}.weight", *shape)
        stored = self._bytes(f"{name}.weight_quantized", *shape)
        scale = self.weight(f"{name}.weight_scale", shape[axis])
        zero = self._bytes(f"{name}.weight_zero_point", shape[axis])
        return self.node("DequantizeLinear", stored, scale, zero, axis=axis)

    def _quantized(self, value: str, name: str) -> str:
        """Return the value; if the member is quantized, after a pair of QuantizeLinear and DequantizeLinear."""
        if not self._is_quantized:
            return value
        scale, zero = self.weight(f"{name}.input_scale"), self._bytes(f"{name}.input_zero_point")
        return self.node("DequantizeLinear", self.node("QuantizeLinear", value, scale, zero), scale, zero)

    def _bytes(self, name: str, *shape: int) -> str:
        """Add an initializer of int8: zero points are 0, and weights any number."""
        count = math.prod(shape)
        content = self.random.randbytes(count) if len(shape) > 1 else bytes(count)
        full = f"{self.scope.strip('/').replace('/', '.')}.{name}"
        self.graph.initializer.add(name=full, data_type=INT8, dims=shape, raw_data=content)
        return full

    # --- blocks

    def attention(self) -> None:
        """Attention of several heads, with shapes that the model computes."""
        value = self._normalized()
        width, size = self._width, self._width // _HEADS
        batch, length = (self._size_of(value, axis) for axis in (0, 1))
        heads = []
        for name, order in (("query", (0, 2, 1, 3)), ("key", (0, 2, 3, 1)), ("value", (0, 2, 1, 3))):
            parts = (batch, length, self.constant(_HEADS), self.constant(size))
            target = self.node("Concat", *parts, axis=0)
            split = self.node("Reshape", self.product(value, name, width, width), target)
            heads.append(self.node("Transpose", split, perm=order))
        scores = self.node("Mul", self.node("MatMul", heads[0], heads[1]), self._number(size**-0.5))
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), heads[2])
        target = self.node("Concat", batch, length, self.constant(width), axis=0)
        joined = self.node("Reshape", self.node("Transpose", mixed, perm=(0, 2, 1, 3)), target)
        self._add(self.product(joined, "output", width, width), "batch", "sequence", width)

    def perceptron(self) -> None:
        """Two layers with GELU between them."""
        width = self._width
        wide = self.product(self._normalized(), "intermediate", width, 4 * width)
        error = self.node("Erf", self.node("Div", wide, self._number(math.sqrt(2))))
        active = self.node("Mul", self.node("Mul", wide, self.node("Add", error, self._number(1.0))), self._number(0.5))
        self._add(self.product(active, "output", 4 * width, width), "batch", "sequence", width)

    def gate(self) -> None:
        """Two products, one of which decides how much of the other passes."""
        width = self._width
        value = self._normalized()
        gate = self.product(value, "gate_proj", width, 2 * width)
        chosen = self.node("Mul", gate, self.node("Sigmoid", gate))
        wide = self.node("Mul", chosen, self.product(value, "up_proj", width, 2 * width))
        self._add(self.product(wide, "down_proj", 2 * width, width), "batch", "sequence", width)

    def residual(self) -> None:
        """Two convolutions beside the value itself."""
        first = self.node("Relu", self.convolution(self.value, "conv1", self._width))
        second = self.convolution(first, "conv2", self._width)
        self._add(second, "batch", self._width, _SIDE, _SIDE)
        self.value = self.node("Relu", self.value)

    def separable(self) -> None:
        """A convolution of each channel, with the activation of MobileNet."""
        value = self.convolution(self.value, "depthwise", self._width, group=self._width)
        self.value = self.node("Clip", value, self._number(0.0), self._number(6.0))

    def squeeze(self) -> None:
        """Scale the channels by what is in all of the image."""
        pooled = self.node("GlobalAveragePool", self.value)
        scale = self.node("HardSigmoid", self.node("Relu", pooled), alpha=1 / 6)
        self.value = self.node("Mul", self.value, scale, shape=("batch", self._width, _SIDE, _SIDE))

    def _normalized(self) -> str:
        scale, bias = self.weight("norm.weight", self._width), self.weight("norm.bias", self._width)
        return self.node("LayerNormalization", self.value, scale, bias, axis=-1, epsilon=1e-5)

    def _add(self, value: str, *shape: int | str) -> None:
        self.value = self.node("Add", self.value, value, shape=shape)

    def _size_of(self, value: str, axis: int) -> str:
        """Return a dimension as a list of one number."""
        size = self.node("Gather", self.node("Shape", value), self._index(axis), axis=0)
        return self.node("Unsqueeze", size, self.constant(0))

    def _index(self, index: int) -> str:
        return self._scalar(INT64, struct.pack("<q", index))

    def _number(self, value: float) -> str:
        return self._scalar(self.element_type, struct.pack(models.PACKED[self.element_type], value))

    def _scalar(self, element_type: int, content: bytes) -> str:
        tensor = schema.message("TensorProto")(data_type=element_type, raw_data=content)
        return self.node("Constant", value=tensor)


_BLOCKS: Final[MappingProxyType[str, Callable[[_Network], None]]] = MappingProxyType(
    {
        "attention": _Network.attention,
        "perceptron": _Network.perceptron,
        "gate": _Network.gate,
        "residual": _Network.residual,
        "separable": _Network.separable,
        "squeeze": _Network.squeeze,
    }
)
_OF_TEXT: Final = (("attention", "perceptron"), ("attention", "gate"))
_OF_IMAGES: Final = (("residual", "residual"), ("separable", "squeeze"), ("residual", "squeeze"))


def family(seed: int) -> Iterator[tuple[str, Any]]:
    """Yield the six models of a family, each with its name. The seed decides the architecture and its depth."""
    depth = 2 + seed % 4
    for name, member in _members(seed):
        network = _Network(seed, member)
        if seed % 2:
            yield name, network.image(member.vocabulary, _OF_IMAGES[seed % 3] * depth)
        else:
            yield name, network.text(member.vocabulary, _OF_TEXT[seed // 2 % 2] * depth)


def write(folder: Path, count: int) -> None:
    """Write the models of `count` families into a folder."""
    folder.mkdir()
    for seed in range(count):
        for name, made in family(seed):
            models.save(made, folder / f"family_{seed:02}_{name}.onnx")
