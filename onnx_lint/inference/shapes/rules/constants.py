# SPDX-License-Identifier: Apache-2.0
"""Operators that make tensors only from attributes and numbers."""

from __future__ import annotations

import math

from onnx_lint.inference.shapes.dims import add, at_least, divide_down, subtract
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, Warned, WrongValue
from onnx_lint.inference.shapes.registration import register_rule


@register_rule("Constant")
def constant(node: Operands) -> Outputs:
    """Return the shape of the value: that of a tensor, a scalar, or a list."""
    for name in ("value", "sparse_value"):
        tensor = node.tensor(name)
        if tensor is not None:
            return [tensor.shape]
    if any(node.has(name) for name in ("value_int", "value_float", "value_string")):
        return [()]
    for name in ("value_ints", "value_floats", "value_strings"):
        if node.has(name):
            return [(node.length(name),)]
    return UNKNOWN


@register_rule("ConstantOfShape", reads=(0,))
def constant_of_shape(node: Operands) -> Outputs:
    """Return the shape in the input."""
    target = node.integers_in(0)
    if target is None or not node.at_least(0, target, 0):
        return UNKNOWN
    return [target]


@register_rule("Range", reads=(0, 1, 2))
def number_range(node: Operands) -> Outputs:
    """Infer the number of elements from `start` to before `limit` in steps of `delta`, 1 without it."""
    start, limit, delta = node.scalar(0), node.scalar(1), node.scalar(2) if node.given(2) else 1
    if delta == 0:
        node.wrong_value(2, delta, "a step must not be 0", index=0, allowed="a number other than 0")
        return UNKNOWN
    if isinstance(start, int) and isinstance(limit, int) and isinstance(delta, int):
        return [(max(-((start - limit) // delta), 0),)]
    # Counting up to a dimension in steps of 1 has that many steps.
    if isinstance(delta, int) and delta > 0 and not isinstance(start, float) and not isinstance(limit, float):
        between = at_least(subtract(limit, start), 0)
        return [(divide_down(add(between, delta - 1), delta),)]
    numbers = [each for each in (start, limit, delta) if isinstance(each, int | float) and math.isfinite(each)]
    if len(numbers) == len(_BOUNDS):
        count = (numbers[1] - numbers[0]) / numbers[2]
        return [(max(math.ceil(count), 0) if math.isfinite(count) else None,)]
    return [(None,)]


_BOUNDS = ("start", "limit", "delta")


@register_rule("RandomNormal", "RandomUniform")
def random_numbers(node: Operands) -> Outputs:
    """Return the shape in the attribute."""
    shape = node.integers("shape")
    return [shape] if shape is not None and node.at_least(0, shape, "shape") else UNKNOWN


@register_rule("Multinomial")
def multinomial(node: Operands) -> Outputs:
    """Infer a number of samples for each row of the input."""
    shape = node.shape(0, 2)
    size = node.integer("sample_size", 1)
    if not size:  # ONNX does not forbid it, but ONNX Runtime fails at such a node
        node.warnings.append(Warned(WrongValue(Element("sample_size", size, None), "", "at least 1")))
    return [(shape[0] if shape is not None else None, size if size >= 0 else None)]
