# SPDX-License-Identifier: Apache-2.0
"""Places a node in the main graph, in a subgraph, or in a function."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import AttributeProto, FunctionProto, GraphProto, NodeProto, ValueInfoProto, helper
from shape_cases.case import fill_type

from onnx_lint.inference.shapes.fact import UNKNOWN

from .builder import FUNCTIONS_SINCE, Builder, opset_import

DOMAIN = "local"
"""The domain of model-local functions."""

RUNS = (*(1, 2, 3) * 10, 0)
"""Trip counts of a Loop. Zero is rare, because a body that never runs shows nothing."""

_DEFAULTS_SINCE = 9
"""The first IR version with default values of attribute parameters."""

_LOOPS_SINCE = 11


def placed(builder: Builder, node: NodeProto) -> None:
    """Add a node to the main graph, or in one of five cases to an If, a Loop, a Scan or a function."""
    version, draw = builder.imports[""], builder.rng.random()
    if draw < 0.78 or version < _LOOPS_SINCE or not any(node.output):
        builder.append(node)
    elif draw < 0.88 and builder.ir_version >= FUNCTIONS_SINCE:
        _called(builder, [node])
    elif draw < 0.94:
        branched(builder, [node])
    elif draw < 0.98:
        _looped(builder, node)
    else:
        _scanned(builder, node)


def subgraph(name: str, nodes: Sequence[NodeProto], outputs: Sequence[str], inputs: Sequence[str] = ()) -> GraphProto:
    """Return a subgraph with untyped inputs and outputs."""
    return helper.make_graph(
        nodes, name, [ValueInfoProto(name=each) for each in inputs], [ValueInfoProto(name=each) for each in outputs]
    )


def renamed(node: NodeProto, suffix: str) -> NodeProto:
    """Return the node with renamed outputs."""
    made = NodeProto()
    made.CopyFrom(node)
    made.output[:] = [name and f"{name}{suffix}" for name in node.output]
    return made


def _given_outputs(node: NodeProto) -> list[str]:
    return [name for name in node.output if name]


def branched(builder: Builder, nodes: Sequence[NodeProto]) -> None:
    """Add an If with a copy of the node in each branch."""
    [node] = nodes
    condition = np.array(builder.rng.random() < 0.5)
    if builder.rng.random() < 0.5:
        name = builder.initializer("tensor(bool)", condition)
    else:
        name = builder.input("tensor(bool)", (), condition)
    branches = {
        f"{which}_branch": subgraph(which, [made], _given_outputs(made))
        for which in ("then", "else")
        for made in [renamed(node, f"_{which}")]
    }
    builder.append(helper.make_node("If", [name], _given_outputs(node), **branches))


def _looped(builder: Builder, node: NodeProto) -> None:
    """Add a Loop with the node in its body, whose outputs are scan outputs."""
    inside, outputs = renamed(node, "_in"), _given_outputs(node)
    count = builder.initializer("tensor(int64)", np.array(builder.rng.choice(RUNS), np.int64))
    go = helper.make_node("Identity", [f"{outputs[0]}_go"], [f"{outputs[0]}_on"])
    body = subgraph(
        "body",
        [go, inside],
        [f"{outputs[0]}_on", *_given_outputs(inside)],
        [f"{outputs[0]}_i", f"{outputs[0]}_go"],
    )
    fill_type(body.input[0].type, "tensor(int64)", ())
    fill_type(body.input[1].type, "tensor(bool)", ())
    condition = "" if builder.rng.random() < 0.5 else builder.initializer("tensor(bool)", np.array(True))
    builder.append(helper.make_node("Loop", [count, condition], outputs, body=body))


def _scanned(builder: Builder, node: NodeProto) -> None:
    """Add a Scan with the node in its body, over the first dimension of an input."""
    fitting = [
        (at, name)
        for at, name in enumerate(node.input)
        if builder.facts.get(name, UNKNOWN).shape and not builder.facts[name].content and name not in builder.constants
    ]
    if not fitting:
        builder.append(node)
        return
    at, name = builder.rng.choice(fitting)
    inside, outputs = renamed(node, "_in"), _given_outputs(node)
    inside.input[at] = f"{outputs[0]}_e"
    body = subgraph("body", [inside], _given_outputs(inside), [f"{outputs[0]}_e"])
    builder.append(helper.make_node("Scan", [name], outputs, body=body, num_scan_inputs=1))


def function_of(
    name: str, nodes: Sequence[NodeProto], inputs: Sequence[str], outputs: Sequence[str], imports: dict[str, int]
) -> FunctionProto:
    """Return a function with these nodes."""
    made = FunctionProto(name=name, domain=DOMAIN)
    made.input.extend(inputs)
    made.output.extend(outputs)
    made.node.extend(nodes)
    made.opset_import.extend(opset_import(imports))
    return made


def _called(builder: Builder, nodes: Sequence[NodeProto]) -> None:
    """Add a new function with the node, and a call. Some attributes become parameters."""
    [node] = nodes
    inside = renamed(node, "_in")
    inputs = [f"p{at}" for at in range(len(node.input))]
    inside.input[:] = [name and inputs[at] for at, name in enumerate(node.input)]
    given = [at for at, name in enumerate(node.input) if name]
    name = builder.name("F")
    function = function_of(name, [inside], [inputs[at] for at in given], _given_outputs(inside), {**builder.imports})
    call = helper.make_node(name, [node.input[at] for at in given], _given_outputs(node), domain=DOMAIN)
    for attribute in inside.attribute:
        if builder.rng.random() < 0.5 and attribute.type not in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
            _lift(builder, function, call, attribute)
    builder.model.functions.append(function)
    if DOMAIN not in {each.domain for each in builder.model.opset_import}:
        builder.model.opset_import.add(domain=DOMAIN, version=1)
    builder.append(call)


def _lift(builder: Builder, function: FunctionProto, call: NodeProto, attribute: AttributeProto) -> None:
    """Turn an attribute of a node into a parameter of its function."""
    value = AttributeProto()
    value.CopyFrom(attribute)
    value.name = f"{attribute.name}_p"
    if builder.rng.random() < 0.3 and builder.ir_version >= _DEFAULTS_SINCE:
        function.attribute_proto.append(value)
        if builder.rng.random() < 0.5:
            call.attribute.append(value)
    else:
        function.attribute.append(value.name)
        if builder.rng.random() < 0.97:
            call.attribute.append(value)
    name, kind = attribute.name, attribute.type
    attribute.Clear()
    attribute.name, attribute.type, attribute.ref_attr_name = name, kind, value.name
