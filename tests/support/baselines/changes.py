# SPDX-License-Identifier: Apache-2.0
"""Changes of models that leave their faults as they are: the findings of before are those of a baseline."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from types import MappingProxyType
from typing import Final

import onnx

from support.fixes.plants import graphs

Change = Callable[[onnx.ModelProto], object]
"""Changes a model in place."""

Rename = Callable[[str], str]


def prefixed(name: str) -> str:
    return f"q_{name}" if name else ""


def numbered(name: str) -> str:
    """Return the name as an exporter writes it if one more thing comes before."""
    return re.sub(r"\d+", lambda found: str(int(found[0]) + 1), name)


def scopes(model: onnx.ModelProto) -> Iterator[onnx.GraphProto | onnx.FunctionProto]:
    yield from graphs(model.graph)
    for training in model.training_info:
        yield from graphs(training.initialization)
        yield from graphs(training.algorithm)
    for function in model.functions:
        yield function
        for node in function.node:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    yield from graphs(attribute.g)


def rename_values(model: onnx.ModelProto, rename: Rename) -> None:
    for training in model.training_info:
        for binding in (*training.initialization_binding, *training.update_binding):
            binding.key, binding.value = rename(binding.key), rename(binding.value)
    for scope in scopes(model):
        for node in scope.node:
            for names in (node.input, node.output):
                names[:] = map(rename, names)
        for value in scope.value_info:
            value.name = rename(value.name)
        if isinstance(scope, onnx.FunctionProto):
            scope.input[:] = map(rename, scope.input)
            scope.output[:] = map(rename, scope.output)
            continue
        for value in (*scope.initializer, *scope.input, *scope.output):
            value.name = rename(value.name)
        for sparse in scope.sparse_initializer:
            sparse.values.name = rename(sparse.values.name)
        for annotation in scope.quantization_annotation:
            annotation.tensor_name = rename(annotation.tensor_name)
            for entry in annotation.quant_parameter_tensor_names:
                entry.value = rename(entry.value)


def rename_nodes(model: onnx.ModelProto, rename: Rename) -> None:
    for scope in scopes(model):
        for node in scope.node:
            node.name = rename(node.name)


def rename_all(model: onnx.ModelProto, rename: Rename) -> None:
    rename_values(model, rename)
    rename_nodes(model, rename)


def put_in_front(model: onnx.ModelProto, op_type: str = "Neg") -> None:
    """Let a new node read the first input of the graph, and all others its output."""
    nodes, names = list(model.graph.node), [value.name for value in model.graph.input]
    initialized = {tensor.name for tensor in model.graph.initializer}
    first = next((name for name in names if name not in initialized), None)
    if first is not None:
        for scope in graphs(model.graph):
            for node in scope.node:
                node.input[:] = ["in_front" if name == first else name for name in node.input]
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.add(op_type=op_type, name="front", input=[first] if first else [], output=["in_front"])
    model.graph.node.extend(nodes)


def put_in_the_middle(model: onnx.ModelProto, op_type: str = "Neg") -> None:
    """Put a new node before the middle one, between it and its first input."""
    nodes = list(model.graph.node)
    middle = len(nodes) // 2
    if not nodes or not nodes[middle].input:
        return
    name = nodes[middle].input[0]
    nodes[middle].input[0] = "in_between"
    nodes.insert(middle, onnx.NodeProto(op_type=op_type, name="between", input=[name], output=["in_between"]))
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del model.graph.node[:]
    model.graph.node.extend(copies)


def put_behind(model: onnx.ModelProto, op_type: str = "Neg") -> None:
    """Let a new node compute the first output of the graph."""
    if not model.graph.output:
        return
    name = model.graph.output[0].name
    for node in model.graph.node:
        node.output[:] = ["behind" if each == name else each for each in node.output]
        node.input[:] = ["behind" if each == name else each for each in node.input]
    model.graph.node.add(op_type=op_type, name="last", input=["behind"], output=[name])


def constants_to_initializers(model: onnx.ModelProto) -> None:
    left = []
    for node in model.graph.node:
        value = next((each for each in node.attribute if each.name == "value" and each.HasField("t")), None)
        if node.op_type != "Constant" or value is None:
            left.append(node)
            continue
        tensor = onnx.TensorProto.FromString(value.t.SerializeToString())
        tensor.name = node.output[0]
        model.graph.initializer.append(tensor)
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in left]
    del model.graph.node[:]
    model.graph.node.extend(copies)


def initializers_to_constants(model: onnx.ModelProto) -> None:
    """Let a Constant of the same name replace each initializer of the main graph that is no input."""
    inputs, graph = {value.name for value in model.graph.input}, model.graph
    stored = [each for each in graph.initializer if each.name not in inputs and not each.data_location]
    nodes = [
        onnx.helper.make_node("Constant", [], [each.name], f"constant_{each.name}", value=each)
        for each in map(onnx.TensorProto.FromString, (each.SerializeToString() for each in stored))
    ]
    for each in stored:
        graph.initializer.remove(each)
    for node in nodes:
        node.attribute[0].t.ClearField("name")
    copies = [*nodes, *(onnx.NodeProto.FromString(node.SerializeToString()) for node in graph.node)]
    del graph.node[:]
    graph.node.extend(copies)


def _both(*changes: Change) -> Change:
    def change(model: onnx.ModelProto) -> None:
        for each in changes:
            each(model)

    return change


_PREFIX: Final[Change] = partial(rename_all, rename=prefixed)
_NEXT: Final[Change] = partial(rename_all, rename=numbered)

CHANGES: Final = MappingProxyType(
    {
        "nothing": lambda _: None,
        "prefix": _PREFIX,
        "values: next number": partial(rename_values, rename=numbered),
        "nodes: prefix": partial(rename_nodes, rename=prefixed),
        "nodes: next number": partial(rename_nodes, rename=numbered),
        "next number": _NEXT,
        "node in front": put_in_front,
        "node in front, next number": _both(put_in_front, _NEXT),
        "node in the middle, next number": _both(put_in_the_middle, _NEXT),
        "nodes in front and behind, prefix": _both(put_in_front, put_behind, _PREFIX),
        "Constants to initializers": constants_to_initializers,
        "initializers to Constants": initializers_to_constants,
        "Constants to initializers, prefix": _both(constants_to_initializers, _PREFIX),
        "Constants to initializers, next number": _both(constants_to_initializers, _NEXT),
    }
)
"""Each change, with its name."""

TWO_PLACES: Final = frozenset({"nodes in front and behind, prefix"})
"""The changes that move all nodes from both ends. A baseline does not follow if other nodes may be the new ones."""

RENAMES: Final = MappingProxyType({"nodes: next number": numbered, "nodes: prefix": prefixed})
"""How the nodes are renamed if one of several equal faults is mended."""
