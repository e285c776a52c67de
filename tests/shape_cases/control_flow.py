# SPDX-License-Identifier: Apache-2.0
"""Nodes of If, Loop, Scan and SequenceMap, whose subgraphs decide the shapes, with right and wrong declarations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import onnx
import onnx.defs
from onnx import NodeProto, ValueInfoProto, helper

from onnx_lint.inference.shapes.dims import Dims
from shape_cases.case import fill_type
from shape_cases.comparison import Explained

TENSOR, SEQUENCE = "tensor(float)", "seq(tensor(float))"


@dataclass(frozen=True)
class Nested:
    """A model with a control-flow node, and the subject of the case."""

    about: str
    model: onnx.ModelProto
    outputs: Sequence[str]


def value(name: str, shape: Dims | None, kind: str | None = TENSOR) -> ValueInfoProto:
    """A value, of no type where none is given."""
    made = ValueInfoProto(name=name)
    if kind is not None:
        fill_type(made.type, kind, shape)
    return made


def step(name: str, source: str, target: str) -> list[NodeProto]:
    """Return what a body does with a value: `w` is one of the main graph, of shape (3, 5)."""
    match name:
        case "same":
            return [helper.make_node("Identity", [source], [target])]
        case "twice":
            return [helper.make_node("Concat", [source, source], [target], axis=0)]
        case "flat":
            return [helper.make_node("Flatten", [source], [target], axis=1)]
        case "product":
            return [helper.make_node("MatMul", [source, "w"], [target])]
        case "outer":
            return [helper.make_node("Identity", ["w"], [target])]
        case _:
            raise ValueError(name)


STEPS = ("same", "twice", "flat", "product", "outer")
SHAPES: tuple[Dims | None, ...] = ((2, 3), ("N", 3), (2, None), (3,), (), (2, 3, 3), None)
DECLARED: tuple[tuple[Dims | None, str | None], ...] = (
    (None, None), (None, TENSOR), ((2, 3), TENSOR), (("M", 3), TENSOR), ((3, 5), TENSOR), ((3,), TENSOR)
)  # fmt: skip


def nested(schema: onnx.defs.OpSchema) -> Iterator[Nested]:
    """The models for a version of an operator."""
    match schema.name:
        case "If":
            yield from _branches(schema)
        case "Loop":
            yield from _loops(schema)
        case "Scan":
            yield from _scans(schema)
        case "SequenceMap":
            yield from _maps(schema)


def _model(schema: onnx.defs.OpSchema, about: str, node: NodeProto, inputs: Sequence[ValueInfoProto]) -> Nested:
    outputs = [ValueInfoProto(name=name) for name in node.output]
    graph = helper.make_graph([node], "g", [*inputs, value("w", (3, 5))], outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", schema.since_version)])
    model.ir_version = 8
    return Nested(about, model, list(node.output))


def _branches(schema: onnx.defs.OpSchema) -> Iterator[Nested]:
    """If: one branch returns a value unchanged, and the other the result of a step on another value."""
    inputs = [value("c", (), "tensor(bool)")]
    for one, (name, other), (declared, kind) in product(SHAPES, product(STEPS, SHAPES), DECLARED):
        if kind is None or declared in ((2, 3), (3,)):
            node = helper.make_node(
                "If",
                ["c"],
                ["y"],
                then_branch=helper.make_graph(step("same", "x", "t"), "t", [], [value("t", declared, kind)]),
                else_branch=helper.make_graph(step(name, "z", "e"), "e", [], [value("e", None, None)]),
            )
            about = f"{one} or {name} of {other}, declared {declared}"
            yield _model(schema, about, node, [*inputs, value("x", one), value("z", other)])
    for one, other in product(SHAPES, SHAPES):
        if schema.since_version >= _IF_OF_SEQUENCES:
            node = helper.make_node(
                "If",
                ["c"],
                ["y"],
                then_branch=helper.make_graph(step("same", "x", "t"), "t", [], [value("t", None, None)]),
                else_branch=helper.make_graph(step("same", "z", "e"), "e", [], [value("e", None, None)]),
            )
            values = [value("x", one, SEQUENCE), value("z", other, SEQUENCE)]
            yield _model(schema, f"sequences of {one} or {other}", node, [*inputs, *values])
    for condition in ((1,), (2,), ("B",), None, (1, 1)):
        node = helper.make_node(
            "If",
            ["c"],
            ["y"],
            then_branch=helper.make_graph(step("same", "x", "t"), "t", [], [value("t", None, None)]),
            else_branch=helper.make_graph(step("same", "x", "e"), "e", [], [value("e", None, None)]),
        )
        yield _model(
            schema, f"condition {condition}", node, [value("c", condition, "tensor(bool)"), value("x", (2, 3))]
        )


_IF_OF_SEQUENCES, _LOOP_OF_SEQUENCES = 13, 13


def _loops(schema: onnx.defs.OpSchema) -> Iterator[Nested]:
    """Loop: one value is carried, and what a step makes of it is gathered."""
    for shape, (into, kind), (name, scanned) in product(SHAPES, DECLARED, product(STEPS, STEPS)):
        if kind is None or scanned in ("same", "product"):
            yield _loop(schema, shape, value("v", into, kind), name, scanned)
    for shape, (declared, kind) in product(SHAPES, DECLARED):
        yield _loop(schema, shape, value("v", None), "same", "same", carried=value("o", declared, kind))
        yield _loop(schema, shape, value("v", None), "same", "same", gathered=value("s", declared, kind))
    for count, condition, run in product(((), (1,), (2,), None), ((), (1,), (2,)), ((), (1,), (2,), None)):
        yield _loop(schema, (2, 3), value("v", None), "same", "outer", count=count, condition=condition, run=run)
    if schema.since_version >= _LOOP_OF_SEQUENCES:
        for shape, other in product(SHAPES, SHAPES):
            insert = helper.make_node("SequenceInsert", ["v", "x"], ["o"])
            body = _body([value("v", None, None)], [insert], [value("o", None, None)])
            node = helper.make_node("Loop", ["n", "c", "q"], ["y"], body=body)
            inputs = [*_LOOP_HEAD, value("q", shape, SEQUENCE), value("x", other)]
            yield _model(schema, f"{other} into a sequence of {shape}", node, inputs)


_LOOP_HEAD = (value("n", (), "tensor(int64)"), value("c", (), "tensor(bool)"))


def _body(
    inputs: Sequence[ValueInfoProto],
    nodes: Sequence[NodeProto],
    outputs: Sequence[ValueInfoProto],
    run: Dims | None = (),
    going: Dims | None = (),
) -> onnx.GraphProto:
    head = [value("i", run, "tensor(int64)"), value("go", going, "tensor(bool)")]
    condition = helper.make_node("Identity", ["go"], ["on"])
    return helper.make_graph(
        [condition, *nodes], "body", [*head, *inputs], [value("on", None, "tensor(bool)"), *outputs]
    )


def _loop(
    schema: onnx.defs.OpSchema,
    shape: Dims | None,
    into: ValueInfoProto,
    name: str,
    scanned: str,
    *,
    carried: ValueInfoProto | None = None,
    gathered: ValueInfoProto | None = None,
    count: Dims | None = (),
    condition: Dims | None = (),
    run: Dims | None = (),
) -> Nested:
    outputs = [carried or value("o", None, None), gathered or value("s", None, None)]
    body = _body([into], [*step(name, "v", "o"), *step(scanned, "v", "s")], outputs, run)
    node = helper.make_node("Loop", ["n", "c", "x"], ["y", "z"], body=body)
    inputs = [value("n", count, "tensor(int64)"), value("c", condition, "tensor(bool)"), value("x", shape)]
    about = f"{name} and {scanned} of {shape}: {_text(into)} to {_text(outputs[0])} and {_text(outputs[1])}"
    return _model(schema, f"{about}, {count} {condition} {run}", node, inputs)


def _text(made: ValueInfoProto) -> str:
    dims = [dim.dim_param or dim.dim_value for dim in made.type.tensor_type.shape.dim]
    return f"{dims}" if made.type.tensor_type.HasField("shape") else "anything"


def _scans(schema: onnx.defs.OpSchema) -> Iterator[Nested]:
    """Scan: a state and two inputs. One input goes into the state, and the other is an output."""
    for state, (into, kind), one in product(SHAPES, DECLARED, ((4, 2, 3), ("T", 3), (4,), None)):
        yield _scan(schema, (state, one, (4, 2, 3)), "same", value("v", into, kind))
    for name, one, other in product(STEPS, SHAPES, ((4, 3), ("T", 3, 3), (2, 3), None)):
        yield _scan(schema, ((2, 3), one, other), name, value("v", None, None))
    for declared, kind in DECLARED:
        yield _scan(
            schema, ((2, 3), (4, 3), (4, 3)), "same", value("v", None, None), carried=value("o", declared, kind)
        )
        yield _scan(
            schema, ((2, 3), (4, 3), (4, 3)), "same", value("v", None, None), gathered=value("s", declared, kind)
        )
    if schema.since_version >= _SCAN_WITH_AXES:
        for axes, out in product(((0, 0), (1, 0), (0, 1), (-1, -1), (2, 0), (-4, 0)), (0, 1, -1, 3, -9)):
            attributes = {"scan_input_axes": axes, "scan_output_axes": (out,)}
            yield _scan(schema, ((2, 3), (4, 5, 4), (4, 4)), "same", value("v", None, None), **attributes)
        for out in ((0, 0), (1, -1, 0)):
            attributes = {"scan_output_axes": out}
            yield _scan(schema, ((2, 3), (4, 5, 4), (4, 4)), "same", value("v", None, None), **attributes)
        attributes = {"scan_input_axes": (0,)}
        yield _scan(schema, ((2, 3), (4, 5, 4), (4, 4)), "same", value("v", None, None), **attributes)


_SCAN_WITH_AXES = 9


def _scan(
    schema: onnx.defs.OpSchema,
    shapes: tuple[Dims | None, Dims | None, Dims | None],
    name: str,
    into: ValueInfoProto,
    carried: ValueInfoProto | None = None,
    gathered: ValueInfoProto | None = None,
    **attributes: Sequence[int],
) -> Nested:
    has_batch = schema.since_version < _SCAN_WITH_AXES
    nodes = [*step("same", "v", "o"), *step(name, "a", "s"), helper.make_node("Identity", ["b"], ["unread"])]
    inputs = [into, value("a", None, None), value("b", None, None)]
    outputs = [carried or value("o", None, None), gathered or value("s", None, None)]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    names = ["x", "p", "q"]
    node = helper.make_node(
        "Scan", ["", *names] if has_batch else names, ["y", "z"], body=body, num_scan_inputs=2, **attributes
    )
    values = [
        value(each, None if shape is None else (("B",) * has_batch) + shape)
        for each, shape in zip(names, shapes, strict=True)
    ]
    about = f"{name} of {shapes}: {_text(into)} to {_text(outputs[0])} and {_text(outputs[1])}, {attributes}"
    return _model(schema, about, node, values)


def _maps(schema: onnx.defs.OpSchema) -> Iterator[Nested]:
    """SequenceMap: over one sequence, with a tensor beside it."""
    for shape, (into, kind), name in product(SHAPES, DECLARED, STEPS):
        for other in ((2, 3), ("N", 3), None):
            nodes = [*step(name, "v", "o"), *step("same", "u", "s")]
            inputs = [value("v", into, kind), value("u", None, None)]
            body = helper.make_graph(nodes, "body", inputs, [value("o", None, None), value("s", None, None)])
            node = helper.make_node("SequenceMap", ["q", "x"], ["y", "z"], body=body)
            about = f"{name} of {shape} with {other}, declared {into}"
            yield _model(schema, about, node, [value("q", shape, SEQUENCE), value("x", other)])


EXPLAINED = (
    Explained("If", "onnx-lint: input 0 'c' of .* If needs one element$", "one element by the description"),
    Explained("Loop", "onnx-lint: input [01] '[nc]' of .* Loop needs a scalar", "a scalar by the description"),
    Explained(
        "If-1",
        r"output 0: onnx \(.*\), onnx-lint \(.*None.*\)$",
        "a variable on one side and a size on the other are the same by the description; not taken as known here",
    ),
    Explained(
        "If-1",
        r"onnx-lint: output 0 'e' of subgraph 'e' is .*; branches .* must return one shape",
        "onnx infers nothing for version 1 of Concat",
    ),
    Explained(
        "If-1 If-11",
        r"output 0: onnx \(.*\), onnx-lint None$",
        "a branch of unknown shape; onnx takes the other one's",
    ),
    Explained(
        "If-1",
        "onnx-lint: input 0 'z' of unnamed node 0 .Concat. of subgraph 'e' is a scalar, "
        "but Concat needs at least 1 dimension",
        "onnx compares nothing in version 1 of Concat",
    ),
    Explained(
        "Loop",
        r"output 0: onnx Held\(.*\), onnx-lint (None|Held\(.*None.*\))$",
        "a run may put in elements of any shape; onnx infers the shape that the elements had before the first",
    ),
    Explained(
        "Loop",
        r"onnx-lint: (input|attribute|output) .* of (unnamed node 2 .* of )?subgraph 'body' is ",
        "the first value of a state is known; onnx looks into the body without it",
    ),
    Explained(
        "Loop",
        r"output 1: onnx \(None, 'M', [35]\), onnx-lint \(None, 'N', [35]\)$",
        "a state that keeps its first value has that value's variable; onnx takes the name that the body declares",
    ),
    Explained(
        "SequenceMap",
        r"output 0: onnx Held\(shape=\('M', [35]\)\), onnx-lint Held\(shape=\('N', [35]\)\)$",
        "the body returns elements of the sequence; onnx takes the name that the body declares",
    ),
    Explained(
        "Loop",
        r"output 1: onnx \(None, .*\), onnx-lint None$",
        "a state whose first value is not declared so; onnx takes the declaration",
    ),
    Explained(
        "Scan-8",
        "onnx-lint: dimension 1 of input 3 'q' .* is [24], but must be 3 like dimension 1 of input 2 'p'",
        "equally long sequences by the description; onnx compares none in version 8",
    ),
    Explained(
        "Scan-8",
        r"onnx-lint: input 2 'p' of .* is \[B\], but Scan needs at least 2 dimensions",
        "an axis of the batch and one of the sequence; onnx does not look in version 8",
    ),
)
