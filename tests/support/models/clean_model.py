# SPDX-License-Identifier: Apache-2.0
"""A model in text form that conforms, for tests to start from."""

from __future__ import annotations

CLEAN = """
ir_version: 10
producer_name: "a test"
opset_import { domain: "" version: 21 }
graph {
  name: "graph"
  node { name: "relu" op_type: "Relu" input: "x" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
}
"""
