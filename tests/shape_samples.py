# SPDX-License-Identifier: Apache-2.0
"""Nodes and facts that the tests of shapes have in common."""

from __future__ import annotations

from onnx_lint.model.shapes.fact import ABSENT, fact
from onnx_lint.model.shapes.operands import Operands
from onnx_lint.spec.operators import OperatorSchemas

SCHEMAS = OperatorSchemas()


def node(operator, *shapes, version=25, outputs=1, **attributes):
    """The operands of a node whose inputs have these shapes."""
    schema = SCHEMAS.find("", operator, version)
    facts = tuple(ABSENT if shape is ... else fact("tensor(float)", shape) for shape in shapes)
    return Operands(schema, attributes, facts, outputs)
