# SPDX-License-Identifier: Apache-2.0
"""Kinds of faults, and small models of the onnx wheel to plant them in."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx

from fuzz.models.builder import FUNCTIONS_SINCE
from fuzz.models.moved import moved_forms
from support.project.checkout import TESTS

FOLDERS = (
    Path(onnx.__file__).parent / "backend" / "test" / "data",
    TESTS / "models",
    *map(Path, filter(None, [os.environ.get("ONNX_LINT_TEST_MODELS")])),
)
"""`ONNX_LINT_TEST_MODELS` names a folder with more models."""

MAX_BYTES = 100_000

Plant = Callable[[onnx.ModelProto, onnx.GraphProto, random.Random], object]


def graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from graphs(attribute.g)


def _shuffle(model: onnx.ModelProto, graph: onnx.GraphProto, choose: random.Random) -> None:
    nodes = list(graph.node)
    choose.shuffle(nodes)
    del graph.node[:]
    graph.node.extend(nodes)


def _value(graph: onnx.GraphProto, choose: random.Random, *dims: int | str, kind: int = 1) -> None:
    name = choose.choice([name for node in graph.node for name in node.output if name])
    graph.value_info.append(onnx.helper.make_tensor_value_info(name, kind, dims))


def _vary(graph: onnx.GraphProto, choose: random.Random) -> None:
    name = choose.choice([name for node in graph.node for name in node.output if name])
    for variable in "ab":
        graph.value_info.append(onnx.helper.make_tensor_value_info(name, 1, [variable, None]))


def _resize(value: onnx.ValueInfoProto, size: int) -> None:
    choose_from = value.type.tensor_type.shape.dim
    choose_from[0].dim_value = size


def _return_outer(model: onnx.ModelProto, graph: onnx.GraphProto, choose: random.Random) -> None:
    assert graph is not model.graph
    graph.output[0].name = choose.choice(model.graph.input).name


def _shadow(model: onnx.ModelProto, graph: onnx.GraphProto, choose: random.Random) -> None:
    """Call a value of a nested graph like an input of the model."""
    assert graph is not model.graph
    node = choose.choice(graph.node)
    node.output[0] = graph.output[0].name = choose.choice(model.graph.input).name


PLANTS: dict[str, Plant] = {
    "order": _shuffle,
    "equal entries": lambda m, g, c: g.value_info.append(c.choice(g.value_info)),
    "other variables": lambda m, g, c: _vary(g, c),
    "stale entry": lambda m, g, c: g.value_info.append(onnx.helper.make_tensor_value_info("gone", 1, [3])),
    "wrong type": lambda m, g, c: _value(g, c, 3, kind=c.choice([2, 9, 16])),
    "wrong shape": lambda m, g, c: _value(g, c, 3, 77, 5, 9, 11),
    "import twice": lambda m, g, c: m.opset_import.append(c.choice(m.opset_import)),
    "no import": lambda m, g, c: m.opset_import.pop(),
    "key twice": lambda m, g, c: [m.metadata_props.add(key="k", value="v") for _ in range(2)],
    "name twice": lambda m, g, c: [setattr(node, "name", "n") for node in g.node],
    "no name": lambda m, g, c: setattr(c.choice(g.node), "name", ""),
    "odd name": lambda m, g, c: setattr(c.choice(g.node), "name", "1/2 \u2713"),
    "graph names": lambda m, g, c: [setattr(each, "name", "same") for each in graphs(m.graph)],
    "negative size": lambda m, g, c: _resize(c.choice([*g.output, *g.value_info]), -1),
    "wrong output": lambda m, g, c: _resize(c.choice(m.graph.output), 77),
    "no shape": lambda m, g, c: c.choice(m.graph.output).type.tensor_type.ClearField("shape"),
    "no type": lambda m, g, c: c.choice(m.graph.output).ClearField("type"),
    "old IR version": lambda m, g, c: setattr(m, "ir_version", 3),
    "undefined": lambda m, g, c: c.choice(g.node).input.append("nowhere"),
    "unknown operator": lambda m, g, c: setattr(c.choice(g.node), "op_type", "Rely"),
    "unknown attribute": lambda m, g, c: c.choice(g.node).attribute.add(name="axess", i=1, type=2),
    "shadowed": lambda m, g, c: _shadow(m, g, c),
    "outer output": _return_outer,
    "element type": lambda m, g, c: setattr(c.choice(g.value_info).type.tensor_type, "elem_type", 99),
    "dimensions": lambda m, g, c: c.choice(g.initializer).dims.append(2),
    "list for a scalar": lambda m, g, c: [tensor.dims.append(1) for tensor in g.initializer if not tensor.dims],
    "attribute twice": lambda m, g, c: (node := c.choice(g.node)).attribute.append(node.attribute[0]),
    "IR version too low": lambda m, g, c: (setattr(m, "ir_version", 7), g.metadata_props.add(key="k", value="v")),
    "body twice": lambda m, g, c: g.node.append(c.choice(g.node)),
}

PREFIXES = {"producer twice": b"\x12\x01p", "long number": b"\x08\x8a\x80\x00"}


def small_models() -> list[Path]:
    found = [path for folder in FOLDERS for path in sorted(folder.rglob("*.onnx"))]
    return [path for path in found if path.stat().st_size < MAX_BYTES]


def placed(path: Path, where: int) -> onnx.ModelProto:
    """Return a model with its nodes in the main graph, in two branches, in the body of a Loop, or in a function."""
    model = onnx.load(path, load_external_data=False)
    _fill(model)
    if not where:
        return model
    model.ir_version = max(model.ir_version, FUNCTIONS_SINCE)
    forms = dict(moved_forms(model, typed=True))
    form = ("function", "If", "Loop")[where - 1]
    return _into_body(forms["If"]) if form == "Loop" and "If" in forms else forms.get(form, model)


def _fill(model: onnx.ModelProto) -> None:
    """Give weights that somebody has set to zero other numbers."""
    numbers = np.random.default_rng(1)
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and tensor.raw_data and not any(tensor.raw_data):
            tensor.raw_data = numbers.random(len(tensor.raw_data) // 4, "<f4").tobytes()


def _into_body(model: onnx.ModelProto) -> onnx.ModelProto:
    """Make the first branch of an If the body of a Loop that runs once. Before version 11 a Loop must carry a value."""
    [node] = model.graph.node
    body = node.attribute[0].g
    for name, kind in (("at", 7), ("go", 9), ("kept", 7)):
        body.input.append(onnx.helper.make_tensor_value_info(f"{name}_", kind, []))
    for at, each in enumerate(body.input[-2:]):
        body.node.append(onnx.helper.make_node("Identity", [each.name], [f"{each.name}on"], each.name))
        body.output.insert(at, onnx.ValueInfoProto(name=f"{each.name}on", type=each.type))
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(1), "trips_"))
    inputs, outputs = ["trips_", node.input[0], "trips_"], ["last_", *node.output]
    node.CopyFrom(onnx.helper.make_node("Loop", inputs, outputs, body=body))
    for output in model.graph.output:
        output.type.tensor_type.shape.dim.insert(0, onnx.TensorShapeProto.Dimension(dim_value=1))
    return model


def planted(path: Path, kind: str, choose: random.Random, where: int = 0) -> tuple[bytes, bytes] | None:
    """Return a model before and after a fault of that kind is planted; None if the model has nothing of the kind."""
    model = placed(path, where)
    before = model.SerializeToString()
    if kind in PLANTS:
        try:
            owners = [each for each in (*graphs(model.graph), *model.functions) if each.node]
            PLANTS[kind](model, choose.choice(owners[where > 0 and len(owners) > 1 :]), choose)
        except (IndexError, AssertionError, AttributeError):
            return None
    after = PREFIXES.get(kind, b"") + model.SerializeToString()
    return None if after == before else (before, after)
