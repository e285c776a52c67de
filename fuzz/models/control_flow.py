# SPDX-License-Identifier: Apache-2.0
"""Nodes of If, Loop, Scan and SequenceMap with subgraphs of their own."""

from __future__ import annotations

import numpy as np
from onnx import GraphProto, NodeProto, ValueInfoProto, helper
from shape_cases.case import Operand, fill_type

from .builder import Builder, Sizes
from .operands import operand, source
from .operators import Schema
from .placement import RUNS

FLOAT = "tensor(float)"

_SCAN_WITHOUT_LENGTHS = 9


def add(builder: Builder, schema: Schema) -> None:
    """Add a node of the operator with subgraphs that read values of the outer graph."""
    {"If": _branches, "Loop": _loop, "Scan": _scan, "SequenceMap": _map}[schema.name](builder, schema)


def _value(builder: Builder, name: str, kind: str, sizes: Sizes | None) -> ValueInfoProto:
    """Return an input or output of a subgraph: with its type, without a type, or rarely with a wrong shape."""
    made = ValueInfoProto(name=name)
    draw = builder.rng.random()
    if draw < 0.5 and sizes is not None:
        is_wrong = draw > 0.49
        builder.has_made_up_shapes |= is_wrong
        fill_type(made.type, kind, (*sizes, 2) if is_wrong else sizes)
    elif draw < 0.75:
        fill_type(made.type, kind, None)
    return made


def _step(builder: Builder, source_name: str, target: str, sizes: Sizes, outer: str) -> tuple[NodeProto, Sizes]:
    """Return a node for a subgraph, and the sizes of its output."""
    rng = builder.rng
    draw = rng.randrange(6)
    if draw == 0:
        return helper.make_node("Identity", [source_name], [target]), sizes
    if draw == 1 and sizes:
        return helper.make_node("Concat", [source_name, source_name], [target], axis=0), (2 * sizes[0], *sizes[1:])
    if draw == 2 and len(sizes) > 1:
        perm = list(range(len(sizes)))
        rng.shuffle(perm)
        return helper.make_node("Transpose", [source_name], [target], perm=perm), tuple(sizes[each] for each in perm)
    if draw == 3 and builder.imports[""] >= 7:
        return helper.make_node("Add", [source_name, outer], [target]), sizes
    if draw == 4 and builder.imports[""] >= 7:
        return helper.make_node("Mul", [outer, source_name], [target]), sizes
    return helper.make_node("Relu", [source_name], [target]), sizes


def _graph(
    name: str, nodes: list[NodeProto], inputs: list[ValueInfoProto], outputs: list[ValueInfoProto]
) -> GraphProto:
    return helper.make_graph(nodes, name, inputs, outputs)


def _operand(builder: Builder, sizes: Sizes) -> str:
    return operand(builder, FLOAT, Operand(sizes))


def _sizes(builder: Builder) -> Sizes:
    return builder.rng.choice(((2, 3), (3,), (), (2, 1, 3), (1, 4)))


def _branches(builder: Builder, schema: Schema) -> None:
    sizes = _sizes(builder)
    value, outer = _operand(builder, sizes), _operand(builder, ())
    condition = builder.rng.choice(((), (), (), (1,), (1, 1)))
    flag = source(builder, "tensor(bool)", condition)
    branches = {}
    for which in ("then", "else"):
        node, made = _step(builder, value, which, sizes, outer)
        branches[f"{which}_branch"] = _graph(which, [node], [], [_value(builder, which, FLOAT, made)])
    builder.append(helper.make_node("If", [flag], [builder.name()], **branches))


def _loop(builder: Builder, schema: Schema) -> None:
    rng, sizes = builder.rng, _sizes(builder)
    carried = [_operand(builder, sizes) for _ in range(rng.choice((0, 1, 1, 2)))]
    outer = _operand(builder, ())
    nodes = [helper.make_node("Identity", ["go"], ["on"])]
    inputs = [_value(builder, "i", "tensor(int64)", ()), _value(builder, "go", "tensor(bool)", ())]
    outputs = [_value(builder, "on", "tensor(bool)", ())]
    for at, _ in enumerate(carried):
        node, made = _step(builder, f"a{at}", f"b{at}", sizes, outer)
        if made != sizes and rng.random() < 0.7:
            node, made = helper.make_node("Relu", [f"a{at}"], [f"b{at}"]), sizes
        nodes.append(node)
        inputs.append(_value(builder, f"a{at}", FLOAT, sizes))
        outputs.append(_value(builder, f"b{at}", FLOAT, made))
    scans = rng.choice((0, 1, 1)) if carried else 1
    if scans:
        node, made = (
            _step(builder, "a0", "s", sizes, outer) if carried else (helper.make_node("Identity", ["i"], ["s"]), ())
        )
        nodes.append(node)
        outputs.append(_value(builder, "s", FLOAT if carried else "tensor(int64)", made))
    count = builder.initializer("tensor(int64)", np.array(rng.choice(RUNS), np.int64))
    condition = rng.choice(("", builder.initializer("tensor(bool)", np.array(True))))
    body = _graph("body", nodes, inputs, outputs)
    names = [builder.name() for _ in range(len(carried) + scans)]
    builder.append(helper.make_node("Loop", [count, condition, *carried], names, body=body))


def _scan(builder: Builder, schema: Schema) -> None:
    rng, inner = builder.rng, builder.rng.choice(((2,), (), (2, 3)))
    batch: Sizes = (2,) if schema.since_version < _SCAN_WITHOUT_LENGTHS else ()
    lengths = [""] if batch else []
    states = rng.choice((0, 1))
    values = [_operand(builder, (*batch, *inner)) for _ in range(states)] + [_operand(builder, (*batch, 3, *inner))]
    nodes, inputs, outputs = [], [], []
    for at in range(states):
        nodes.append(helper.make_node("Add", [f"a{at}", "e"], [f"b{at}"]))
        inputs.append(_value(builder, f"a{at}", FLOAT, inner))
        outputs.append(_value(builder, f"b{at}", FLOAT, inner))
    inputs.append(_value(builder, "e", FLOAT, inner))
    node, made = _step(builder, "e", "f", inner, "e")
    nodes.append(node)
    outputs.append(_value(builder, "f", FLOAT, made))
    more = {}
    if not batch and rng.random() < 0.3:
        more = {"scan_output_axes": [rng.choice((0, -1, len(made)))], "scan_output_directions": [rng.choice((0, 1))]}
    body = _graph("body", nodes, inputs, outputs)
    names = [builder.name() for _ in range(states + 1)]
    builder.append(helper.make_node("Scan", [*lengths, *values], names, body=body, num_scan_inputs=1, **more))


def _map(builder: Builder, schema: Schema) -> None:
    sizes = _sizes(builder)
    sequence = operand(builder, f"seq({FLOAT})", Operand(sizes))
    node, made = _step(builder, "e", "f", sizes, "e")
    body = _graph("body", [node], [_value(builder, "e", FLOAT, sizes)], [_value(builder, "f", FLOAT, made)])
    builder.append(helper.make_node("SequenceMap", [sequence], [builder.name()], body=body))
