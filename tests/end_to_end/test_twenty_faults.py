# SPDX-License-Identifier: Apache-2.0
"""One run reports everything that is wrong with a model: twenty different faults are twenty findings."""

from __future__ import annotations

from pathlib import Path

from onnx_lint import lint

MODEL = """
ir_version: 8
producer_name: "test"
opset_import { domain: "" version: 17 }
opset_import { domain: "com.example" version: 1 }
metadata_props { key: "author" value: "a" }
metadata_props { key: "author" value: "b" }
graph {
  name: "graph"
  node { name: "first" op_type: "Relu" input: "late" output: "a" }
  node { name: "second" op_type: "Relu" input: "x" output: "late" }
  node { name: "second" op_type: "Neg" input: "nowhere" output: "b" }
  node { name: "twice" op_type: "Abs" input: "x" output: "a" }
  node { name: "nameless" input: "x" output: "c" }
  node { name: "silent" op_type: "Exp" input: "x" }
  node { name: "unknown" op_type: "Swirl" input: "x" output: "d" }
  node { name: "foreign" op_type: "Thing" domain: "org.other" input: "x" output: "e" }
  node {
    name: "attributes" op_type: "LeakyRelu" input: "x" output: "f"
    attribute { name: "alpha" type: FLOAT ref_attr_name: "slope" }
  }
  node { name: "untyped" op_type: "Elu" input: "x" output: "h" attribute { name: "alpha" f: 1 } }
  node { name: "arguments" op_type: "Twice" domain: "com.example" input: "x" input: "x" output: "i" }
  node {
    name: "branches" op_type: "If" input: "condition" output: "y"
    attribute { name: "then_branch" type: GRAPH g {
      name: "then"
      node { op_type: "Relu" input: "x" output: "late" }
      node { op_type: "Relu" input: "late" output: "then_out" }
      output { name: "then_out" }
    } }
    attribute { name: "else_branch" type: GRAPH g {
      node { op_type: "Neg" input: "x" output: "else_out" }
      output { name: "else_out" }
    } }
  }
  initializer { name: "scale" dims: 3 data_type: 1 float_data: [1, 2] }
  initializer { name: "brain" dims: 1 data_type: 9 int32_data: 5 }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: -2 } } } } }
  input { name: "condition" type { tensor_type { elem_type: 9 shape { } } } }
  output { name: "y" type { tensor_type { elem_type: 1 } } }
  value_info { name: "d" type { tensor_type { elem_type: 18 shape { dim { dim_value: 2 } } } } }
}
functions {
  name: "Twice" domain: "com.example" input: "u" output: "v"
  opset_import { domain: "" version: 17 }
  node { op_type: "Add" input: "u" input: "u" output: "w" }
}
"""

FAULTS = {
    ("unordered-nodes", "graph.node[0].input[0]"),
    ("undefined-name", "graph.node[2].input[0]"),
    ("duplicate-node-name", "graph.node[2].name"),
    ("duplicate-definition", "graph.node[3].output[0]"),
    ("missing-op-type", "graph.node[4].op_type"),
    ("node-without-outputs", "graph.node[5]"),
    ("unknown-operator", "graph.node[6].op_type"),
    ("missing-opset-import", "graph.node[7].domain"),
    ("misplaced-attribute-reference", "graph.node[8].attribute[0].ref_attr_name"),
    ("untyped-attribute", "graph.node[9].attribute[0]"),
    ("function-call-arity", "graph.node[10].input[1]"),
    ("shadowed-name", "graph.node[11].attribute[0].g.node[0].output[0]"),
    ("missing-graph-name", "graph.node[11].attribute[1].g"),
    ("tensor-size-mismatch", "graph.initializer[0].float_data"),
    ("out-of-range-element", "graph.initializer[1].int32_data[0]"),
    ("negative-dimension", "graph.input[0].type.tensor_type.shape.dim[0].dim_value"),
    ("shapeless-graph-value", "graph.output[0].type.tensor_type"),
    ("premature-feature", "graph.value_info[0].type.tensor_type.elem_type"),
    ("undefined-name", "functions[0].output[0]"),
    ("duplicate-metadata-key", "metadata_props[1].key"),
}
"""Rule and place of each fault; 'graph.value_info[0]' is float8e5m2, which came with IR version 9."""


def test_twenty_faults_are_twenty_findings(tmp_path: Path):
    path = tmp_path / "model.textproto"
    path.write_text(MODEL, encoding="utf-8")
    [report] = lint(path).files
    assert not report.unreadable
    assert not report.internal_errors
    found = [(diagnostic.rule, str(diagnostic.place)) for diagnostic in report.diagnostics]
    assert len(FAULTS) == 20
    assert sorted(found) == sorted(FAULTS)
