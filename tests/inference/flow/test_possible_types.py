# SPDX-License-Identifier: Apache-2.0
"""The kinds of values whose element type is unknown: optionals and sequences of what a custom operator makes."""

from __future__ import annotations

import pytest
from google.protobuf import text_format
from support.project.each_case import each_case

from onnx_lint import lint, schema
from onnx_lint.inference.flow.type_sets import pattern_of
from onnx_lint.inference.types.type_string import fits_after_optional

CUSTOM = 'node { op_type: "Make" domain: "com.example" output: "h" }'


def node(op_type: str, inputs: str, outputs: str, attributes: str = "", domain: str = "") -> str:
    operands = " ".join(
        [*(f'input: "{name}"' for name in inputs.split()), *(f'output: "{o}"' for o in outputs.split())]
    )
    return f'node {{ op_type: "{op_type}" domain: "{domain}" {operands} {attributes} }}'


def branch(name: str, *content: str, output: str, inputs: str = "") -> str:
    listed = " ".join(f'input {{ name: "{each}" }}' for each in inputs.split())
    inner = " ".join(content)
    graph = (
        f'g {{ name: "{name}" {inner} {listed} {" ".join(f"""output {{ name: "{o}" }}""" for o in output.split())} }}'
    )
    return f'attribute {{ name: "{name}" type: GRAPH {graph} }}'


def found(*nodes: str, functions: str = "", value_info: str = "") -> list[tuple[str, str]]:
    text = f"""ir_version: 10 producer_name: "p" opset_import {{ version: 21 }}
    opset_import {{ domain: "com.example" version: 1 }} opset_import {{ domain: "ai.onnx.ml" version: 3 }}
    graph {{ name: "g" {CUSTOM} {" ".join(nodes)} {value_info} }} {functions}"""
    model = text_format.Parse(text, schema.message("ModelProto")())
    report = lint(model.SerializeToString())
    assert report.files[0].internal_errors == ()
    return [(item.rule, item.place) for item in report.diagnostics if item.severity.label == "error"]


OPTIONAL = node("Optional", "h", "p")
SEQUENCE = node("SequenceConstruct", "h h", "p")
CASES: dict[str, tuple[list[str], list[tuple[str, str]]]] = {
    "an optional for a tensor": (
        [OPTIONAL, node("Neg", "p", "q")],
        [("unconverted-optional", "graph.node[2].input[0]")],
    ),
    "the content of an optional": ([OPTIONAL, node("OptionalGetElement", "p", "e"), node("Neg", "e", "q")], []),
    "a sequence for a tensor": (
        [SEQUENCE, node("Neg", "p", "q")],
        [("mismatched-operand-type", "graph.node[2].input[0]")],
    ),
    "an element of a sequence": (
        [SEQUENCE, node("Constant", "", "i", 'attribute { name: "value_int" type: INT i: 0 }'),
         node("SequenceAt", "p i", "e"), node("Neg", "e", "q")],
        [],
    ),
    "the length of a tensor": (
        [node("Neg", "h", "p"), node("SequenceLength", "p", "q")],
        [("mismatched-operand-type", "graph.node[2].input[0]")],
    ),
    "the length of anything": ([node("SequenceLength", "h", "q")], []),
    "through an Identity": (
        [SEQUENCE, node("Identity", "p", "r"), node("Neg", "r", "q")],
        [("mismatched-operand-type", "graph.node[3].input[0]")],
    ),
    "one finding for one fault": (
        [SEQUENCE, node("Neg", "p", "q"), node("SequenceLength", "q", "r")],
        [("mismatched-operand-type", "graph.node[2].input[0]")],
    ),
    "a map of a tensor": (
        [node("Neg", "h", "p"), node("DictVectorizer", "p", "q",
         'attribute { name: "int64_vocabulary" type: INTS ints: 1 }', "ai.onnx.ml")],
        [("mismatched-operand-type", "graph.node[2].input[0]")],
    ),
    "branches of two kinds": (
        [node("SequenceLength", "h", "l"),
         node("If", "c", "q", branch("then_branch", node("Optional", "h", "a"), output="a")
              + branch("else_branch", node("Neg", "h", "b"), output="b")),
         node("Make", "", "c", domain="com.example")],
        [("mismatched-subgraph-type", "graph.node[2].attribute[1].g.output[0]")],
    ),
    "an outer value in a branch": (
        [SEQUENCE, node("Make", "", "c", domain="com.example"),
         node("If", "c", "q", branch("then_branch", node("Neg", "p", "a"), output="a")
              + branch("else_branch", node("Neg", "h", "b"), output="b"))],
        [("mismatched-operand-type", "graph.node[3].attribute[0].g.node[0].input[0]")],
    ),
    "a carried value of another kind": (
        [SEQUENCE, node("Make", "", "m c", domain="com.example"),
         node("Loop", "m c p", "q", branch("body", node("Identity", "k", "o"), node("Neg", "h", "s"),
              output="o s", inputs="i k t"))],
        [("mismatched-subgraph-type", "graph.node[3].attribute[0].g.output[1]")],
    ),
    "a carried optional that becomes its content": (
        [OPTIONAL, node("Make", "", "m c", domain="com.example"),
         node("Loop", "m c p", "q", branch("body", node("Identity", "k", "o"), node("Neg", "h", "s"),
              output="o s", inputs="i k t"))],
        [],
    ),
    "an element in the body of a SequenceMap": (
        [SEQUENCE, node("SequenceMap", "p", "q",
              branch("body", node("SequenceLength", "e", "o"), output="o", inputs="e"))],
        [("mismatched-operand-type", "graph.node[2].attribute[0].g.node[0].input[0]")],
    ),
}  # fmt: skip


@each_case("case", CASES)
def test_uses_of_values_of_unknown_type(case: str):
    nodes, expected = CASES[case]
    assert [each for each in found(*nodes) if each[0] != "unordered-nodes"] == expected


FUNCTION = """functions { name: "F" domain: "com.example" input: "x" output: "y" opset_import { version: 21 }
opset_import { domain: "com.example" version: 1 } %s }"""


def test_a_function_that_nothing_calls():
    wrong = FUNCTION % (node("Optional", "x", "p") + node("Neg", "p", "y"))
    right = FUNCTION % (node("Optional", "x", "p") + node("OptionalGetElement", "p", "e") + node("Neg", "e", "y"))
    assert found(functions=wrong) == [("unconverted-optional", "functions[0].node[1].input[0]")]
    assert found(functions=right) == []


@pytest.mark.parametrize("calls", [1, 2])
def test_what_a_call_returns_and_is_given(calls: int):
    returns = FUNCTION % node("Optional", "x", "y")
    takes = FUNCTION % node("Neg", "x", "y")
    call = [node("F", "h", f"p{index}", domain="com.example") for index in range(calls)]
    last = calls - 1
    used = found(*call, node("Neg", f"p{last}", "q"), functions=returns)
    assert used == [("unconverted-optional", f"graph.node[{calls + 1}].input[0]")]
    given = found(OPTIONAL, node("F", "p", "q", domain="com.example"), functions=takes)
    assert given == [("unconverted-optional", "functions[0].node[0].input[0]")]


def test_a_declaration_of_another_kind():
    declared = 'value_info { name: "q" type { tensor_type { elem_type: 1 } } }'
    nodes = SEQUENCE, node("Identity", "p", "q")
    assert found(*nodes, value_info=declared) == [("contradictory-declared-type", "graph.value_info[0]")]
    of_sequence = 'value_info { name: "q" type { sequence_type { elem_type { tensor_type { elem_type: 1 } } } } }'
    assert found(*nodes, value_info=of_sequence) == []


def test_a_call_of_itself_and_a_long_chain_of_calls_end():
    chain = "".join(
        FUNCTION.replace('"F"', f'"F{index}"') % node(f"F{index + 1}", "x", "y", domain="com.example")
        for index in range(300)
    )
    last = FUNCTION.replace('"F"', '"F300"') % node("Optional", "x", "y")
    calls = node("F0", "h", "a", domain="com.example"), node("F0", "h", "b", domain="com.example")
    assert found(*calls, node("Neg", "b", "q"), functions=chain + last) == []


def test_types_in_words():
    assert pattern_of(frozenset({"tensor(float)"})) == "tensor(float)"
    assert pattern_of(frozenset({"tensor(float)", "tensor(int8)"})) == "tensor(?)"
    assert pattern_of(frozenset({"seq(tensor(float))", "seq(tensor(int8))"})) == "seq(tensor(?))"
    assert pattern_of(frozenset({"optional(tensor(int8))", "optional(seq(tensor(int8)))"})) == "optional(?)"
    assert pattern_of(frozenset({"tensor(float)", "seq(tensor(int8))"})) == "seq(tensor(int8)) or tensor(float)"
    assert fits_after_optional("optional(?)", frozenset({"tensor(float)"}))
    assert fits_after_optional("tensor(?)", frozenset({"optional(tensor(float))"}))
    assert not fits_after_optional("seq(tensor(?))", frozenset({"tensor(float)"}))
