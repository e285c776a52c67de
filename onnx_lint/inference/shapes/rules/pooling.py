# SPDX-License-Identifier: Apache-2.0
"""Operators that reduce the numbers in a window, or all of a channel, to one."""

from __future__ import annotations

import math

from onnx_lint.inference.shapes.dims import Dims, product
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, Warned, WrongValue
from onnx_lint.inference.shapes.registration import register_rule
from onnx_lint.inference.shapes.rules.windows import Window, check_attributes, output_sizes, transposed_size, window_of
from onnx_lint.wording import describe_shape


@register_rule("AveragePool", "LpPool", "MaxPool")
def pool(node: Operands) -> Outputs:
    """Infer the places of a window over the spatial axes. MaxPool also returns the indices."""
    shape = node.shape(0, at_least=3)
    if shape is None:
        check_attributes(node)
        return UNKNOWN
    window = window_of(node, len(shape) - 2, None)
    if window is None:
        return UNKNOWN
    _compare_pads(node, window)
    sizes = output_sizes(node, shape[2:], window, rounds_up=node.integer("ceil_mode", 0) == 1)
    return UNKNOWN if sizes is None else [shape[:2] + sizes] * 2


def _compare_pads(node: Operands, window: Window) -> None:
    """Warn of a padding as wide as the kernel, with which ONNX Runtime creates no session: no text forbids it."""
    pads = (*window.padding_before, *window.padding_after) if window.auto_pad == "NOTSET" else ()
    for index, pad in enumerate(pads):
        size = window.kernel[index % len(window.kernel)]
        if isinstance(size, int) and pad >= size:
            reason = f"ONNX Runtime refuses a padding that is not narrower than the kernel of {size}"
            node.warnings.append(Warned(WrongValue(Element("pads", pad, index), reason, f"less than {size}")))
            return


@register_rule("GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool")
def global_pool(node: Operands) -> Outputs:
    """Infer the shape in which each spatial axis becomes 1."""
    shape = node.shape(0, at_least=2)
    return UNKNOWN if shape is None else [shape[:2] + (1,) * (len(shape) - 2)]


@register_rule("MaxUnpool", reads=(1, 2))
def unpool(node: Operands) -> Outputs:
    """The input of the MaxPool that makes values and indices of these shapes; the third input may
    select one of several.
    """
    shape = node.shape(0, at_least=3)
    if shape is None:
        check_attributes(node)
        return UNKNOWN
    indices = node.shape(1, len(shape), like=0)
    if indices is not None:
        shape = tuple([node.equal((0, axis), (1, axis)) for axis in range(len(shape))])
    window = window_of(node, len(shape) - 2, None)
    if node.given(2):
        stated = node.integers_in(2)
        if stated is None:
            return [(None,) * len(shape)]
        are_right = node.has_count(2, len(stated), len(shape), 0) and node.at_least(0, stated, 2)
        return _filled(node, stated) if are_right else UNKNOWN
    if window is None:
        return UNKNOWN
    sizes = [transposed_size(node, axis, size, window) for axis, size in enumerate(shape[2:])]
    return _filled(node, (*shape[:2], *sizes))


def _filled(node: Operands, shape: Dims) -> Outputs:
    """Return the output of MaxUnpool; record an index that is not one of its elements, counted row by row."""
    count = product(shape)
    end = count if isinstance(count, int) else math.inf
    indices = enumerate(node.content(1) or ())
    wrong = [(place, index) for place, index in indices if isinstance(index, int) and not 0 <= index < end]
    if not wrong:
        return [shape]
    place, index = wrong[0]
    allowed = f"0 to {count - 1}" if isinstance(count, int) else "at least 0"
    has = f"has {count} elements, which" if isinstance(count, int) else "has elements that"
    reason = f"the output {describe_shape(shape)} {has} are counted from 0"
    node.wrong_value(1, index, reason, index=place, allowed=allowed)
    node.also_wrong(1, wrong[1:])
    return UNKNOWN
