# SPDX-License-Identifier: Apache-2.0
"""Values that calls and defaults bring into functions: where they come from, and what many of them cost."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

from onnx_lint import schema
from onnx_lint.engine.rule_runs import lint_model
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.operators import bound_nodes
from onnx_lint.loader import load
from onnx_lint.model import Model

HEAD = """
ir_version: 10
opset_import { domain: "" version: 21 }
opset_import { domain: "f" version: 1 }
"""


def _model(text: str) -> Model:
    proto = text_format.Parse(HEAD + text, schema.message("ModelProto")())
    return load(BytesSource(proto.SerializeToString()), "model.onnx")


def _related(text: str) -> list[tuple[str, str]]:
    settings = Settings()
    report = lint_model(_model(text), settings)
    found = [each for each in report.diagnostics if each.rule == "unsupported-attribute-value"]
    return [(str(related.place), related.message) for each in found for related in each.related]


GELU = """functions { name: "F" domain: "f" input: "a" output: "b" opset_import { domain: "" version: 21 } %s
  node { name: "n" op_type: "Gelu" input: "a" output: "b"
         attribute { name: "approximate" ref_attr_name: "kind" type: STRING } } }"""


def test_the_attribute_of_the_call_is_related():
    call = 'graph { node { op_type: "F" domain: "f" name: "c" %s } }'
    given = 'attribute { name: "kind" s: "erf" type: STRING }'
    assert _related(call % given + GELU % 'attribute: "kind"') == [
        ("graph.node[0].attribute[0]", "given by node 'c' (f::F) as attribute 'kind'")
    ]


def test_the_default_and_the_call_that_takes_it_are_related():
    default = 'attribute_proto { name: "kind" s: "erf" type: STRING }'
    assert _related('graph { node { op_type: "F" domain: "f" name: "c" } }' + GELU % default) == [
        ("functions[0].attribute_proto[0]", "given as the default of parameter 'kind'"),
        ("graph.node[0]", "called by node 'c' (f::F)"),
    ]


def test_the_default_of_a_function_that_nothing_calls_is_related():
    default = 'attribute_proto { name: "kind" s: "erf" type: STRING }'
    assert _related(GELU % default) == [("functions[0].attribute_proto[0]", "given as the default of parameter 'kind'")]


def test_a_value_that_is_handed_on_is_related_where_it_is_given():
    inner = """functions { name: "G" domain: "f" input: "a" output: "b" attribute: "mode"
      opset_import { domain: "f" version: 1 }
      node { op_type: "F" domain: "f" input: "a" output: "b"
             attribute { name: "kind" ref_attr_name: "mode" type: STRING } } }"""
    call = """graph { node { op_type: "G" domain: "f" name: "c"
                             attribute { name: "mode" s: "erf" type: STRING } } }"""
    assert _related(call + inner + GELU % 'attribute: "kind"') == [
        ("graph.node[0].attribute[0]", "given by node 'c' (f::G) as attribute 'mode'")
    ]


def test_equal_values_are_judged_once():
    calls = 'node { op_type: "F" domain: "f" attribute { name: "kind" s: "erf" type: STRING } doc_string: "%d" }'
    model = _model("graph {" + "".join(calls % number for number in range(50)) + "}" + GELU % 'attribute: "kind"')
    assert len(model.bound_nodes) == 1


def _doubling(depth: int) -> str:
    """Functions that each call the next one twice, with another value for one more parameter each time."""
    names = [f"p{number}" for number in range(depth)]
    text = ""
    for level in range(depth):
        handed = "".join(f'attribute {{ name: "{name}" ref_attr_name: "{name}" type: INT }}' for name in names[:level])
        call = f'node {{ op_type: "F{level + 1}" domain: "f" {handed}'
        calls = "".join(f'{call} attribute {{ name: "p{level}" i: {value} type: INT }} }}' for value in (0, 1))
        declared = "".join(f'attribute: "{name}" ' for name in names[:level])
        text += f'functions {{ name: "F{level}" domain: "f" {declared} {calls} }}'
    casts = "".join(
        f'node {{ op_type: "Cast" attribute {{ name: "to" ref_attr_name: "{name}" type: INT }} }}' for name in names
    )
    declared = "".join(f'attribute: "{name}" ' for name in names)
    opset = 'opset_import { domain: "" version: 21 }'
    return text + f'functions {{ name: "F{depth}" domain: "f" {declared} {opset} {casts} }}'


def test_each_value_is_judged_however_many_ways_lead_to_it():
    model = _model('graph { node { op_type: "F0" domain: "f" } }' + _doubling(6))
    assert len(model.bound_nodes) == 6 * 2


def test_the_number_of_tuples_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bound_nodes, "MAX_REPEATED", 1_000)
    model = _model('graph { node { op_type: "F0" domain: "f" } }' + _doubling(25))
    assert model.bound_nodes


def test_functions_that_call_one_another_end():
    text = """functions { name: "F" domain: "f" attribute: "a" opset_import { domain: "f" version: 1 }
      node { op_type: "G" domain: "f" attribute { name: "b" ref_attr_name: "a" type: INT } } }
    functions { name: "G" domain: "f" attribute: "b" opset_import { domain: "" version: 21 }
      node { op_type: "F" domain: "f" attribute { name: "a" ref_attr_name: "b" type: INT } }
      node { op_type: "Cast" attribute { name: "to" ref_attr_name: "b" type: INT } } }"""
    call = 'graph { node { op_type: "F" domain: "f" attribute { name: "a" i: 99 type: INT } } }'
    assert [bound.bound.attributes[0].i for bound in _model(call + text).bound_nodes] == [99]
