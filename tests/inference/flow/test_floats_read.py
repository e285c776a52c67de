# SPDX-License-Identifier: Apache-2.0
"""The values whose floating-point elements decide shapes; the fixtures have more of them."""

from __future__ import annotations

import pytest

from onnx_lint.inference.flow.function_walk import FunctionWalk
from onnx_lint.model import Model

from ...support.models.model_samples import from_text

HEAD = 'opset_import { domain: "" version: 21 } opset_import { domain: "d" version: 1 } '


def _value(name: str, code: int, *sizes: int) -> str:
    dims = "".join(f"dim {{ dim_value: {size} }}" for size in sizes)
    return f'input {{ name: "{name}" type {{ tensor_type {{ elem_type: {code} shape {{ {dims} }} }} }} }}'


def _numbers(name: str, *numbers: float) -> str:
    return f'initializer {{ name: "{name}" data_type: 1 dims: {len(numbers)} float_data: {list(numbers)} }}'


def _ratio(name: str, ratio: float) -> str:
    return f'initializer {{ name: "{name}" data_type: 1 float_data: {ratio} }}'


def _branch(name: str, output: str, content: str) -> str:
    return f"""attribute {{ name: "{name}" type: GRAPH g {{ name: "{name}" {content}
        node {{ op_type: "Dropout" input: "x" input: "r" output: "{output}" }}
        output {{ name: "{output}" }} }} }}"""


@pytest.mark.parametrize(("outer", "inner"), [(0.5, -0.5), (-0.5, 0.5)])
def test_a_name_of_the_subgraph_takes_precedence(outer: float, inner: float):
    model = from_text(
        HEAD
        + f"""graph {{ name: "g" {_value("c", 9)} {_value("x", 1, 2)} {_ratio("r", outer)}
        node {{ op_type: "If" input: "c" output: "y"
            {_branch("then_branch", "a", "")} {_branch("else_branch", "b", _ratio("r", inner))} }} }}"""
    )
    found = [conflict.node.outputs for conflict in model.value_flow.shapes]
    assert found == [("a",) if outer < 0 else ("b",)]


def _readers_of_few(rest: str) -> Model:
    """A model in which floating-point elements decide whether one Dropout is possible, and nothing else."""
    return from_text(
        HEAD
        + f"""functions {{ domain: "d" name: "Sum" input: "a" input: "b" output: "c"
        opset_import {{ domain: "" version: 21 }}
        node {{ op_type: "Add" input: "a" input: "b" output: "c" }} }}
        graph {{ name: "g" {_value("x", 1, 2)} {_ratio("r", 0.5)}
        {_numbers("v", 1.0, 2.0)} {_numbers("w", 3.0, 4.0)}
        node {{ op_type: "Dropout" input: "x" input: "r" output: "y" }} {rest} }}"""
    )


def test_elements_that_nothing_reads_are_not_followed():
    model = _readers_of_few("")
    facts = model.value_flow.facts
    assert [facts[name].content for name in ("r", "v", "w")] == [(0.5,), None, None]


def test_calls_that_differ_only_in_elements_that_nothing_reads_share_one_walk(monkeypatch: pytest.MonkeyPatch):
    walked: list[object] = []
    body = FunctionWalk._body

    def counted(self: FunctionWalk, *arguments: object) -> object:
        walked.append(arguments)
        return body(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(FunctionWalk, "_body", counted)
    calls = [f'node {{ domain: "d" op_type: "Sum" input: "x" input: "{name}" output: "{name}_" }}' for name in "vw"]
    facts = _readers_of_few(" ".join(calls)).value_flow.facts
    assert facts["v_"].shape == facts["w_"].shape == (2,)
    assert len(walked) == 1


def test_constants_that_nothing_reads_share_what_follows_from_them():
    """Beside a Dropout, whose ratio counts; each Constant would be followed by itself, which takes twice the time."""
    constants = " ".join(
        f"""node {{ op_type: "Constant" output: "{name}" attribute {{ name: "value" type: TENSOR
        t {{ data_type: 1 dims: 2 float_data: {index} float_data: 1 }} }} }}"""
        for index, name in enumerate("vwu")
    )
    ratio = """node { op_type: "Constant" output: "s" attribute { name: "value" type: TENSOR
        t { data_type: 1 float_data: 0.5 } } } node { op_type: "Dropout" input: "x" input: "s" output: "z" }"""
    flow = from_text(f'{HEAD} graph {{ name: "g" {_value("x", 1, 2)} {constants} {ratio} }}').value_flow
    assert [flow.facts[name].content for name in "vwus"] == [None, None, None, (0.5,)]
    memos = flow.walks.first[0].memos
    shared = {id(memo) for form, memo in memos.items() if form.op_type == "Constant"}
    assert len(shared) == 2
