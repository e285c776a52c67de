# SPDX-License-Identifier: Apache-2.0
"""Faults planted in models of the wheel: a fix causes no finding, changes no other byte, and keeps what is computed."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from support.fixes.mended import check_bytes, check_difference, mended
from support.project.checkout import TESTS

from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource

pytestmark = pytest.mark.slow

SETTINGS = Settings(extend_select=("unnamed-node", "long-encoding"))
SEED = 50
FOLDERS = (
    Path(onnx.__file__).parent / "backend" / "test" / "data",
    TESTS / "models",
    *map(Path, filter(None, [os.environ.get("ONNX_LINT_TEST_MODELS")])),
)
"""`ONNX_LINT_TEST_MODELS` names a folder with more models."""

MOST_BYTES = 100_000

Plant = Callable[[onnx.ModelProto, onnx.GraphProto, random.Random], object]


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


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
    "graph names": lambda m, g, c: [setattr(each, "name", "same") for each in _graphs(m.graph)],
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


def _models() -> list[Path]:
    found = [path for folder in FOLDERS for path in sorted(folder.rglob("*.onnx"))]
    return [path for path in found if path.stat().st_size < MOST_BYTES]


def _outputs(data: bytes) -> list[object] | None:
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    kinds = {"float": "f4", "float16": "f2", "double": "f8", "bool": "?"}
    try:
        session = runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        fill = np.random.default_rng(SEED)
        inputs = {
            each.name: (fill.random([d if isinstance(d, int) else 2 for d in each.shape]) * 3).astype(
                kinds.get(each.type[7:-1], each.type[7:-1])
            )
            for each in session.get_inputs()
        }
        return list(session.run(None, inputs))
    except Exception:
        return None  # not for this build, or not for these numbers


def _check(before: bytes, data: bytes) -> Counter[str]:
    source = BytesSource(data)
    outcome = mended(source, SETTINGS, unsafe=True)
    check_bytes(outcome)
    check_difference(outcome, SETTINGS)
    assert mended(outcome.source, SETTINGS, unsafe=True).rounds == ()
    old, new = (
        Counter(item.rule for item in report.diagnostics)
        for report in (lint_source(source, "m", SETTINGS), outcome.report)
    )
    assert not new - old - Counter(dict(outcome.revealed)), (new - old, outcome.made)
    fixed = outcome.source.read_at(0, outcome.source.size)
    if outcome.rounds and not outcome.report.diagnostics:
        expected = _outputs(before)
        if expected is not None:
            found = _outputs(fixed)
            assert found is not None, "ONNX Runtime refuses the fixed model"
            for one, other in zip(expected, found, strict=True):
                np.testing.assert_array_equal(one, other)
    return Counter(dict(outcome.fixed))


def _plant(count: int) -> Counter[str]:
    """Plant that many faults, one in each copy of a model, and return the numbers of fixed findings."""
    choose = random.Random(SEED)
    paths = _models()
    kinds = [*PLANTS, *PREFIXES]
    found: Counter[str] = Counter()
    planted = 0
    for attempt in range(20 * count):
        if planted == count:
            break
        kind, path = kinds[attempt % len(kinds)], choose.choice(paths)
        model = onnx.load(path, load_external_data=False)
        before = model.SerializeToString()
        graphs = [each for each in _graphs(model.graph) if each.node]
        if kind in PLANTS:
            try:
                PLANTS[kind](model, choose.choice(graphs), choose)
            except (IndexError, AssertionError, AttributeError):
                continue  # the model has nothing of the kind
        data = PREFIXES.get(kind, b"") + model.SerializeToString()
        if data == before:
            continue
        planted += 1
        try:
            found += _check(before, data)
        except AssertionError as error:
            raise AssertionError(f"{kind} in {path}") from error
    assert planted == count
    return found


def test_planted_faults():
    assert len(_plant(200)) > 12


@pytest.mark.corpus
def test_two_thousand_planted_faults():
    assert len(_plant(2000)) > 15
