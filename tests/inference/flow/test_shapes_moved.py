# SPDX-License-Identifier: Apache-2.0
"""The facts about values stay the same if an equivalent model is written differently.

Other names, another order, a branch of an If and a function change nothing. With variables in the place of sizes
nothing contradicts the real shapes.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper
from support.project.each_case import each_case

from onnx_lint.inference.shapes.dims import Shape
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model

SEEDS = range(40)

IMPORTS = (helper.make_opsetid("", 21), helper.make_opsetid("local", 1))


class Grown:
    """A graph of valid nodes that a seed decides: element by element, matrices, computed shapes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.nodes: list[NodeProto] = []
        self.shapes: dict[str, tuple[int, ...]] = {}
        """The real shapes of the floating-point tensors."""
        self.inputs = {f"x{index}": (self.random.choice((1, 2, 4)), 3, 4) for index in range(3)}
        self.shapes.update(self.inputs)
        for _ in range(12):
            self.random.choice((self.unary, self.add, self.transpose, self.concat, self.flatten, self.product))()

    def node(self, op_type: str, inputs: list[str], shape: tuple[int, ...] | None, **attributes: object) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], **attributes))
        if shape is not None:
            self.shapes[name] = shape
        return name

    def any(self) -> str:
        return self.random.choice(list(self.shapes))

    def unary(self) -> None:
        name = self.any()
        self.node(self.random.choice(("Relu", "Softmax", "Exp")), [name], self.shapes[name])

    def add(self) -> None:
        name = self.any()
        axes = self.node("Constant", [], None, value_ints=[-1])
        largest = self.node("ReduceMax", [name, axes], (*self.shapes[name][:-1], 1), keepdims=1)
        self.node("Add", [name, largest], self.shapes[name])

    def transpose(self) -> None:
        name = self.any()
        axes = list(range(len(self.shapes[name])))
        self.random.shuffle(axes)
        self.node("Transpose", [name], tuple(self.shapes[name][axis] for axis in axes), perm=axes)

    def concat(self) -> None:
        name = self.any()
        shape = list(self.shapes[name])
        axis = self.random.randrange(len(shape))
        shape[axis] *= 2
        self.node("Concat", [name, name], tuple(shape), axis=axis)

    def flatten(self) -> None:
        """The first size by way of Shape and Gather, and all others in one."""
        name = self.any()
        shape = self.shapes[name]
        sizes = self.node("Shape", [name], None)
        first = self.node("Gather", [sizes, self.node("Constant", [], None, value_ints=[0])], None)
        rest = self.node("Constant", [], None, value_ints=[-1])
        target = self.node("Concat", [first, rest], None, axis=0)
        other = 1
        for size in shape[1:]:
            other *= size
        self.node("Reshape", [name, target], (shape[0], other))

    def product(self) -> None:
        name = self.any()
        shape = self.shapes[name]
        turned = (*shape[:-2], shape[-1], shape[-2])
        axes = [*range(len(shape) - 2), len(shape) - 1, len(shape) - 2]
        self.node("MatMul", [name, self.node("Transpose", [name], turned, perm=axes)], (*shape[:-1], shape[-2]))

    def model(self, dims: Callable[[str, int, int], int | str | None] | None = None) -> ModelProto:
        """Return the model. `dims` has the declaration of each dimension of an input, by default its size."""
        declared = {
            name: [size if dims is None else dims(name, axis, size) for axis, size in enumerate(shape)]
            for name, shape in self.inputs.items()
        }
        inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in declared.items()]
        graph = helper.make_graph(self.nodes, "g", inputs, [])
        return helper.make_model(graph, opset_imports=IMPORTS, ir_version=10)


def _loaded(model: ModelProto) -> Model:
    return load(BytesSource(model.SerializeToString()))


def _known(model: ModelProto) -> dict[str, tuple[str | None, Shape, object]]:
    """Return the type, the shape and the elements of each value of the main graph."""
    flow = _loaded(model).value_flow
    assert not list(flow.conflicts())
    assert not flow.has_shape_conflicts
    return {name: (fact.kind, fact.shape, fact.content) for name, fact in flow.facts.items() if name}


@each_case("seed", SEEDS)
def test_every_shape_is_the_real_one(seed: int) -> None:
    grown = Grown(seed)
    known = _known(grown.model())
    assert {name: known[name][1] for name in grown.shapes} == grown.shapes


@each_case("seed", SEEDS)
def test_other_names_change_nothing(seed: int) -> None:
    model = Grown(seed).model()
    before = _known(model)
    names = [*before]
    other = dict(zip(names, [f"n{index}" for index in reversed(range(len(names)))], strict=True))
    for node in model.graph.node:
        node.input[:] = [other[name] for name in node.input]
        node.output[:] = [other[name] for name in node.output]
    for value in model.graph.input:
        value.name = other[value.name]
    assert _known(model) == {other[name]: what for name, what in before.items()}


@each_case("seed", SEEDS)
def test_another_order_changes_nothing(seed: int) -> None:
    grown = Grown(seed)
    model = grown.model()
    before = _known(model)
    left = list(model.graph.node)
    done = set(grown.inputs)
    ordered = []
    while left:
        ready = [node for node in left if done.issuperset(node.input)]
        node = grown.random.choice(ready)
        left.remove(node)
        ordered.append(node)
        done.update(node.output)
    del model.graph.node[:]
    model.graph.node.extend(ordered)
    assert _known(model) == before


def _body(model: ModelProto, names: list[str]) -> GraphProto:
    values = [onnx.ValueInfoProto(name=name) for name in names]
    return helper.make_graph(list(model.graph.node), "body", [], values)


@each_case("seed", SEEDS)
def test_two_equal_branches_of_an_if_hand_on_what_was_known(seed: int) -> None:
    grown = Grown(seed)
    model = grown.model()
    before = _known(model)
    names = [name for name in grown.shapes if name not in grown.inputs]
    outputs = [f"out_{name}" for name in names]
    body = _body(model, names)
    del model.graph.node[:]
    model.graph.input.append(helper.make_tensor_value_info("which", TensorProto.BOOL, []))
    model.graph.node.append(helper.make_node("If", ["which"], outputs, then_branch=body, else_branch=body))
    known = _known(model)
    assert {name: known[f"out_{name}"][:2] for name in names} == {name: before[name][:2] for name in names}


@each_case("seed", SEEDS)
def test_a_function_hands_on_what_its_nodes_give_in_the_graph(seed: int) -> None:
    grown = Grown(seed)
    model = grown.model()
    before = _known(model)
    names = [name for name in before if name not in grown.inputs]
    body = list(model.graph.node)
    model.functions.append(helper.make_function("local", "F", [*grown.inputs], names, body, [IMPORTS[0]]))
    del model.graph.node[:]
    outputs = [f"out_{name}" for name in names]
    model.graph.node.append(helper.make_node("F", [*grown.inputs], outputs, domain="local"))
    known = _known(model)
    assert {name: known[f"out_{name}"] for name in names} == {name: before[name] for name in names}


def _agree(one: Shape, real: tuple[int, ...]) -> bool:
    if one is None:
        return True
    return len(one) == len(real) and all(a == b or not isinstance(a, int) for a, b in zip(one, real, strict=True))


@each_case("seed", SEEDS)
def test_with_variables_for_sizes_nothing_contradicts_the_real_shapes(seed: int) -> None:
    grown = Grown(seed)
    ways: list[Callable[[str, int, int], int | str | None]] = [
        lambda name, axis, size: f"{name}_{axis}",
        lambda name, axis, size: f"size_{size}",
        lambda name, axis, size: None,
        lambda name, axis, size: "N" if axis == 0 else size,
        lambda name, axis, size: None if axis == 1 else size,
    ]
    for way in ways:
        known = _known(grown.model(way))
        assert [name for name, real in grown.shapes.items() if not _agree(known[name][1], real)] == []
        # Of the rank no variable takes anything away here.
        assert [name for name in grown.shapes if known[name][1] is None] == []
