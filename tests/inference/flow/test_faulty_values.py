# SPDX-License-Identifier: Apache-2.0
"""A value that is unknown because of a fault causes no further finding."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

from support.project.sampled import one_in

from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model

INTEGERS = "type { tensor_type { elem_type: 6 shape { dim { dim_value: 2 } } } }"


def _chain(*nodes: str, declared: str = "abcdef") -> Model:
    """A model of operator set 13 with such nodes, whose values are all declared as integers."""
    infos = "".join(f'value_info {{ name: "{name}" {INTEGERS} }}' for name in declared)
    text = f"""ir_version: 10 opset_import {{ version: 13 }} opset_import {{ domain: "d" version: 1 }}
        graph {{ name: "g" input {{ name: "x" {INTEGERS} }} {" ".join(nodes)} {infos} }}"""
    return load(BytesSource(text.encode()))


def _node(op_type: str, inputs: str, output: str, more: str = "") -> str:
    named = " ".join(f'input: "{name}"' for name in inputs)
    return f'node {{ op_type: "{op_type}" {named} output: "{output}" {more} }}'


UNKNOWN = 'domain: "d"'


def test_what_the_operator_never_gives_is_told_once_for_a_chain():
    model = _chain(_node("Some", "x", "a", UNKNOWN), _node("Relu", "a", "b"), _node("Relu", "b", "c"), declared="bc")
    assert [found.subject for found in model.value_flow.declarations] == ["b"]


def test_what_comes_of_wrong_operands_is_not_told():
    model = _chain(_node("Relu", "x", "a"), _node("Relu", "a", "b"), _node("Relu", "b", "c"))
    assert (len(model.value_flow.operands), model.value_flow.declarations) == (1, [])


def test_through_values_that_are_not_declared():
    nodes = [_node("Relu", "x", "a")] + [_node("Identity", one, other) for one, other in pairwise("abcde")]
    model = _chain(*nodes, _node("Relu", "e", "f"), declared="f")
    assert (len(model.value_flow.operands), model.value_flow.declarations) == (1, [])


def test_a_second_fault_that_does_not_follow_is_told():
    model = _chain(_node("Relu", "x", "a"), _node("Some", "x", "b", UNKNOWN), _node("Relu", "b", "c"), declared="ac")
    assert len(model.value_flow.operands) == 1
    assert [found.subject for found in model.value_flow.declarations] == ["c"]


def test_a_fault_of_the_graph_around():
    branch = f'g {{ name: "b" {_node("Relu", "a", "t")} output {{ name: "t" {INTEGERS} }} }}'
    both = "".join(f'attribute {{ name: "{name}_branch" type: GRAPH {branch} }}' for name in ("then", "else"))
    model = _chain(_node("Relu", "x", "a"), _node("Some", "x", "k", UNKNOWN), _node("If", "k", "b", both))
    assert (len(model.value_flow.operands), model.value_flow.declarations) == (1, [])


def _peak_of_branches(count: int) -> int:
    """Return the peak of memory of following the values of a model: of a wrong MatMul, and `count` If behind it."""
    nodes = [_node("MatMul", "xx", "v0")]
    for index in range(count):
        both = "".join(
            f"""attribute {{ name: "{name}_branch" type: GRAPH g {{ name: "{name}"
            node {{ op_type: "Relu" input: "v{index}" output: "{name}{index}" }}
            output {{ name: "{name}{index}" }} }} }}"""
            for name in ("then", "else")
        )
        nodes.append(f'node {{ op_type: "If" input: "c" output: "v{index + 1}" {both} }}')
    shape = "shape { dim { dim_value: 2 } dim { dim_value: 3 } }"
    text = f"""ir_version: 10 opset_import {{ version: 13 }} graph {{ name: "g"
        input {{ name: "x" type {{ tensor_type {{ elem_type: 1 {shape} }} }} }}
        input {{ name: "c" type {{ tensor_type {{ elem_type: 9 shape {{ }} }} }} }} {" ".join(nodes)} }}"""
    model = load(BytesSource(text.encode()))
    assert len(list(model.graphs)) == 2 * count + 1
    tracemalloc.start()
    try:
        assert len(model.value_flow.shapes) == 1
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@one_in(2)
def test_memory_after_a_fault_grows_with_the_subgraphs_and_not_with_their_square(step: int):
    assert _peak_of_branches(1_600 // step) < 8 * _peak_of_branches(400 // step)  # the first one also imports modules


def test_a_shape_lost_outside_is_lost_inside_at_any_depth():
    """Declarations inside, which an exporter inferred from the wrong value, are no further findings."""
    shape = "shape { dim { dim_value: 2 } dim { dim_value: 3 } }"
    wrong = "shape { dim { dim_value: 7 } dim { dim_value: 7 } }"

    def nested(depth: int) -> str:
        value = f"t{depth}"
        inner = f'node {{ op_type: "Relu" input: "a" output: "{value}" }}' if depth == 0 else nested(depth - 1)
        made = f'node {{ op_type: "If" input: "c" output: "{value}" {inner} }}' if depth else inner
        info = f'value_info {{ name: "{value}" type {{ tensor_type {{ elem_type: 1 {wrong} }} }} }}'
        graph = f'g {{ name: "b{depth}" {made} {info} output {{ name: "{value}" }} }}'
        return "".join(f'attribute {{ name: "{name}_branch" type: GRAPH {graph} }}' for name in ("then", "else"))

    text = f"""ir_version: 10 opset_import {{ version: 13 }} graph {{ name: "g"
        input {{ name: "x" type {{ tensor_type {{ elem_type: 1 {shape} }} }} }}
        input {{ name: "c" type {{ tensor_type {{ elem_type: 9 shape {{ }} }} }} }}
        node {{ op_type: "MatMul" input: "x" input: "x" output: "a" }}
        node {{ op_type: "If" input: "c" output: "y" {nested(2)} }} }}"""
    flow = load(BytesSource(text.encode())).value_flow
    assert (len(flow.shapes), flow.declared_shapes, flow.subgraph_shapes) == (1, [], [])
