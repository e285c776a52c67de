# SPDX-License-Identifier: Apache-2.0
"""Operators that put a border around a tensor, or move blocks of it between channels and space."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import SIZE_LIMIT, Dim, Dims, add, multiply
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, NumberSource, Overflow
from onnx_lint.inference.shapes.registration import shapes_of


@shapes_of("Pad")
def pad_by_attributes(node: Operands) -> Outputs:
    """Infer Pad up to version 10, whose attribute `pads` (version 1: `paddings`) has two numbers for each axis."""
    shape = node.shape(0)
    name = "paddings" if node.version == 1 else "pads"
    pads = node.integers(name)
    if shape is None or pads is None:
        return UNKNOWN
    return _padded(node, shape, pads, tuple(range(len(shape))), name, 0)


@shapes_of("Pad:11", reads=(1, 3))
def pad_by_inputs(node: Operands) -> Outputs:
    """Infer Pad from version 11 on, whose pads are an input. From version 18 on the axes may be one as well."""
    shape, pads, listed = node.shape(0), node.integers_in(1), node.integers_in(3)
    node.scalar(2)
    if shape is None:
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
    return _padded(node, shape, pads, axes, 1, 3 if node.given(3) else 0)


def _padded(
    node: Operands, shape: Dims, pads: Dims, axes: tuple[int, ...], source: NumberSource, by: NumberSource
) -> Outputs:
    """Return the output of Pad: each size plus the pads before and after it, of which some may be negative."""
    count = len(axes)
    if not node.has_count(source, len(pads), 2 * count, by):
        return UNKNOWN
    found = list(shape)
    for index, axis in enumerate(axes):
        before, behind = pads[index], pads[index + count]
        border = add(before, behind)
        size: Dim = add(shape[axis], border)
        if isinstance(border, int) and border >= SIZE_LIMIT:
            node.problems.append(Overflow(0, axis))  # whatever the size of the input is
            return UNKNOWN
        if isinstance(size, int) and size < 0:
            place = index if isinstance(before, int) and before < 0 else index + count
            reason = f"axis {axis} has only {shape[axis]} elements"
            node.wrong_value(source, pads[place], reason, place, allowed="pads that leave a size of at least 0")
            return UNKNOWN
        found[axis] = size
    return [tuple(found)]


@shapes_of("DepthToSpace")
def depth_to_space(node: Operands) -> Outputs:
    """Infer DepthToSpace: channels become blocks of height and width."""
    block = node.integer("blocksize")
    shape = node.shape(0, 4)
    if shape is None or not _is_block(node, block):
        return UNKNOWN
    batch, _, height, width = shape
    depth = _quotient(node, 1, multiply(block, block))
    return [(batch, depth, multiply(height, block), multiply(width, block))]


@shapes_of("SpaceToDepth")
def space_to_depth(node: Operands) -> Outputs:
    """Infer SpaceToDepth: blocks of height and width become channels."""
    block = node.integer("blocksize")
    shape = node.shape(0, 4)
    if shape is None or not _is_block(node, block):
        return UNKNOWN
    batch, channels, _, _ = shape
    return [(batch, multiply(channels, multiply(block, block)), _quotient(node, 2, block), _quotient(node, 3, block))]


def _is_block(node: Operands, block: int | None) -> bool:
    """Return whether the block size is given and positive."""
    return block is not None and node.at_least(1, (block,), "blocksize")


def _quotient(node: Operands, axis: int, divisor: Dim) -> Dim:
    """Return a dimension of the input divided by `divisor`. Record a problem if it is not a multiple."""
    return node.quotient((0, axis), divisor, Element("blocksize", node.integer("blocksize")))
