# SPDX-License-Identifier: Apache-2.0
"""Makes large models that conform, each large in one respect: nodes, Constants, functions, subgraphs, attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from onnx_lint import schema

FLOAT: Final = 1
INT64: Final = 7
BOOL: Final = 9
FLOAT16: Final = 10
_ML: Final = "ai.onnx.ml"


def declare(values: Any, name: str, element_type: int, *shape: int | str) -> None:
    """Add a value info for a tensor, whose dimensions are numbers or the names of variables."""
    tensor = values.add(name=name).type.tensor_type
    tensor.elem_type = element_type
    tensor.shape.SetInParent()  # a shape of no dimension is that of a scalar, not an absent one
    for size in shape:
        setattr(tensor.shape.dim.add(), "dim_param" if isinstance(size, str) else "dim_value", size)


def add_attribute(node: Any, name: str, value: Any) -> None:
    """Add an attribute, whose type follows from that of the value, or of the first element of a list."""
    is_list = isinstance(value, Sequence) and not isinstance(value, bytes)
    kind, field = _KINDS[type(value[0] if is_list else value).__name__]
    attribute = node.attribute.add(name=name, type=getattr(schema.message("AttributeProto"), kind + "S" * is_list))
    if is_list:
        getattr(attribute, f"{kind.lower()}s").extend(value)
    elif kind in ("TENSOR", "GRAPH"):
        getattr(attribute, field).CopyFrom(value)
    else:
        setattr(attribute, field, value)


_KINDS: Final = {
    "int": ("INT", "i"),
    "float": ("FLOAT", "f"),
    "bytes": ("STRING", "s"),
    "TensorProto": ("TENSOR", "t"),
    "GraphProto": ("GRAPH", "g"),
}
"""By class of a value: the type of the attribute, and its field."""


def model(element_type: int = FLOAT, name: str = "x", *shape: int) -> Any:
    """A model with one input, without output and nodes."""
    made = schema.message("ModelProto")(ir_version=10, producer_name="benchmark", producer_version="1")
    made.opset_import.add(domain="", version=21)
    made.graph.name = "main_graph"
    declare(made.graph.input, name, element_type, *(shape or (2,)))
    return made


def chain(count: int) -> Any:
    """A chain of Relu nodes without declared values."""
    made = model()
    add = made.graph.node.add
    for index in range(count):
        add(op_type="Relu", input=["x" if not index else f"v{index - 1}"], output=[f"v{index}"], name=f"n{index}")
    declare(made.graph.output, f"v{count - 1}", FLOAT, 2)
    return made


def declared_chain(count: int) -> Any:
    """A chain of Relu nodes without names, each of whose outputs is declared in `value_info`."""
    made = chain(count)
    for node in made.graph.node:
        node.ClearField("name")
    for index in range(count - 1):
        declare(made.graph.value_info, f"v{index}", FLOAT, 2)
    return made


def initializers(count: int) -> Any:
    """Pairs of a node and an initializer of its own."""
    made = model()
    graph = made.graph
    for index in range(count):
        graph.initializer.add(name=f"w{index}", data_type=FLOAT, dims=[2], raw_data=b"\0\0\x80\x3f" * 2)
        value = "x" if not index else f"v{index - 1}"
        graph.node.add(op_type="Add", input=[value, f"w{index}"], output=[f"v{index}"])
    declare(graph.output, f"v{count - 1}", FLOAT, 2)
    return made


def external_initializers(count: int) -> Any:
    """A MatMul for each of many initializers in another file, as mixtures of experts have them."""
    made = model()
    graph = made.graph
    for index in range(count):
        name = f"layers.{index}.weight"
        tensor = graph.initializer.add(name=name, data_type=FLOAT, dims=[224, 224], data_location=1)
        for key, value in (("location", "model.onnx.data"), ("offset", index * 200_704), ("length", 200_704)):
            tensor.external_data.add(key=key, value=str(value))
        graph.node.add(op_type="MatMul", input=["x", name], output=[f"v{index}"])
    declare(graph.output, f"v{count - 1}", FLOAT, 224)
    return made


def constants(count: int) -> Any:
    """Constant nodes, each with a tensor of its own of 256 bytes, and a Concat of all of them."""
    made = model()
    graph = made.graph
    for index in range(count):
        node = graph.node.add(op_type="Constant", output=[f"c{index}"])
        content = index.to_bytes(4, "little") * 64
        add_attribute(node, "value", schema.message("TensorProto")(data_type=FLOAT, dims=[64], raw_data=content))
    graph.node.add(op_type="Concat", input=[f"c{index}" for index in range(count)], output=["y"])
    add_attribute(graph.node[-1], "axis", 0)
    declare(graph.output, "y", FLOAT, 64 * count)
    return made


def concatenation(count: int) -> Any:
    """One Concat of many inputs of the graph."""
    made = model()
    graph = made.graph
    for index in range(1, count):
        declare(graph.input, f"x{index}", FLOAT, 2)
    graph.node.add(op_type="Concat", input=[value.name for value in graph.input], output=["y"])
    add_attribute(graph.node[0], "axis", 0)
    declare(graph.output, "y", FLOAT, 2 * count)
    return made


def own_constants(count: int) -> Any:
    """Add nodes in a chain, each with a Constant of two floats of its own."""
    made = model()
    graph = made.graph
    value = "x"
    for index in range(count // 2):
        constant = graph.node.add(op_type="Constant", output=[f"c{index}"])
        tensor = schema.message("TensorProto")(data_type=FLOAT, dims=[2], float_data=[index, index / 3])
        add_attribute(constant, "value", tensor)
        graph.node.add(op_type="Add", input=[value, f"c{index}"], output=[f"v{index}"])
        value = f"v{index}"
    declare(graph.output, value, FLOAT, 2)
    return made


def own_attributes(count: int) -> Any:
    """LeakyRelu nodes in a chain, each with an alpha of its own."""
    made = model()
    graph = made.graph
    value = "x"
    for index in range(count):
        node = graph.node.add(op_type="LeakyRelu", input=[value], output=[f"v{index}"])
        add_attribute(node, "alpha", index / count)
        value = f"v{index}"
    declare(graph.output, value, FLOAT, 2)
    return made


def quantized(count: int) -> Any:
    """Pairs of QuantizeLinear and DequantizeLinear in a chain, each pair with a scale of its own."""
    made = model()
    graph = made.graph
    value = "x"
    for index in range(count):
        scale = f"scale{index}"
        graph.initializer.add(name=scale, data_type=FLOAT, float_data=[0.01 + index / count])
        graph.node.add(op_type="QuantizeLinear", input=[value, scale], output=[f"q{index}"])
        graph.node.add(op_type="DequantizeLinear", input=[f"q{index}", scale], output=[f"v{index}"])
        value = f"v{index}"
    declare(graph.output, value, FLOAT, 2)
    return made


def convolutions(count: int) -> Any:
    """Conv nodes of one form in a chain, with all five attributes."""
    made = model(FLOAT, "x", 1, 3, 224, 224)
    graph = made.graph
    graph.initializer.add(name="w", data_type=FLOAT, dims=[3, 3, 3, 3], raw_data=bytes(324))
    lists = {"dilations": [1, 1], "kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1]}
    for index in range(count):
        value = "x" if not index else f"v{index - 1}"
        node = graph.node.add(op_type="Conv", input=[value, "w"], output=[f"v{index}"], name=f"n{index}")
        add_attribute(node, "group", 1)
        for name, numbers in lists.items():
            add_attribute(node, name, numbers)
    declare(graph.output, f"v{count - 1}", FLOAT, 1, 3, 224, 224)
    return made


def functions(count: int) -> Any:
    """Return a model with functions of two nodes, as exporters name them. Each function is called once."""
    made = model()
    made.opset_import.add(domain="pkg.torch", version=1)
    value = "x"
    for index in range(count):
        name = f"activation_{index}"
        add_function(made, name)
        output = f"/layers.{index}/{name}_output_0"
        made.graph.node.add(
            name=f"/layers.{index}/{name}", op_type=name, domain="pkg.torch", input=[value], output=[output]
        )
        value = output
    declare(made.graph.output, value, FLOAT, 2)
    return made


def add_function(made: Any, name: str) -> None:
    """Add a model-local function with one input and one output."""
    function = made.functions.add(name=name, domain="pkg.torch", input=["x"], output=["result"])
    function.opset_import.add(domain="", version=21)
    function.node.add(name="n0", op_type="Sigmoid", input=["x"], output=["gate"])
    function.node.add(name="n1", op_type="Mul", input=["x", "gate"], output=["result"])


def subgraphs(count: int) -> Any:
    """Loops, each with an If in its body: three subgraphs for each Loop."""
    made = model()
    graph = made.graph
    declare(graph.input, "c", BOOL)
    declare(graph.input, "n", INT64)
    for index in range(count // 3):
        value = "x" if not index else f"v{index - 1}"
        body = schema.message("GraphProto")(name=f"body{index}")
        declare(body.input, f"i{index}", INT64)
        declare(body.input, f"c{index}", BOOL)
        declare(body.input, f"s{index}", FLOAT, 2)
        body.node.add(op_type="Identity", input=[f"c{index}"], output=[f"d{index}"])
        branching = body.node.add(op_type="If", input=[f"c{index}"], output=[f"t{index}"])
        for branch, op_type in (("then", "Relu"), ("else", "Neg")):
            inner = schema.message("GraphProto")(name=f"{branch}{index}")
            inner.node.add(op_type=op_type, input=[f"s{index}"], output=[f"{branch}_{index}"])
            declare(inner.output, f"{branch}_{index}", FLOAT, 2)
            add_attribute(branching, f"{branch}_branch", inner)
        declare(body.output, f"d{index}", BOOL)
        declare(body.output, f"t{index}", FLOAT, 2)
        add_attribute(graph.node.add(op_type="Loop", input=["n", "c", value], output=[f"v{index}"]), "body", body)
    declare(graph.output, f"v{count // 3 - 1}", FLOAT, 2)
    return made


def tree_ensemble(count: int) -> Any:
    """Return a model with a TreeEnsembleRegressor of `count` tree nodes, in trees of 2,047 nodes and ten levels."""
    size = 2_047
    inner = 1_023
    trees = -(-count // size)
    made = model(FLOAT, "x", 1, 100)
    made.opset_import.add(domain=_ML, version=3)
    node = made.graph.node.add(op_type="TreeEnsembleRegressor", domain=_ML, input=["x"], output=["y"])
    leaves = size - inner
    add_attribute(node, "n_targets", 1)
    lists: Mapping[str, list[Any]] = {
        "nodes_treeids": [tree for tree in range(trees) for _ in range(size)],
        "nodes_nodeids": list(range(size)) * trees,
        "nodes_featureids": ([index % 100 for index in range(inner)] + [0] * leaves) * trees,
        "nodes_modes": ([b"BRANCH_LEQ"] * inner + [b"LEAF"] * leaves) * trees,
        "nodes_values": ([index / size for index in range(inner)] + [0.0] * leaves) * trees,
        "nodes_hitrates": [1.0] * size * trees,
        "nodes_truenodeids": ([2 * index + 1 for index in range(inner)] + [0] * leaves) * trees,
        "nodes_falsenodeids": ([2 * index + 2 for index in range(inner)] + [0] * leaves) * trees,
        "nodes_missing_value_tracks_true": [0] * size * trees,
        "target_treeids": [tree for tree in range(trees) for _ in range(leaves)],
        "target_nodeids": list(range(inner, size)) * trees,
        "target_ids": [0] * leaves * trees,
        "target_weights": [index / size for index in range(leaves)] * trees,
    }
    for name, values in lists.items():
        add_attribute(node, name, values)
    declare(made.graph.output, "y", FLOAT, 1, 1)
    return made


def label_encoder(count: int) -> Any:
    """Return a model with a LabelEncoder from `count` strings to integers."""
    made = model(8)
    made.opset_import.add(domain=_ML, version=4)
    node = made.graph.node.add(op_type="LabelEncoder", domain=_ML, input=["x"], output=["y"])
    add_attribute(node, "keys_strings", [b"category_of_%09d" % index for index in range(count)])
    add_attribute(node, "values_int64s", range(count))
    declare(made.graph.output, "y", INT64, 2)
    return made


MODELS: Final[Mapping[str, Callable[[int], Any]]] = MappingProxyType(
    {
        "nodes with value_info": declared_chain,
        "nodes, each with an initializer": initializers,
        "initializers in another file": external_initializers,
        "Constants of their own": constants,
        "nodes, each Add with a Constant of its own": own_constants,
        "LeakyRelu, each with an alpha of its own": own_attributes,
        "inputs of a Concat": concatenation,
        "Conv with five attributes": convolutions,
        "functions": functions,
        "subgraphs of Loop and If with names of their own": subgraphs,
        "tree nodes": tree_ensemble,
        "strings of a LabelEncoder": label_encoder,
    }
)
"""The functions that make the models, by the kind of their many elements."""
