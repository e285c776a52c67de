# SPDX-License-Identifier: Apache-2.0
"""Models for pictures of the HTML report: decoders with one planted fault each, and a collection of small models.

Everything is made by rules and a seed, so that the pictures can be made again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

_HIDDEN: Final = 32
_HEADS: Final = 4
_FEATURES: Final = 64
_WORDS: Final = 100
_LAYERS: Final = 2


def decoder() -> ModelProto:
    """Return a decoder of two layers with random weights, named as an exporter of PyTorch names it."""
    made = _Decoder(random.Random(1))
    hidden = made.node(
        "Gather", "/model/embed_tokens/Gather", [made.weight("model.embed_tokens.weight", _WORDS, _HIDDEN), "input_ids"]
    )
    for layer in range(_LAYERS):
        hidden = made.layer(hidden, layer)
    hidden = made.norm(hidden, "model.norm")
    made.node("MatMul", "/lm_head/MatMul", [hidden, made.weight("lm_head.weight", _HIDDEN, _WORDS)], "logits")
    graph = helper.make_graph(
        made.nodes,
        "main_graph",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch_size", "sequence_length"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch_size", "sequence_length", _WORDS])],
        made.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="pytorch", ir_version=8)
    model.producer_version = "2.8.0"
    return model


class _Decoder:
    """The nodes and weights of a decoder that is being made."""

    def __init__(self, source: random.Random) -> None:
        self._source = source
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []

    def node(self, operator: str, name: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        output = output or f"{name}_output_0"
        self.nodes.append(helper.make_node(operator, inputs, [output], name, **attributes))
        return output

    def weight(self, name: str, *dims: int) -> str:
        count = int(numpy.prod(dims))
        values = numpy.array([self._source.uniform(-1, 1) for _ in range(count)], numpy.float32).reshape(dims)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def constant(self, name: str, values: object, dtype: type = numpy.int64) -> str:
        self.weights.append(numpy_helper.from_array(numpy.array(values, dtype), name))
        return name

    def norm(self, hidden: str, name: str) -> str:
        weights = [self.weight(f"{name}.{part}", _HIDDEN) for part in ("weight", "bias")]
        return self.node("LayerNormalization", f"/{_path(name)}/LayerNormalization", [hidden, *weights])

    def linear(self, hidden: str, name: str, before: int = _HIDDEN, after: int = _HIDDEN) -> str:
        return self.node("MatMul", f"/{_path(name)}/MatMul", [hidden, self.weight(f"{name}.weight", before, after)])

    def layer(self, hidden: str, number: int) -> str:
        name = f"model.layers.{number}"
        path = f"/{_path(name)}"
        added = self.attention(self.norm(hidden, f"{name}.input_layernorm"), f"{name}.self_attn")
        hidden = self.node("Add", f"{path}/Add", [hidden, added])
        inner = self.norm(hidden, f"{name}.post_attention_layernorm")
        gate = self.linear(inner, f"{name}.mlp.gate_proj", after=_FEATURES)
        gate = self.node(
            "Mul", f"{path}/mlp/act_fn/Mul", [gate, self.node("Sigmoid", f"{path}/mlp/act_fn/Sigmoid", [gate])]
        )
        up = self.linear(inner, f"{name}.mlp.up_proj", after=_FEATURES)
        up = self.node("Mul", f"{path}/mlp/Mul", [gate, up])
        return self.node("Add", f"{path}/Add_1", [hidden, self.linear(up, f"{name}.mlp.down_proj", before=_FEATURES)])

    def attention(self, hidden: str, name: str) -> str:
        path = f"/{_path(name)}"
        split = self.constant(f"{path}/Constant_output_0", [0, 0, _HEADS, _HIDDEN // _HEADS])
        parts = []
        for number, (part, order) in enumerate((("q", (0, 2, 1, 3)), ("k", (0, 2, 3, 1)), ("v", (0, 2, 1, 3)))):
            suffix = f"_{number}" if number else ""
            flat = self.linear(hidden, f"{name}.{part}_proj")
            apart = self.node("Reshape", f"{path}/Reshape{suffix}", [flat, split])
            parts.append(self.node("Transpose", f"{path}/Transpose{suffix}", [apart], perm=order))
        scores = self.node("MatMul", f"{path}/MatMul", parts[:2])
        scale = self.constant(f"{path}/Constant_1_output_0", (_HIDDEN / _HEADS) ** 0.5, numpy.float32)
        scores = self.node("Div", f"{path}/Div", [scores, scale])
        scores = self.node("Softmax", f"{path}/Softmax", [scores], axis=-1)
        mixed = self.node("MatMul", f"{path}/MatMul_1", [scores, parts[2]])
        mixed = self.node("Transpose", f"{path}/Transpose_3", [mixed], perm=(0, 2, 1, 3))
        whole = self.constant(f"{path}/Constant_2_output_0", [0, 0, _HIDDEN])
        return self.linear(self.node("Reshape", f"{path}/Reshape_3", [mixed, whole]), f"{name}.o_proj")


def _path(name: str) -> str:
    """Return the path that an exporter makes of a module's name; the number of a layer stays with its list."""
    return name.replace(".", "/").replace("layers/", "layers.")


# --- one fault each


def _wrong_heads(model: ModelProto) -> None:
    """A Reshape that splits 32 features into 4 heads of 16."""
    _replace(model, "/model/layers.1/self_attn/Constant_output_0", numpy.array([0, 0, _HEADS, 16], numpy.int64))


def _renamed_weight(model: ModelProto) -> None:
    """A weight that was renamed without its user."""
    _named(model, "model.layers.1.mlp.down_proj.weight").name = "model.layers.1.mlp.down_projection.weight"


def _half_precision(model: ModelProto) -> None:
    """A scale that stayed in half precision."""
    _replace(model, "/model/layers.0/self_attn/Constant_1_output_0", numpy.array(2.8, numpy.float16))


def _wrong_order(model: ModelProto) -> None:
    """A Transpose that names an axis twice."""
    node = next(each for each in model.graph.node if each.name == "/model/layers.1/self_attn/Transpose_1")
    node.attribute[0].ints[:] = [0, 2, 2, 1]


def _forgotten_transpose(model: ModelProto) -> None:
    """A weight that is stored as PyTorch has it, outputs first."""
    name = "model.layers.0.mlp.gate_proj.weight"
    _replace(model, name, numpy_helper.to_array(_named(model, name)).T)


FAULTS: Final[dict[str, Callable[[ModelProto], None]]] = {
    "wrong-heads": _wrong_heads,
    "renamed-weight": _renamed_weight,
    "half-precision": _half_precision,
    "wrong-order": _wrong_order,
    "forgotten-transpose": _forgotten_transpose,
}
"""The faults to plant in a decoder, by name."""


def faulty_decoder(fault: str) -> ModelProto:
    """Return the decoder with one fault."""
    model = decoder()
    FAULTS[fault](model)
    return model


def _named(model: ModelProto, name: str) -> TensorProto:
    return next(each for each in model.graph.initializer if each.name == name)


def _replace(model: ModelProto, name: str, values: numpy.ndarray) -> None:
    _named(model, name).CopyFrom(numpy_helper.from_array(values, name))


# --- thousands of models

_FOLDERS: Final = ("vision/classification", "vision/detection", "speech/encoders", "text/embeddings", "tabular/ranking")
_PRODUCERS: Final = ("pytorch", "tf2onnx", "skl2onnx", "paddle2onnx", "")


def write_collection(folder: Path, count: int) -> None:
    """Write small models of five producers; one in six has a fault."""
    source = random.Random(2)
    for number in range(count):
        path = folder / _FOLDERS[number % 5] / f"export-{number // 500:02}" / f"model_{number:05}.onnx"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_small(source, number).SerializeToString())


def change_collection(folder: Path, seed: int) -> None:
    """Write a tenth of the models of a collection anew, as after a month of work."""
    source = random.Random(seed)
    paths = sorted(folder.rglob("*.onnx"))
    for number in source.sample(range(len(paths)), len(paths) // 10):
        paths[number].write_bytes(_small(source, number).SerializeToString())


def _small(source: random.Random, number: int) -> ModelProto:
    features, classes = source.choice((16, 32, 64)), source.choice((2, 10, 100))
    kind = source.randrange(36)  # six of them are faults
    nodes = [
        helper.make_node("MatMul", ["x", "encoder.weight"], ["encoded"], "/encoder/MatMul"),
        helper.make_node("Add", ["encoded", "encoder.bias"], ["shifted"], "/encoder/Add"),
        helper.make_node("Relu", ["shifted"], ["active"], "/activation/Relu"),
        helper.make_node("Gemm", ["active", "head.weight", "head.bias"], ["scores"], "/head/Gemm", transB=1),
        helper.make_node("Softmax", ["scores"], ["y"], "/Softmax", axis=1),
    ]
    shapes = {
        "encoder.weight": (8, features),
        "encoder.bias": (features,),
        "head.weight": (classes, features),
        "head.bias": (classes,),
    }
    if kind == 0:
        shapes["encoder.bias"] = (features + 1,)
    elif kind == 1:
        shapes["head.weight"] = (features, classes)
    elif kind == 2:
        nodes[2].input[0] = "shifted_1"
    elif kind == 3:
        nodes[4].attribute[0].name = "axes"
    elif kind == 4:
        nodes[2].op_type = "ReLU"
    elif kind == 5:
        nodes.insert(0, nodes.pop())
    graph = helper.make_graph(
        nodes,
        f"network_{number}",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", classes])],
        [
            helper.make_tensor(name, TensorProto.FLOAT, dims, bytes(4 * int(numpy.prod(dims))), raw=True)
            for name, dims in shapes.items()
        ],
    )
    opset = helper.make_opsetid("", 21)
    return helper.make_model(graph, opset_imports=[opset], producer_name=_PRODUCERS[number % 5], ir_version=10)
