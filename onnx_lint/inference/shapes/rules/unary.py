# SPDX-License-Identifier: Apache-2.0
"""Operators whose output has the shape of the first input."""

from __future__ import annotations

from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, Warned, WrongValue
from onnx_lint.inference.shapes.registration import register_rule


@register_rule(
    "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitCast", "BitwiseNot", "Cast", "CastLike",
    "Ceil", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "IsInf", "IsNaN",
    "LeakyRelu", "Log", "Mish", "Neg", "Not", "RandomNormalLike", "RandomUniformLike",
    "Reciprocal", "RegexFullMatch", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus",
    "Softsign", "Sqrt", "Swish", "Tan", "Tanh", "ThresholdedRelu",
)  # fmt: skip
def as_first(node: Operands) -> Outputs:
    """Return the shape of the first input."""
    return [node.shape(0)]


@register_rule("Bernoulli", reads=(0,))
def bernoulli(node: Operands) -> Outputs:
    """Return the shape of the input, whose elements are probabilities."""
    numbers = enumerate(node.content(0) or ())
    wrong = [each for each in numbers if isinstance(each[1], int | float) and not 0 <= each[1] <= 1]
    if wrong:
        (place, number), *others = wrong
        fault = Element(0, number, place, tuple(others))
        problem = WrongValue(fault, "a probability is from 0 to 1", "0 to 1", is_without_shapes=True)
        node.warnings.append(Warned(problem))
    return [node.shape(0)]


@register_rule("Identity")
def identity(node: Operands) -> Outputs:
    """Return the first input, which may be a sequence or an optional."""
    return [node.shape_in(0)]


@register_rule("Clip")
def clip(node: Operands) -> Outputs:
    """Return the shape of the input. The bounds are scalars."""
    node.scalar(1)
    node.scalar(2)
    return [node.shape(0)]


@register_rule("Dropout", reads=(1,))
def dropout(node: Operands) -> Outputs:
    """Infer the output and the mask. Ratio and training mode are scalars."""
    ratio = node.scalar(1)
    if isinstance(ratio, float) and not 0 <= ratio < 1:
        allowed = "at least 0 and below 1"
        fault = Element(1, ratio, 0)
        node.problems.append(WrongValue(fault, f"the ratio must be {allowed}", allowed, is_without_shapes=True))
    node.scalar(2)
    return [node.shape(0), node.shape(0)]


@register_rule("LpNormalization")
def lp_normalization(node: Operands) -> Outputs:
    """Return the shape of the input. Record an axis that it does not have."""
    shape = node.shape(0)
    if shape is not None:
        node.axis(node.integer("axis", -1), len(shape), "axis")
    return [shape]


@register_rule("Hardmax", "LogSoftmax", "Softmax")
def softmax(node: Operands) -> Outputs:
    """Return the shape of the input. Record an axis that it does not have."""
    shape = node.shape(0, at_least=1)
    if shape is None:
        return UNKNOWN
    node.axis(node.integer("axis", -1), len(shape), "axis")
    return [shape]
