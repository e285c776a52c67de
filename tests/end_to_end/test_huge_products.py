# SPDX-License-Identifier: Apache-2.0
"""Products of dimensions with more digits than Python writes: a number in a finding that no file can have."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

from onnx_lint import lint, schema

DIMS = " ".join(["dims: 9223372036854775807"] * 1_000)
"""The product has 19,000 digits."""

ENSEMBLE = f"""node {{ domain: "ai.onnx.ml" op_type: "TreeEnsemble" input: "x" output: "y"
    attribute {{ name: "nodes_splits" type: TENSOR t {{ data_type: 1 {DIMS} }} }}
    attribute {{ name: "leaf_weights" type: TENSOR t {{ data_type: 1 dims: 1 float_data: 1 }} }}
    attribute {{ name: "nodes_featureids" type: INTS ints: [0, 0] }}
    attribute {{ name: "nodes_modes" type: TENSOR t {{ data_type: 2 {DIMS} }} }}
    attribute {{ name: "nodes_truenodeids" type: INTS ints: 0 }}
    attribute {{ name: "nodes_falsenodeids" type: INTS ints: 0 }}
    attribute {{ name: "nodes_trueleafs" type: INTS ints: 1 }}
    attribute {{ name: "nodes_falseleafs" type: INTS ints: 1 }}
    attribute {{ name: "leaf_targetids" type: INTS ints: 0 }}
    attribute {{ name: "tree_roots" type: INTS ints: 0 }} }}"""
SPARSE = f"""sparse_initializer {{ {DIMS} values {{ name: "s" data_type: 1 dims: 2 float_data: [1, 2] }}
    indices {{ data_type: 7 dims: 2 int64_data: [-1, 3] }} }}"""


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (ENSEMBLE, "impossible-attribute-value"),
        (ENSEMBLE.replace("dims: 1 float_data: 1", "dims: 4294967296 dims: 4294967296"), "invalid-tensor-shape"),
        (SPARSE, "sparse-index-out-of-range"),
    ],
    ids=["splits", "leaves", "sparse"],
)
def test_a_product_of_very_many_digits_costs_no_finding(content: str, rule: str):
    text = f"""ir_version: 10 opset_import {{ version: 21 }} opset_import {{ domain: "ai.onnx.ml" version: 5 }}
        graph {{ name: "g" {content} }}"""
    proto = text_format.Parse(text, schema.message("ModelProto")(), descriptor_pool=schema.pool())
    (file,) = lint(proto.SerializeToString()).files
    assert file.internal_errors == ()
    assert rule in {each.rule for each in file.diagnostics}
