# SPDX-License-Identifier: Apache-2.0
"""Nodes of ONNX Runtime's operators in one line each, with sizes at random: `CDist metric='cosine': f n h, f p h -> 1`.

The line has attributes, inputs with the element type (a letter of KINDS) and the sizes, or constants behind =, and the
number of outputs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

KINDS = {
    "f": TensorProto.FLOAT,
    "h": TensorProto.FLOAT16,
    "e": TensorProto.FLOAT8E4M3FN,
    "u": TensorProto.UINT8,
    "c": TensorProto.INT8,
    "B": TensorProto.BOOL,
    "i": TensorProto.INT32,
    "I": TensorProto.INT64,
    "s": TensorProto.STRING,
}
"""The element types. Integers of 32 and 64 bits are constants: zeros."""

Inputs = list[tuple[str, list[int]] | None]


def drawn_node(
    form: str, dice: random.Random, names: Mapping[str, Any] = {}
) -> tuple[str, dict[str, Any], Inputs, int]:
    """Return a node of the form with sizes at random: operator, attributes, inputs and the number of outputs.

    `names`: what else the form may name.
    """
    node, inputs, outputs = re.split(":|->", form)
    sizes = {name: dice.randint(1, 3) for name in "bnpg"} | {"s": dice.randint(2, 5), "i": dice.randint(2, 6)}
    sizes |= {"h": 16, "v": 8 * dice.randint(1, 3)}

    def value(text: str) -> Any:
        return eval(text, {**names}, sizes)

    operator, *attributes = node.split()
    given = {}
    for each in attributes:
        name, _, text = each.partition("=")
        found = value(text)
        given[name] = list(found) if isinstance(found, tuple) else found
    drawn: Inputs = []
    for each in re.split(", ", inputs.strip()):
        kind, *dims = each.split()
        if kind.startswith("="):
            text = kind[1:]
            many, _, count = text.rpartition(")*")
            numbers = [value(many + ")")] * value(count) if many else value(text)
            drawn.append(("=", [int(number) for number in np.atleast_1d(numbers)]))
        else:
            drawn.append(None if kind == "-" else (kind, [value(dim) for dim in dims]))
    return operator, given, drawn, int(outputs)


def one_node(operator: str, attributes: dict[str, Any], inputs: Inputs, outputs: int) -> onnx.ModelProto:
    """Return a model with the node."""
    names = ["" if each is None else f"x{index}" for index, each in enumerate(inputs)]
    while not names[-1]:
        names.pop()
    values, constants = [], []
    for name, each in zip(names, inputs, strict=False):
        if each is None:
            continue
        kind, dims = each
        if kind == "=":
            constants.append(numpy_helper.from_array(np.array(dims, np.int32), name))
        elif kind in "iI":
            constants.append(numpy_helper.from_array(np.zeros(dims, np.int32 if kind == "i" else np.int64), name))
        else:
            values.append(helper.make_tensor_value_info(name, KINDS[kind], dims))
    made = helper.make_node(operator, names, [f"y{at}" for at in range(outputs)], domain="com.microsoft", **attributes)
    graph = helper.make_graph([made], "g", values, [onnx.ValueInfoProto(name=each) for each in made.output], constants)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)
