# SPDX-License-Identifier: Apache-2.0
"""Operators that put a border around a tensor, or move blocks of it between channels and space."""

from __future__ import annotations

from collections.abc import Mapping

from onnx_lint.inference.shapes.dims import SIZE_LIMIT, Dim, Dims, add, multiply
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, NumberSource, Overflow, Warned, WrongValue
from onnx_lint.inference.shapes.registration import register_rule
from onnx_lint.wording import counted


@register_rule("Pad")
def pad_by_attributes(node: Operands) -> Outputs:
    """Infer Pad up to version 10, whose attribute `pads` (version 1: `paddings`) has two numbers for each axis."""
    shape = node.shape(0)
    name = "paddings" if node.version == 1 else "pads"
    pads = node.integers(name)
    if shape is None or pads is None:
        return UNKNOWN
    return _padded(node, shape, pads, tuple(range(len(shape))), source=name, by=0)


@register_rule("Pad:11", reads=(1, 3))
def pad_by_inputs(node: Operands) -> Outputs:
    """Infer Pad from version 11 on, whose pads are an input. From version 18 on the axes may be one as well."""
    shape, pads, listed = node.shape(0), node.integers_in(1), node.integers_in(3)
    node.scalar(2)
    if shape is None:
        if pads is not None and listed is not None:
            node.has_count(1, len(pads), 2 * len(listed), 3)
        elif not node.given(3) and len(node.fact(1).shape or ()) == 1:
            node.quotient((1, 0), 2)
        return UNKNOWN
    axes: tuple[int, ...] | None = tuple(range(len(shape)))
    if node.given(3):
        if listed is None:
            return [(None,) * len(shape)]
        if pads is not None:
            node.has_count(1, len(pads), 2 * len(listed), 3)
        axes = node.axes(listed, len(shape), 3)
    if pads is None or axes is None or node.problems:
        return UNKNOWN if node.problems else [(None,) * len(shape)]
    return _padded(node, shape, pads, axes, source=1, by=3 if node.given(3) else 0)


def _padded(
    node: Operands, shape: Dims, pads: Dims, axes: tuple[int, ...], *, source: NumberSource, by: NumberSource
) -> Outputs:
    """Return the output of Pad: each size plus the pads before and after it, of which some may be negative."""
    count = len(axes)
    if not node.has_count(source, len(pads), 2 * count, by):
        return UNKNOWN
    found = list(shape)
    for index, axis in enumerate(axes):
        before, after = pads[index], pads[index + count]
        border = add(before, after)
        size: Dim = add(shape[axis], border)
        if isinstance(border, int) and border >= SIZE_LIMIT:
            node.problems.append(Overflow(0, axis))  # whatever the size of the input is
            return UNKNOWN
        if isinstance(size, int) and size < 0:
            place = index if isinstance(before, int) and before < 0 else index + count
            reason = f"axis {axis} has only {shape[axis]} elements"
            allowed = "pads that leave a size of at least 0"
            node.wrong_value(source, pads[place], reason, index=place, allowed=allowed, about_data=True)
            return UNKNOWN
        if node.text("mode", "constant") == "reflect":
            _compare_mirrored(node, source, {index: before, index + count: after}, axis, shape[axis])
        found[axis] = size
    return [tuple(found)]


def _compare_mirrored(node: Operands, source: NumberSource, pads: Mapping[int, Dim], axis: int, size: Dim) -> None:
    """Warn of a pad, by its index, that is wider than a mirror: the first and last element are not mirrored.

    ONNX Runtime refuses it from 1.32 on; releases before read elements beyond the axis. A negative pad removes elements
    before the mirror.
    """
    if not isinstance(size, int) or not size:
        return
    kept = size + sum([pad for pad in pads.values() if isinstance(pad, int) and pad < 0])
    most = max(kept - 1, 0)
    for index, pad in pads.items():
        if isinstance(pad, int) and pad > most:
            what = f"axis {axis}" if kept == size else f"the {counted(kept, 'element')} that are left of axis {axis}"
            reason = f"a mirror of {what} has {counted(most, 'element')}"
            node.warnings.append(Warned(WrongValue(Element(source, pad, index), reason, f"at most {most}", True)))
            return


@register_rule("DepthToSpace", "SpaceToDepth")
def move_blocks(node: Operands) -> Outputs:
    """Infer the shape in which channels become blocks of height and width, or blocks become channels."""
    shape, block = node.shape(0, 4), node.integer("blocksize")
    if shape is None or block is None or not node.at_least(1, (block,), "blocksize"):
        return UNKNOWN
    batch, channels, height, width = shape
    by = Element("blocksize", block)
    if node.operator == "DepthToSpace":
        depth = node.quotient((0, 1), block * block, by)
        return [(batch, depth, multiply(height, block), multiply(width, block))]
    rows, columns = node.quotient((0, 2), block, by), node.quotient((0, 3), block, by)
    return [(batch, multiply(channels, block * block), rows, columns)]
