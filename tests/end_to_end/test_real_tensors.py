# SPDX-License-Identifier: Apache-2.0
"""Shapes against real tensors: the node test cases and models of the onnx wheel, with the outputs that they bring.

What is declared of outputs and other values is taken away, so that every shape follows from the inputs; these are there
as they are declared, then as constants, so that their contents are known, and then with a variable for each dimension.
An inferred shape that contradicts the real one is wrong, expressions of variables included, and so is anything that is
found to be at odds.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from support.models.shape_samples import size_of

from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load

pytestmark = pytest.mark.corpus

WAYS = ("as declared", "constants", "variables")


@dataclass(frozen=True)
class Example:
    """A model with one set of real inputs and outputs; a sequence is a list, an empty optional None."""

    name: str
    model: onnx.ModelProto
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]


@functools.cache
def _examples() -> tuple[Example, ...]:
    return (*_node_cases(), *_models())


def _node_cases() -> Iterator[Example]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the reference implementation overflows on purpose
        for case in collect_testcases(None):
            if case.model is not None:
                inputs, outputs = case.data_sets[0] if case.data_sets else ((), ())
                yield Example(case.name, case.model, tuple(inputs), tuple(outputs))


def _models() -> Iterator[Example]:
    import onnx.backend.test

    data = Path(onnx.backend.test.__file__).parent / "data"
    for path in sorted(data.rglob("model.onnx")):
        model = onnx.load(path)
        files = path.parent / "test_data_set_0"
        inputs = [_value(files / f"input_{index}.pb") for index in range(len(model.graph.input))]
        outputs = [_value(files / f"output_{index}.pb") for index in range(len(model.graph.output))]
        yield Example(str(path.parent.relative_to(data)), model, tuple(inputs), tuple(outputs))


def _value(path: Path) -> Any:
    """A tensor; None for an omitted value, and for a value that is not a tensor."""
    if not path.exists():
        return None
    try:
        return numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))
    except Exception:  # a sequence or an optional, whose message is another one
        return None


def _changed(example: Example, way: str) -> bytes:
    model = onnx.ModelProto()
    model.CopyFrom(example.model)
    graph = model.graph
    del graph.value_info[:]
    for value in graph.output:
        _forget_shape(value.type)
    for value, real in zip(graph.input, example.inputs, strict=False):
        if way == "constants" and isinstance(real, np.ndarray):
            tensor = numpy_helper.from_array(real, value.name)
            if tensor.data_type == value.type.tensor_type.elem_type:
                graph.initializer.append(tensor)
        elif way == "variables":
            for axis, dim in enumerate(value.type.tensor_type.shape.dim):
                dim.dim_param = f"{value.name}_{axis}"
    return model.SerializeToString()


def _sizes_of_variables(example: Example) -> dict[str, int]:
    """Return the sizes of the variables that `_changed` assigns to the dimensions of the inputs."""
    return {
        f"{value.name}_{axis}": size
        for value, real in zip(example.model.graph.input, example.inputs, strict=False)
        if isinstance(real, np.ndarray)
        for axis, size in enumerate(real.shape)
    }


def _forget_shape(proto: onnx.TypeProto) -> None:
    match proto.WhichOneof("value"):
        case "tensor_type":
            proto.tensor_type.ClearField("shape")
        case "sequence_type":
            _forget_shape(proto.sequence_type.elem_type)
        case "optional_type":
            _forget_shape(proto.optional_type.elem_type)


def _flow(example: Example, way: str) -> ValueFlow:
    return load(BytesSource(_changed(example, way)), "model.onnx").value_flow


def _at_odds(flow: ValueFlow) -> list[str]:
    """Return the contradictions, but those in branches that never run, such as that of AffineGrid for images."""
    return [
        *[
            f"{each.schema.name}-{each.schema.since_version}: {each.problem}"
            for each in flow.shapes
            if not flow.never_runs(each.node.graph)
        ],
        *[
            f"{each.field} {each.index}: {each.declared.shape} for {each.inferred.shape}"
            for each in flow.declared_shapes
        ],
        *[each.describe() for each in flow.subgraph_shapes],
    ]


@pytest.mark.parametrize("way", WAYS)
def test_no_shape_contradicts_the_real_one_and_nothing_is_found_wrong(way: str):
    wrong: dict[str, list[str]] = {}
    known = compared = 0
    for example in _examples():
        flow = _flow(example, way)
        found = _at_odds(flow)
        sizes = _sizes_of_variables(example)
        for value, real in zip(example.model.graph.output, example.outputs, strict=False):
            if not isinstance(real, np.ndarray):
                continue
            compared += 1
            inferred = flow.shape_of(value.name)
            if inferred is None:
                continue
            found_sizes = [None if dim is None else size_of(dim, sizes) for dim in inferred]
            known += None not in found_sizes
            fits = len(inferred) == real.ndim and all(
                dim is None or dim == size for dim, size in zip(found_sizes, real.shape, strict=True)
            )
            if not fits:
                found.append(f"{value.name} is {real.shape}, inferred {inferred}")
        if found:
            wrong[example.name] = found
    print(f"{way}: {compared} outputs, {known} known exactly")
    assert wrong == {}
    assert compared > 2000


def test_the_examples_are_there():
    assert len(_examples()) >= 1_700
