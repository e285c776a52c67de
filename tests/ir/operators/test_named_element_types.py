# SPDX-License-Identifier: Apache-2.0
"""The element types that integer attributes name."""

from __future__ import annotations

import pytest
from support.models.model_samples import from_text

from onnx_lint.ir.operators.named_element_types import named_element_types

TEXT = """
opset_import {{ domain: "" version: {version} }}
graph {{
  name: "g"
  node {{ name: "a" op_type: "Cast" input: "x" output: "y" attribute {{ name: "to" type: INT i: 17 }} }}
  node {{ name: "b" op_type: "Cast" input: "x" output: "z" attribute {{ name: "saturate" type: INT i: 17 }} }}
  node {{ name: "c" op_type: "F" domain: "d" input: "x" output: "u" attribute {{ name: "kind" type: INT i: 22 }} }}
  node {{ name: "e" op_type: "F" domain: "d" input: "x" output: "v" }}
}}
functions {{
  name: "F" domain: "d" input: "p" output: "q" attribute_proto {{ name: "kind" type: INT i: 23 }}
  node {{
    name: "f" op_type: "Cast" input: "p" output: "q"
    attribute {{ name: "to" type: INT ref_attr_name: "kind" }}
  }}
  opset_import {{ domain: "" version: {version} }}
}}
"""


@pytest.mark.parametrize("version", [19, 25])
def test_attributes_of_nodes_calls_and_defaults_name_element_types(version: int):
    model = from_text(TEXT.format(version=version))
    found = {
        each.number: (str(each.place), each.describe())
        for each in named_element_types(model.operators, model.bound_nodes, {17, 22, 23})
    }
    assert found == {
        17: ("graph.node[0].attribute[0]", "attribute 'to' of node 'a' (Cast)"),
        22: (
            "graph.node[2].attribute[0]",
            "attribute 'to' of node 'f' (Cast), given by node 'c' (d::F) as attribute 'kind'",
        ),
        23: (
            "functions[0].attribute_proto[0]",
            "attribute 'to' of node 'f' (Cast), given as the default of parameter 'kind'",
        ),
    }


def test_other_element_types_are_not_looked_for():
    model = from_text(TEXT.format(version=19))
    assert list(named_element_types(model.operators, model.bound_nodes, {16})) == []
