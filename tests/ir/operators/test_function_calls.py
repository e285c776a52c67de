# SPDX-License-Identifier: Apache-2.0
"""Calls of model-local functions: which function is meant, and circles, at sizes at which nothing may be expanded."""

from __future__ import annotations

import pytest
from support.project.sampled import one_in

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model


def _model(bodies: dict[str, list[str]], ir_version: int = 10) -> Model:
    """A model with a function for each key, given as `domain::name:overload`, that calls those in the list."""
    proto = schema.message("ModelProto")(ir_version=ir_version)
    for key, callees in bodies.items():
        domain, name, overload = _split(key)
        function = proto.functions.add(domain=domain, name=name, overload=overload)
        for callee in callees:
            domain, name, overload = _split(callee)
            function.node.add(domain=domain, op_type=name, overload=overload, output=["y"])
    return load(BytesSource(proto.SerializeToString()), "model.onnx")


def _split(key: str) -> tuple[str, str, str]:
    domain, _, rest = key.rpartition("::")
    name, _, overload = rest.partition(":")
    return domain, name, overload


def _circles(model: Model) -> list[list[str]]:
    return [[function.qualified_name for function in found.functions] for found in model.calls.recursions()]


def _callees(model: Model) -> list[list[str]]:
    return [[model.functions[index].qualified_name for index in callees] for callees in model.calls.callees]


def test_a_call_is_resolved_by_domain_name_and_overload():
    model = _model({"d::F": ["d::G", "e::G", "d::G:a", "G", "Relu"], "d::G": [], "e::G": [], "d::G:a": [], "G": []})
    assert _callees(model) == [["d::G", "e::G", "d::G:a", "G"], [], [], [], []]


def test_the_default_domain_has_two_spellings():
    model = _model({"d::F": ["ai.onnx::G", "H"], "G": [], "ai.onnx::H": []})
    assert _callees(model) == [["G", "ai.onnx::H"], [], []]


@pytest.mark.parametrize(
    ("ir_version", "callees"), [(9, ["d::G:a"]), (10, ["d::G:b"]), (0, ["d::G:b"]), (99, ["d::G:b"])]
)
def test_the_overload_counts_from_ir_version_10_on(ir_version, callees):
    model = _model({"d::F": ["d::G:b"], "d::G:a": [], "d::G:b": []}, ir_version)
    assert _callees(model)[0] == callees


def test_the_first_of_two_functions_of_one_identity_is_called():
    proto = schema.message("ModelProto")(ir_version=10)
    for name in ("G", "G", "F"):
        proto.functions.add(domain="d", name=name)
    proto.functions[2].node.add(domain="d", op_type="G", output=["y"])
    model = load(BytesSource(proto.SerializeToString()), "model.onnx")
    assert [list(callees) for callees in model.calls.callees] == [[], [], [0]]


def test_each_set_of_functions_has_one_shortest_circle():
    model = _model(
        {
            "d::Leads": ["d::A"],
            "d::A": ["d::B", "d::C"],
            "d::B": ["d::C"],
            "d::C": ["d::A", "d::End"],
            "d::End": [],
            "d::Self": ["d::Self"],
        }
    )
    assert _circles(model) == [["d::A", "d::C"], ["d::Self"]]
    circle = model.calls.recursions()[0]
    assert [(node.graph.function.name, node.op_type) for node in circle.nodes] == [("A", "C"), ("C", "A")]


def test_a_chain_of_300_functions_of_which_each_calls_the_next_twice():
    count = 300
    bodies = {f"d::F{index}": [f"d::F{index + 1}"] * 2 for index in range(count)}
    assert _circles(_model({**bodies, f"d::F{count}": []})) == []
    assert _circles(_model({**bodies, f"d::F{count}": ["d::F0"]})) == [[f"d::F{index}" for index in range(count + 1)]]


@one_in(3)
def test_thousands_of_functions(step: int):
    count = 3_600 // step
    chain = {f"d::F{index}": [f"d::F{index + 1}"] for index in range(count - 1)}
    closed = _model({**chain, f"d::F{count - 1}": ["d::F0"]})
    assert _circles(closed) == [[f"d::F{index}" for index in range(count)]]
    pairs = _model({f"d::F{index}": [f"d::F{index ^ 1}"] for index in range(count)})
    assert _circles(pairs) == [[f"d::F{index}", f"d::F{index + 1}"] for index in range(0, count, 2)]
