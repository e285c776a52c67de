# SPDX-License-Identifier: Apache-2.0
"""Operators that broadcast their inputs to one shape as in NumPy; their older versions do so on demand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onnx_lint.inference.shapes.dims import Dims, Shape
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, Warned, WrongValue
from onnx_lint.inference.shapes.registration import register_rule, register_since

_ON_DEMAND = ("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor")
"""Binary operators that broadcast only with the attribute `broadcast` before version 7."""

BROADCASTING: Final[Mapping[str, int]] = {
    **dict.fromkeys(("BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "GreaterOrEqual", "LessOrEqual", "Mod"), 1),
    **dict.fromkeys(("StringConcat", "Where"), 1),
    **dict.fromkeys(_ON_DEMAND, 7),
    **dict.fromkeys(("Max", "Mean", "Min", "Sum"), 8),
}
"""Operators that broadcast all inputs to one shape, each with the first version that does."""

_DIVIDING = ("Div", "Mod")


@register_since({name: first for name, first in BROADCASTING.items() if name not in _DIVIDING})
def broadcast_all(node: Operands) -> Outputs:
    """Infer the one shape to which all inputs broadcast."""
    return [node.broadcast([fact.shape for fact in node.facts], range(node.count))]


@register_since({name: BROADCASTING[name] for name in _DIVIDING}, reads=(1,))
def divide_all(node: Operands) -> Outputs:
    """Infer the one shape to which both inputs broadcast.

    A constant integer divisor of 0 is recorded as a warning, since the specification does not forbid it.
    """
    if node.fact(1).kind in _INTEGERS:
        zeros = [at for at, each in enumerate(node.content(1) or ()) if each == 0]
        if zeros:
            first, *others = zeros
            divisor = Element(source=1, value=0, index=first, others=tuple([(at, 0) for at in others]))
            problem = WrongValue(divisor, "a division by it has no result", "not 0")
            node.warnings.append(Warned(problem))
    return broadcast_all(node)


_INTEGERS = frozenset(f"tensor({sign}int{bits})" for sign in ("", "u") for bits in (8, 16, 32, 64))
"""The element types whose division by 0 has no result."""


@register_rule("Max", "Mean", "Min", "Sum")
def equal_shapes(node: Operands) -> Outputs:
    """Infer the one shape that all inputs have before version 8."""
    # Each input is compared with the first one of known rank.
    reference = next((index for index in range(node.count) if node.fact(index).shape is not None), 0)
    expected = node.shape(reference)
    if expected is None:
        return UNKNOWN
    for index in range(reference + 1, node.count):
        shape = node.shape(index, len(expected), like=reference)
        for axis in range(len(shape or ())):
            node.equal((reference, axis), (index, axis))
    return [expected]


@register_rule(*_ON_DEMAND)
def broadcast_on_demand(node: Operands) -> Outputs:
    """Infer the shape of input 0, before version 7.

    Input 1 has the same shape, or with `broadcast` a part of it: the dimensions from `axis` on, or else the last ones.
    """
    if not node.integer("broadcast", 0):
        return equal_shapes(node)
    one = node.shape(0)
    if one is None:
        return UNKNOWN
    other = node.shape(1, at_most=len(one), like=0)
    if other is None:
        return [one]
    begin = node.axis(node.integer("axis"), len(one), "axis") if node.has("axis") else len(one) - len(other)
    if begin is None:
        return [one]
    if begin + len(other) > len(one):
        node.wrong_rank(1, 0, len(one) - begin, "axis")
        return [one]
    for at, size in enumerate(other):
        # A size of 1 is stretched, as the description's "(1, 1)" is.
        if size != 1:
            node.equal((0, begin + at), (1, at))
    return [one]


@register_rule("PRelu", "PRelu:7")
def prelu(node: Operands) -> Outputs:
    """Return the shape of the input. From version 7 on, check that the slope is broadcast to it.

    Before version 7 the description requires no shape of the slope. It only says that one element is shared by all
    channels.
    """
    data, slope = node.shape(0), node.shape(1)
    if data is None or slope is None:
        return [data]
    if node.version >= 7:
        check_unidirectional_broadcast(node, data, slope)
    return [data]


def check_unidirectional_broadcast(node: Operands, data: Shape, other: Dims, index: int = 1) -> None:
    """Record an input that cannot be broadcast to the shape of the first input, `data`.

    If `data` is unknown, its dimensions are kept as those of the input.
    """
    if data is not None and len(other) > len(data):
        node.wrong_rank(index, 0, len(data), like=0)
        return
    for axis in range(-1, -len(other) - 1, -1):
        # A variable may be 1, which is broadcast.
        if isinstance(other[axis], int) and other[axis] != 1:
            node.equal((0, axis), (index, axis))
