# SPDX-License-Identifier: Apache-2.0
"""Makes large models that conform, each large in one respect: nodes, Constants, functions, subgraphs, attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from google.protobuf import text_format

from onnx_lint import schema

FLOAT: Final = 1
INT64: Final = 7
BOOL: Final = 9
_ML: Final = "ai.onnx.ml"


def _declare(values: Any, name: str, element_type: int, *shape: int) -> None:
    tensor = values.add(name=name).type.tensor_type
    tensor.elem_type = element_type
    tensor.shape.SetInParent()
    for size in shape:
        tensor.shape.dim.add().dim_value = size


def _model(element_type: int = FLOAT) -> Any:
    """A model with the input `x`, without output and nodes."""
    model = schema.message("ModelProto")(ir_version=10, producer_name="benchmark", producer_version="1")
    model.opset_import.add(domain="", version=21)
    model.graph.name = "main_graph"
    _declare(model.graph.input, "x", element_type, 2)
    return model


def _attribute(node: Any, name: str, kind: str, value: Any) -> None:
    attribute = node.attribute.add(name=name, type=getattr(schema.message("AttributeProto"), kind))
    field = {"INT": "i", "FLOAT": "f", "STRING": "s"}.get(kind, kind.lower())
    if kind in {"INT", "FLOAT", "STRING"}:
        setattr(attribute, field, value)
    else:
        getattr(attribute, field).extend(value)


def chain(count: int) -> Any:
    """A chain of Relu nodes without declared values."""
    model = _model()
    add = model.graph.node.add
    for index in range(count):
        add(op_type="Relu", input=["x" if not index else f"v{index - 1}"], output=[f"v{index}"], name=f"n{index}")
    _declare(model.graph.output, f"v{count - 1}", FLOAT, 2)
    return model


def declared_chain(count: int) -> Any:
    """A chain of Relu nodes without names, each of whose outputs is declared in `value_info`."""
    model = chain(count)
    for node in model.graph.node:
        node.ClearField("name")
    for index in range(count - 1):
        _declare(model.graph.value_info, f"v{index}", FLOAT, 2)
    return model


def initializers(count: int) -> Any:
    """Pairs of a node and an initializer of its own."""
    model = _model()
    graph = model.graph
    for index in range(count):
        graph.initializer.add(name=f"w{index}", data_type=FLOAT, dims=[2], raw_data=b"\0\0\x80\x3f" * 2)
        value = "x" if not index else f"v{index - 1}"
        graph.node.add(op_type="Add", input=[value, f"w{index}"], output=[f"v{index}"])
    _declare(graph.output, f"v{count - 1}", FLOAT, 2)
    return model


def constants(count: int) -> Any:
    """Constant nodes, each with a tensor of its own of 256 bytes, and a Sum of all of them."""
    model = _model()
    graph = model.graph
    for index in range(count):
        node = graph.node.add(op_type="Constant", output=[f"c{index}"])
        attribute = node.attribute.add(name="value", type=schema.message("AttributeProto").TENSOR)
        attribute.t.CopyFrom(
            schema.message("TensorProto")(data_type=FLOAT, dims=[64], raw_data=index.to_bytes(4, "little") * 64)
        )
    graph.node.add(op_type="Concat", input=[f"c{index}" for index in range(count)], output=["y"])
    _attribute(graph.node[-1], "axis", "INT", 0)
    _declare(graph.output, "y", FLOAT, 64 * count)
    return model


def own_constants(count: int) -> Any:
    """Add nodes in a chain, each with a Constant of two floats of its own."""
    model = _model()
    graph = model.graph
    value = "x"
    for index in range(count // 2):
        constant = graph.node.add(op_type="Constant", output=[f"c{index}"])
        tensor = constant.attribute.add(name="value", type=schema.message("AttributeProto").TENSOR).t
        tensor.CopyFrom(schema.message("TensorProto")(data_type=FLOAT, dims=[2], float_data=[index, index / 3]))
        graph.node.add(op_type="Add", input=[value, f"c{index}"], output=[f"v{index}"])
        value = f"v{index}"
    _declare(graph.output, value, FLOAT, 2)
    return model


def own_attributes(count: int) -> Any:
    """LeakyRelu nodes in a chain, each with an alpha of its own."""
    model = _model()
    graph = model.graph
    value = "x"
    for index in range(count):
        node = graph.node.add(op_type="LeakyRelu", input=[value], output=[f"v{index}"])
        _attribute(node, "alpha", "FLOAT", index / count)
        value = f"v{index}"
    _declare(graph.output, value, FLOAT, 2)
    return model


def convolutions(count: int) -> Any:
    """Conv nodes of one form in a chain, with all five attributes."""
    model = _model()
    graph = model.graph
    del graph.input[:]
    _declare(graph.input, "x", FLOAT, 1, 3, 224, 224)
    graph.initializer.add(name="w", data_type=FLOAT, dims=[3, 3, 3, 3], raw_data=bytes(324))
    lists = {"dilations": [1, 1], "kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1]}
    for index in range(count):
        value = "x" if not index else f"v{index - 1}"
        node = graph.node.add(op_type="Conv", input=[value, "w"], output=[f"v{index}"], name=f"n{index}")
        _attribute(node, "group", "INT", 1)
        for name, numbers in lists.items():
            _attribute(node, name, "INTS", numbers)
    _declare(graph.output, f"v{count - 1}", FLOAT, 1, 3, 224, 224)
    return model


def functions(count: int) -> Any:
    """Return a model with small functions of two nodes. Each function is called once."""
    model = _model()
    model.opset_import.add(domain="com.example", version=1)
    for index in range(count):
        function = model.functions.add(name=f"F{index}", domain="com.example", input=["s"], output=["t"])
        function.opset_import.add(domain="", version=21)
        function.node.add(op_type="Relu" if index % 2 else "Neg", input=["s"], output=["r"])
        function.node.add(op_type="Abs", input=["r"], output=["t"])
        value = "x" if not index else f"v{index - 1}"
        model.graph.node.add(op_type=f"F{index}", domain="com.example", input=[value], output=[f"v{index}"])
    _declare(model.graph.output, f"v{count - 1}", FLOAT, 2)
    return model


def subgraphs(count: int) -> Any:
    """Loops, each with an If in its body: three subgraphs for each Loop."""
    model = _model()
    graph = model.graph
    _declare(graph.input, "c", BOOL)
    _declare(graph.input, "n", INT64)
    for index in range(count // 3):
        value = "x" if not index else f"v{index - 1}"
        loop = graph.node.add(op_type="Loop", input=["n", "c", value], output=[f"v{index}"])
        attribute = loop.attribute.add(name="body", type=schema.message("AttributeProto").GRAPH)
        body = attribute.g
        body.name = f"body{index}"
        _declare(body.input, f"i{index}", INT64)
        _declare(body.input, f"c{index}", BOOL)
        _declare(body.input, f"s{index}", FLOAT, 2)
        body.node.add(op_type="Identity", input=[f"c{index}"], output=[f"d{index}"])
        branching = body.node.add(op_type="If", input=[f"c{index}"], output=[f"t{index}"])
        for branch, op_type in (("then", "Relu"), ("else", "Neg")):
            inner = branching.attribute.add(name=f"{branch}_branch", type=schema.message("AttributeProto").GRAPH).g
            inner.name = f"{branch}{index}"
            inner.node.add(op_type=op_type, input=[f"s{index}"], output=[f"{branch}_{index}"])
            _declare(inner.output, f"{branch}_{index}", FLOAT, 2)
        _declare(body.output, f"d{index}", BOOL)
        _declare(body.output, f"t{index}", FLOAT, 2)
    _declare(graph.output, f"v{count // 3 - 1}", FLOAT, 2)
    return model


def tree_ensemble(count: int) -> Any:
    """Return a model with a TreeEnsembleRegressor of `count` tree nodes, in trees of 2,047 nodes and ten levels."""
    size = 2_047
    inner = 1_023
    trees = -(-count // size)
    model = _model()
    del model.graph.input[:]
    _declare(model.graph.input, "x", FLOAT, 1, 100)
    model.opset_import.add(domain=_ML, version=3)
    node = model.graph.node.add(op_type="TreeEnsembleRegressor", domain=_ML, input=["x"], output=["y"])
    leaves = size - inner
    _attribute(node, "n_targets", "INT", 1)
    lists: Mapping[str, tuple[str, list[Any]]] = {
        "nodes_treeids": ("INTS", [tree for tree in range(trees) for _ in range(size)]),
        "nodes_nodeids": ("INTS", list(range(size)) * trees),
        "nodes_featureids": ("INTS", ([index % 100 for index in range(inner)] + [0] * leaves) * trees),
        "nodes_modes": ("STRINGS", ([b"BRANCH_LEQ"] * inner + [b"LEAF"] * leaves) * trees),
        "nodes_values": ("FLOATS", ([index / size for index in range(inner)] + [0.0] * leaves) * trees),
        "nodes_hitrates": ("FLOATS", [1.0] * size * trees),
        "nodes_truenodeids": ("INTS", ([2 * index + 1 for index in range(inner)] + [0] * leaves) * trees),
        "nodes_falsenodeids": ("INTS", ([2 * index + 2 for index in range(inner)] + [0] * leaves) * trees),
        "nodes_missing_value_tracks_true": ("INTS", [0] * size * trees),
        "target_treeids": ("INTS", [tree for tree in range(trees) for _ in range(leaves)]),
        "target_nodeids": ("INTS", list(range(inner, size)) * trees),
        "target_ids": ("INTS", [0] * leaves * trees),
        "target_weights": ("FLOATS", [index / size for index in range(leaves)] * trees),
    }
    for name, (kind, values) in lists.items():
        _attribute(node, name, kind, values)
    _declare(model.graph.output, "y", FLOAT, 1, 1)
    return model


def label_encoder(count: int) -> Any:
    """Return a model with a LabelEncoder from `count` strings to integers."""
    model = _model(8)
    model.opset_import.add(domain=_ML, version=4)
    node = model.graph.node.add(op_type="LabelEncoder", domain=_ML, input=["x"], output=["y"])
    _attribute(node, "keys_strings", "STRINGS", [b"category_of_%09d" % index for index in range(count)])
    _attribute(node, "values_int64s", "INTS", range(count))
    _declare(model.graph.output, "y", INT64, 2)
    return model


MODELS: Final[Mapping[str, Callable[[int], Any]]] = MappingProxyType(
    {
        "nodes in a chain": chain,
        "nodes in text": chain,
        "nodes with value_info": declared_chain,
        "nodes with an initializer": initializers,
        "Constants of their own": constants,
        "nodes with an attribute of their own": own_attributes,
        "Conv with five attributes": convolutions,
        "functions of two nodes": functions,
        "subgraphs": subgraphs,
        "tree nodes": tree_ensemble,
        "strings of a LabelEncoder": label_encoder,
    }
)
"""The functions that make the models, by the kind of their many elements."""


def write(kind: str, count: int, path: Path) -> None:
    """Write the model with many elements of a kind, in the text format if the path has its suffix."""
    model = MODELS[kind](count)
    if path.suffix == ".textproto":
        path.write_text(text_format.MessageToString(model), encoding="utf-8")
    else:
        path.write_bytes(model.SerializeToString())
