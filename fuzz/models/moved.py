# SPDX-License-Identifier: Apache-2.0
"""Moves all nodes of the main graph into the branches of an If or into a function."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES

from .builder import FUNCTIONS_SINCE
from .placement import DOMAIN, function_of
from .tensors import FED

_UNTYPED_BRANCHES_SINCE = 11
_CONSTANTS_SINCE = 9

SHAPED_BY_FLOATS = frozenset({"OneHot", "Range", "Resize", "Upsample"})
"""Operators whose floating-point operands decide shapes. onnx-lint reads them only from the graph of the node."""


def moved_forms(model: ModelProto, *, typed: bool = False) -> Iterator[tuple[str, ModelProto]]:
    """Yield each form that the versions of the model allow, with its name.

    `typed`: whether the outputs of branches have the types of the model's outputs, which old versions require.
    """
    nodes = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    nodes += [inner for node in nodes for attribute in node.attribute for inner in attribute.g.node]
    if SHAPED_BY_FLOATS.intersection(node.op_type for node in nodes):
        return
    version = {each.domain: each.version for each in model.opset_import}.get("", 0)
    if typed or version >= _UNTYPED_BRANCHES_SINCE:
        yield "If", _into_branches(model, typed=typed)
    if model.ir_version >= FUNCTIONS_SINCE:
        yield "function", _into_function(model)


def _emptied(model: ModelProto) -> ModelProto:
    made = ModelProto()
    made.CopyFrom(model)
    del made.graph.node[:], made.graph.value_info[:]
    return made


def _into_branches(model: ModelProto, *, typed: bool) -> ModelProto:
    made = _emptied(model)
    made.graph.initializer.append(numpy_helper.from_array(np.array(True), "moved_condition"))
    outputs = [output.name for output in model.graph.output]
    inner = [name for node in model.graph.node for name in node.output if name]
    branches = {}
    for which in ("then", "else"):
        names = {name: f"{name}_{which}" for name in inner}
        nodes = [_renamed(node, names) for node in model.graph.node]
        values = [helper.make_empty_tensor_value_info(names.get(name, name)) for name in outputs]
        for value, output in zip(values, model.graph.output if typed else (), strict=False):
            value.type.CopyFrom(output.type)
        branches[f"{which}_branch"] = helper.make_graph(nodes, which, [], values)
    made.graph.node.append(helper.make_node("If", ["moved_condition"], outputs, **branches))
    return made


def _is_constant(tensor: TensorProto, version: int) -> bool:
    """Return whether Constant can produce the tensor in a version of the operator set."""
    return version >= _CONSTANTS_SINCE and ELEMENT_TYPE_NAMES[tensor.data_type - 1] in FED


def _renamed(node: NodeProto, names: dict[str, str]) -> NodeProto:
    """Return the node with renamed values, in its subgraphs too."""
    made = NodeProto()
    made.CopyFrom(node)
    made.input[:] = [names.get(name, name) for name in node.input]
    made.output[:] = [names.get(name, name) for name in node.output]
    for attribute in made.attribute:
        for graph in [attribute.g] if attribute.HasField("g") else []:
            nodes = [_renamed(each, names) for each in graph.node]
            del graph.node[:]
            graph.node.extend(nodes)
            for output in graph.output:
                output.name = names.get(output.name, output.name)
    return made


def _into_function(model: ModelProto) -> ModelProto:
    made = _emptied(model)
    inputs = [each.name for each in model.graph.input]
    outputs = [output.name for output in model.graph.output]
    imports = {each.domain: each.version for each in model.opset_import}
    constants = []
    for tensor in model.graph.initializer:
        if tensor.name in inputs:
            continue
        if tensor.data_type == TensorProto.FLOAT or _is_constant(tensor, imports.get("", 0)):
            constants.append(helper.make_node("Constant", [], [tensor.name], value=tensor))
        else:
            inputs.append(tensor.name)
    made.functions.append(function_of("Moved", [*constants, *model.graph.node], inputs, outputs, imports))
    if DOMAIN not in imports:
        made.opset_import.add(domain=DOMAIN, version=1)
    made.graph.node.append(helper.make_node("Moved", inputs, outputs, domain=DOMAIN))
    return made
