# SPDX-License-Identifier: Apache-2.0
"""Models that conform, for tests to start from."""

from __future__ import annotations

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.schema import Proto

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
TWICE = CLEAN.replace("  input {", '  node { name: "abs" op_type: "Abs" input: "x" output: "y" }\n  input {')
"""A model with two nodes that define one value."""


def binary(text: str) -> bytes:
    """Return a model in text form as bytes."""
    return bytes(load(BytesSource(text.encode())).proto.SerializeToString())


def clean_proto(op_type: str = "Relu", *, size: int = 2, location: str | None = None) -> Proto:
    """Return a model of one node that takes `x` to `y`. `location`: of the file of a second operand `w`."""
    model = schema.message("ModelProto")(ir_version=10, producer_name="a test", producer_version="1")
    model.opset_import.add(version=21)
    model.graph.name = "graph"
    model.graph.node.add(op_type=op_type, name="n", input=["x"], output=["y"])
    for values, name in ((model.graph.input, "x"), (model.graph.output, "y")):
        tensor = values.add(name=name).type.tensor_type
        tensor.elem_type = 1
        tensor.shape.dim.add(dim_value=size)
    if location is not None:
        model.graph.node[0].input.append("w")
        weight = model.graph.initializer.add(name="w", data_type=1, dims=[size], data_location=1)
        weight.external_data.add(key="location", value=location)
    return model
