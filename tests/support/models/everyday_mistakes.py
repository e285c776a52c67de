# SPDX-License-Identifier: Apache-2.0
"""Small networks with the mistakes that people make by hand: a wrong type, a lost name, a shape that does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

Mistake = Callable[[ModelProto, Random], object]


def everyday_mistakes(count: int, seed: int) -> Iterator[tuple[str, ModelProto]]:
    """Yield models with one mistake each, and a name that says which. All kinds of mistakes have their turn."""
    chance = Random(seed)
    kinds = list(MISTAKES.items())
    for index in range(count):
        name, make = kinds[index % len(kinds)]
        model = network(chance)
        make(model, chance)
        yield f"{name}_{index}", model


def network(chance: Random) -> ModelProto:
    """Return a network without a fault: a convolution, a pool, a reshape and a layer."""
    channels, size, classes = chance.choice([2, 4]), chance.choice([4, 8]), chance.choice([3, 5])
    flat = channels * (size // 2) ** 2
    weights = {
        "w": np.ones([channels, 3, 3, 3], np.float32),
        "b": np.ones([channels], np.float32),
        "shape": np.array([1, flat], np.int64),
        "m": np.ones([flat, classes], np.float32),
        "scale": np.ones([classes], np.float32),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("MaxPool", ["r"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Reshape", ["p", "shape"], ["f"], "flatten"),
        helper.make_node("MatMul", ["f", "m"], ["l"], "layer"),
        helper.make_node("Mul", ["l", "scale"], ["s"], "scaling"),
        helper.make_node("Softmax", ["s"], ["y"], "softmax", axis=-1),
    ]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, size, size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, classes])],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)], producer_name="test")


def _weight(model: ModelProto, name: str, value: np.ndarray) -> None:
    (tensor,) = [each for each in model.graph.initializer if each.name == name]
    tensor.CopyFrom(numpy_helper.from_array(value, name))


def _attribute(model: ModelProto, node: int, name: str, value: object) -> None:
    found = model.graph.node[node].attribute
    left = [each for each in found if each.name != name]
    del found[:]
    found.extend([*left, helper.make_attribute(name, value)])


MISTAKES: Final[dict[str, Mistake]] = {
    "scale_of_integers": lambda model, _: _weight(model, "scale", np.ones([1], np.int64)),
    "scale_of_doubles": lambda model, _: _weight(model, "scale", np.ones([1], np.float64)),
    "input_renamed": lambda model, _: setattr(model.graph.input[0], "name", "pixels"),
    "output_renamed": lambda model, _: setattr(model.graph.output[0], "name", "logits"),
    "node_lost": lambda model, chance: model.graph.node.pop(chance.randrange(7)),
    "weight_lost": lambda model, chance: model.graph.initializer.pop(chance.randrange(5)),
    "nodes_reversed": lambda model, _: model.graph.node.reverse(),
    "name_twice": lambda model, _: setattr(model.graph.node[1], "name", "conv"),
    "output_twice": lambda model, _: model.graph.node[1].output.__setitem__(0, "c"),
    "graph_unnamed": lambda model, _: model.graph.ClearField("name"),
    "output_untyped": lambda model, _: model.graph.output[0].ClearField("type"),
    "output_without_shape": lambda model, _: model.graph.output[0].type.tensor_type.ClearField("shape"),
    "output_of_another_type": lambda model, _: setattr(model.graph.output[0].type.tensor_type, "elem_type", 7),
    "output_of_another_size": lambda model, _: setattr(
        model.graph.output[0].type.tensor_type.shape.dim[1], "dim_value", 9
    ),
    "input_of_another_type": lambda model, _: setattr(model.graph.input[0].type.tensor_type, "elem_type", 2),
    "input_of_another_rank": lambda model, _: model.graph.input[0].type.tensor_type.shape.dim.pop(),
    "no_import": lambda model, _: model.opset_import.pop(),
    "older_import": lambda model, chance: setattr(model.opset_import[0], "version", chance.choice([1, 4, 7])),
    "import_of_the_future": lambda model, _: setattr(model.opset_import[0], "version", 99),
    "no_ir_version": lambda model, _: model.ClearField("ir_version"),
    "ir_version_of_the_future": lambda model, _: setattr(model, "ir_version", 99),
    "initializers_without_inputs": lambda model, _: setattr(model, "ir_version", 3),
    "operator_misspelled": lambda model, _: setattr(model.graph.node[1], "op_type", "ReLU"),
    "domain_without_import": lambda model, _: setattr(model.graph.node[1], "domain", "acme"),
    "attribute_misspelled": lambda model, _: setattr(model.graph.node[2].attribute[0], "name", "kernel"),
    "attribute_of_another_type": lambda model, _: _attribute(model, 6, "axis", 1.5),
    "axis_out_of_range": lambda model, _: _attribute(model, 6, "axis", 7),
    "strides_of_zero": lambda model, _: _attribute(model, 2, "strides", [0, 0]),
    "pads_of_one_side": lambda model, _: _attribute(model, 0, "pads", [1, 1]),
    "group_that_does_not_divide": lambda model, _: _attribute(model, 0, "group", 2),
    "kernel_of_another_size": lambda model, _: _attribute(model, 0, "kernel_shape", [5, 5]),
    "weights_transposed": lambda model, _: _weight(model, "m", np.ones([3, 16], np.float32)),
    "weights_of_other_channels": lambda model, _: _weight(model, "w", np.ones([2, 5, 3, 3], np.float32)),
    "reshape_to_too_many": lambda model, _: _weight(model, "shape", np.array([7, 11], np.int64)),
    "shape_of_floats": lambda model, _: _weight(model, "shape", np.ones([2], np.float32)),
    "input_missing": lambda model, _: model.graph.node[4].input.pop(),
    "input_too_many": lambda model, _: model.graph.node[1].input.append("b"),
    "weight_cut_off": lambda model, _: setattr(model.graph.initializer[0], "raw_data", bytes(8)),
    "cycle": lambda model, _: model.graph.node[0].input.__setitem__(0, "y"),
    "value_info_of_another_type": lambda model, _: model.graph.value_info.append(
        helper.make_tensor_value_info("r", TensorProto.INT32, [1])
    ),
    "unnamed_weight": lambda model, _: model.graph.initializer[1].ClearField("name"),
    "nothing_wrong": lambda model, _: None,
}
"""By name: what goes wrong."""
