# SPDX-License-Identifier: Apache-2.0
"""Sequences and optionals: the shape of their content is followed, and the number of elements of a sequence.

Positions in a sequence are not distinguished: the facts about its elements hold for all of them.
"""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import (
    Dim,
    Dims,
    Shape,
    add,
    are_sizes,
    divide_down,
    is_natural,
    multiply,
    subtract,
    union,
)
from onnx_lint.inference.shapes.operands import UNKNOWN, Inside, Operands, Outputs, held
from onnx_lint.inference.shapes.registration import shapes_of

# --- optionals


@shapes_of("Optional", reads=(0,))
def optional(node: Operands) -> Outputs:
    """Holds the input; without an input it is empty, with the type in the attribute."""
    if node.given(0):
        return [Inside(node.held(0))]
    kind = node.tensor("type")
    return [Inside(held(kind))] if kind is not None else UNKNOWN


@shapes_of("OptionalGetElement", reads=(0,))
def optional_element(node: Operands) -> Outputs:
    """The content of the optional; from version 18 on the input may itself be a tensor or a sequence."""
    kind = node.fact(0).kind
    if kind is None:
        return UNKNOWN
    return [node.inside(0) if kind.startswith("optional(") else node.held(0)]


@shapes_of("OptionalHasElement")
def has_element(node: Operands) -> Outputs:
    """A truth value."""
    return [()]


# --- sequences


@shapes_of("SequenceEmpty")
def empty(node: Operands) -> Outputs:
    """A sequence without elements; the shapes of later elements are unknown."""
    return [Inside(None, 0)]


@shapes_of("SequenceConstruct")
def construct(node: Operands) -> Outputs:
    """A sequence of the inputs."""
    found: Shape = node.shape(0)
    for index in range(1, node.count):
        found = union(found, node.shape(index))
    return [Inside(found, node.count)]


def _position(node: Operands, index: int, *, may_be_behind: bool = False) -> None:
    """Check the position of an element, a scalar, against the number of elements if both are known."""
    position, count = node.scalar(index), node.element_count(0)
    if not isinstance(count, int):
        return
    if not isinstance(position, int):
        # For any position, and for an omitted one.
        if not count and not may_be_behind:
            node.wrong_value(0, "empty", "it has no element to take", allowed="a sequence with elements")
        return
    greatest = count if may_be_behind else count - 1
    if not -count <= position <= greatest:
        allowed = f"{-count} to {greatest}" if -count <= greatest else "a sequence with elements"
        node.wrong_value(index, position, f"the sequence has {count} elements", 0, allowed=allowed)


@shapes_of("SequenceInsert", reads=(0, 2))
def insert(node: Operands) -> Outputs:
    """One element more; the position is a scalar."""
    _position(node, 2, may_be_behind=True)
    inside, count = node.inside(0), node.element_count(0)
    if count == 0:
        return [Inside(node.shape(1), 1)]
    return [Inside(None if isinstance(inside, Inside) else union(inside, node.shape(1)), add(count, 1))]


@shapes_of("SequenceErase", reads=(0, 1))
def erase(node: Operands) -> Outputs:
    """One element less; the position is a scalar."""
    _position(node, 1)
    count = subtract(node.element_count(0), 1)
    return [Inside(node.inside(0), count if is_natural(count) else None)]


@shapes_of("SequenceAt", reads=(0, 1))
def element(node: Operands) -> Outputs:
    """An element; the position is a scalar."""
    _position(node, 1)
    return [node.inside(0)]


@shapes_of("SequenceLength")
def length(node: Operands) -> Outputs:
    """A number."""
    return [()]


@shapes_of("ConcatFromSequence", reads=(0,))
def concat(node: Operands) -> Outputs:
    """The elements concatenated along an axis, which is a new one with `new_axis`."""
    is_new = node.integer("new_axis", 0)
    if is_new not in (0, 1):
        node.wrong_value("new_axis", is_new, "it may be 0 or 1", allowed="0 or 1")
    inside = node.inside(0)
    if not isinstance(inside, tuple):
        return UNKNOWN
    axis = node.axis(node.integer("axis"), len(inside) + is_new, "axis")
    if axis is None:
        return UNKNOWN
    count = node.element_count(0)
    size = count if is_new else multiply(count, inside[axis])
    return [(*inside[:axis], size, *inside[axis + 1 - is_new :])]


@shapes_of("SplitToSequence", reads=(1,))
def split(node: Operands) -> Outputs:
    """Parts of one size (only the last may be smaller), or of the sizes in a list whose sum is the dimension."""
    data = node.shape(0, at_least=1)
    shape = node.shape(1, at_most=1)
    if data is None:
        return UNKNOWN
    axis = node.axis(node.integer("axis", 0), len(data), "axis")
    if axis is None:
        return UNKNOWN
    if not node.given(1):
        keeps = node.integer("keepdims", 1) != 0
        return [Inside((*data[:axis], *((1,) if keeps else ()), *data[axis + 1 :]), data[axis])]
    part = _part(node, data, axis) if shape is not None else None
    return [Inside((*data[:axis], part, *data[axis + 1 :]), _part_count(node, data[axis]))]


def _part_count(node: Operands, size: Dim) -> Dim:
    """Return the number of parts: one for each size of a list, or as many of one size as are needed."""
    shape, parts = node.shape(1), node.content(1)
    if shape is not None and len(shape) == 1:
        return shape[0]
    each = parts[0] if parts else None
    return divide_down(add(size, each - 1), each) if isinstance(each, int) and each > 0 else None


def _part(node: Operands, data: Dims, axis: int) -> Dim:
    """Return the size of the parts along the axis, if all are equal; record what is wrong."""
    parts = node.content(1)
    if not are_sizes(parts):
        return None
    size = data[axis]
    if node.shape(1) == ():
        # The description requires positive numbers in one place and allows 0 in another. Parts of size 0 cannot add up.
        if not node.at_least(1, parts, 1):
            return None
        return parts[0] if isinstance(size, int) and size % parts[0] == 0 else None
    if not node.at_least(0, parts, 1):
        return None
    if isinstance(size, int) and sum(parts) != size:
        reason = f"dimension {axis} of input 0 is {size}, but the sum is {sum(parts)}"
        node.wrong_value(1, parts, reason, allowed=f"sizes with the sum {size}")
    return parts[0] if len(set(parts)) == 1 else None
