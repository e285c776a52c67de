# SPDX-License-Identifier: Apache-2.0
"""The flow of types: the outputs of each operator, and the cost of following types through functions."""

from __future__ import annotations

import pytest

from onnx_lint import schema
from onnx_lint.inference.flow import traversal as flow
from onnx_lint.inference.flow import walk_budget
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model, Proto

FLOAT, DOUBLE = 1, 11


# --- functions


def _add_node(holder: Proto, op_type: str, inputs: str, output: str, domain: str = "", **attributes: int) -> None:
    node = holder.node.add(op_type=op_type, domain=domain, input=inputs.split(), output=[output])
    for name, value in attributes.items():
        node.attribute.add(name=name, type=2, i=value)


def _model(functions: int) -> Proto:
    proto = schema.message("ModelProto")(ir_version=10)
    proto.opset_import.add(domain="", version=21)
    proto.opset_import.add(domain="d", version=1)
    for index in range(functions):
        function = proto.functions.add(domain="d", name=f"F{index}", input=["a"], output=["b"])
        function.opset_import.add(domain="", version=21)
        function.opset_import.add(domain="d", version=1)
    proto.graph.name = "g"
    for name, code in (("x", FLOAT), ("w", DOUBLE)):
        proto.graph.input.add(name=name).type.tensor_type.elem_type = code
    return proto


def _load(proto: Proto) -> Model:
    return load(BytesSource(proto.SerializeToString()), "model.onnx")


def test_functions_that_call_each_other_two_at_a_time_thirty_deep_end():
    proto = _model(30)
    for index, function in enumerate(proto.functions[:-1]):
        _add_node(function, f"F{index + 1}", "a", "c", "d")
        _add_node(function, f"F{index + 1}", "c", "b", "d")
    _add_node(proto.functions[-1], "Shape", "a", "s")
    _add_node(proto.functions[-1], "Cast", "s", "b", to=FLOAT)
    _add_node(proto.graph, "F0", "x", "y", "d")
    _add_node(proto.graph, "F0", "w", "z", "d")
    model = _load(proto)
    found = model.value_flow
    assert found.types["y"] == found.types["z"] == "tensor(float)"
    assert found.operands == []


@pytest.mark.slow
def test_a_chain_of_calls_may_be_as_long_as_the_file_has_it():
    depth = 3_000  # three times as many calls as Python nests by default
    proto = _model(depth)
    for index, function in enumerate(proto.functions[:-1]):
        _add_node(function, f"F{index + 1}", "a", "b", "d")
    _add_node(proto.functions[-1], "Not", "a", "b")
    _add_node(proto.graph, "F0", "x", "y", "d")
    [conflict] = _load(proto).value_flow.operands
    assert conflict.node.op_type == "Not"


def test_functions_that_call_each_other_in_a_circle_end():
    proto = _model(2)
    for index, function in enumerate(proto.functions):
        _add_node(function, f"F{1 - index}", "a", "c", "d")
        _add_node(function, "Relu", "c", "b")
    _add_node(proto.graph, "F0", "x", "y", "d")
    _add_node(proto.graph, "F1", "w", "z", "d")
    assert _load(proto).value_flow.operands == []


def test_a_body_is_walked_once_for_each_tuple_of_types(monkeypatch: pytest.MonkeyPatch):
    walked = []
    walk = flow.Flow.walk

    def count(self, graph, frame, known, supplied):
        walked.append(graph.name)
        return walk(self, graph, frame, known, supplied)

    monkeypatch.setattr(flow.Flow, "walk", count)
    proto = _model(1)
    _add_node(proto.functions[0], "Relu", "a", "b")
    for index in range(50):
        _add_node(proto.graph, "F0", "x", f"x{index}", "d")
        _add_node(proto.graph, "F0", "w", f"w{index}", "d")
    found = _load(proto).value_flow
    assert walked == ["g", "F0", "F0"]
    assert (found.types["x49"], found.types["w49"]) == ("tensor(float)", "tensor(double)")


def test_what_grows_without_end_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch):
    """Each body calls the next one twice, and casts one argument more for the second call: 2 ** 40 tuples of types."""
    monkeypatch.setattr(walk_budget, "REPEATED_WALK_BUDGET", 200)
    depth = 40
    arguments = [f"a{index}" for index in range(depth)]
    proto = _model(depth)
    for index, function in enumerate(proto.functions):
        function.ClearField("input")
        function.input.extend(arguments)
        _add_node(function, "Cast", arguments[index], "c", to=DOUBLE)
        if index + 1 < depth:
            _add_node(function, f"F{index + 1}", " ".join(arguments), "p", "d")
            changed = [*arguments[:index], "c", *arguments[index + 1 :]]
            _add_node(function, f"F{index + 1}", " ".join(changed), "q", "d")
        _add_node(function, "Not", "c", "b")
    _add_node(proto.graph, "F0", " ".join(["x"] * depth), "y", "d")
    found = _load(proto).value_flow
    assert {conflict.node.graph.name for conflict in found.operands} == {function.name for function in proto.functions}


# --- nodes that repeat others


def _constant(holder: Proto, name: str, values: list[float]) -> None:
    attribute = holder.node.add(op_type="Constant", output=[name]).attribute.add(name="value", type=4)
    attribute.t.MergeFrom(schema.message("TensorProto")(dims=[len(values)], data_type=FLOAT, float_data=values))


def test_nodes_with_equal_constants_are_followed_in_one_step(monkeypatch: pytest.MonkeyPatch):
    proto = _model(0)
    for index in range(200):
        _constant(proto.graph, f"c{index}", [0.5] * 64)
        _constant(proto.graph, f"d{index}", [0.25])
        _add_node(proto.graph, "Add", f"c{index} d{index}", f"y{index}")
    taken: list[int] = []
    take = flow.Flow._take

    def counting(self: flow.Flow, here: object, index: int, *given: object) -> None:
        taken.append(index)
        take(self, here, index, *given)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(flow.Flow, "_take", counting)
    found = _load(proto).value_flow
    assert found.facts["y199"].shape == (64,)
    assert len(taken) < 30


def test_the_branches_of_each_if_are_walked():
    proto = _model(0)
    proto.graph.initializer.add(name="c", data_type=9, dims=[], int32_data=[1])
    proto.graph.input.add(name="d").type.tensor_type.elem_type = 9
    for index in range(5):
        node = proto.graph.node.add(op_type="If", input=["d"], output=[f"y{index}"])
        for branch in ("then_branch", "else_branch"):
            graph = node.attribute.add(name=branch, type=5).g
            graph.name = f"{branch}{index}"
            _add_node(graph, "Identity", "c", f"{branch}_{index}")
            graph.output.add(name=f"{branch}_{index}")
    walked = {walked.graph.name for walked in _load(proto).value_flow.walks.first}
    assert walked == {"g", *(f"{branch}{index}" for branch in ("then_branch", "else_branch") for index in range(5))}
