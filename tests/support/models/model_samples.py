# SPDX-License-Identifier: Apache-2.0
"""Models that the tests of the model have in common."""

from __future__ import annotations

from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model


def loaded(data: bytes) -> Model:
    return load(BytesSource(data), "model.onnx")


def from_text(text: str) -> Model:
    return load(BytesSource(f"ir_version: 10 {text}".encode()), "model.textproto")


GRAPHS = """
graph {
  name: "main"
  node { name: "abs" op_type: "Abs" input: "x" output: "a" }
  node { name: "if" op_type: "If" input: "c" output: "b"
    attribute { name: "then_branch" type: GRAPH g { name: "then"
      node { op_type: "Loop" output: "t" attribute { name: "body" type: GRAPH g { name: "body"
        node { op_type: "Add" input: "a" input: "w" output: "deep" } } } } } }
    attribute { name: "else_branch" type: GRAPH g { name: "else" initializer { name: "e" } } } }
  node { name: "relu" op_type: "Relu" input: "b" output: "y" output: "" }
  initializer { name: "w" } sparse_initializer { values { name: "s" } }
  input { name: "x" } input { name: "c" } input { name: "w" } output { name: "y" }
}
functions { name: "F" domain: "f" input: "u" output: "v" attribute_proto { name: "d" type: GRAPH g { name: "default" } }
  node { op_type: "If" output: "v" attribute { name: "then_branch" type: GRAPH g { name: "in function" } } } }
training_info { initialization { name: "start" } algorithm { name: "step"
  node { op_type: "Sub" input: "y" input: "w" output: "loss" } } }
"""
