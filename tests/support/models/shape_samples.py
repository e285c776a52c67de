# SPDX-License-Identifier: Apache-2.0
"""Nodes and facts that the tests of shapes have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping

from onnx_lint.inference.shapes.fact import ABSENT, fact
from onnx_lint.inference.shapes.operands import Operands
from onnx_lint.spec.operators import OperatorSchemas

SCHEMAS = OperatorSchemas()


def node(operator, *shapes, version=25, outputs=1, **attributes):
    """The operands of a node whose inputs have these shapes."""
    schema = SCHEMAS.find("", operator, version)
    facts = tuple(ABSENT if shape is ... else fact("tensor(float)", shape) for shape in shapes)
    return Operands(schema, attributes, facts, outputs)


def size_of(dim: int | str, sizes: Mapping[str, int]) -> int | None:
    """Return the size of a dimension with these values of its variables; None if it has another variable."""
    if isinstance(dim, int):
        return dim
    names = sorted(map(re.escape, sizes), key=len, reverse=True)
    text = re.sub("|".join(names) or "$", lambda found: str(sizes.get(found[0], "")), dim)
    return int(eval(text, {"min": min, "max": max})) if re.fullmatch(r"(?:[-+*/(), \d]|min|max)+", text) else None
