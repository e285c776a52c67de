# SPDX-License-Identifier: Apache-2.0
"""Sequences and optionals: the shape of their content is followed, and the number of elements.

The elements of a short sequence of known length are told apart. For others the facts hold for all elements, and the
shapes of tensors that were inserted are known.
"""

from __future__ import annotations

from itertools import combinations

from onnx_lint.common.record import replace
from onnx_lint.common.salted import salted_key
from onnx_lint.inference.shapes.dims import (
    Dim,
    Dims,
    add,
    agree,
    are_sizes,
    divide_down,
    is_natural,
    multiply,
    subtract,
    total,
    union,
)
from onnx_lint.inference.shapes.fact import MAX_CONTENT_ELEMENTS, ElementContents
from onnx_lint.inference.shapes.operands import (
    MAX_LISTED,
    UNKNOWN,
    Inside,
    Operands,
    Outputs,
    kept_parts,
    sequence_of,
    shape_in,
    whole_of,
)
from onnx_lint.inference.shapes.problem import EMPTY, Element, Warned, WrongValue
from onnx_lint.inference.shapes.registration import register_rule
from onnx_lint.wording import describe_shape

# --- optionals


@register_rule("Optional", reads=(0,))
def optional(node: Operands) -> Outputs:
    """Return the shape of the input. Without an input, the optional is empty, with the type in the attribute."""
    if node.given(0):
        content = node.content(0) if node.fact(0).inside is None else None
        return [Inside(node.shape_in(0), 1, parts=kept_parts((content,)))]
    kind = node.tensor("type")
    return [Inside(shape_in(kind) if kind is not None else None, 0)]


@register_rule("OptionalGetElement", reads=(0,))
def optional_element(node: Operands) -> Outputs:
    """Return the content of the optional. From version 18 on the input may itself be a tensor or a sequence."""
    kind = node.fact(0).kind
    if kind is None:
        return UNKNOWN
    if not kind.startswith("optional("):
        return [node.shape_in(0)]
    if node.element_count(0) == 0:
        node.wrong_value(0, EMPTY, "the optional has no element", allowed="an optional with an element")
    return [node.inside(0)]


# --- sequences


@register_rule("SequenceEmpty")
def empty(node: Operands) -> Outputs:
    """Return a sequence without elements; the shapes of later elements are unknown."""
    return [Inside(None, 0)]


@register_rule("SequenceConstruct", reads=tuple(range(MAX_LISTED)))
def construct(node: Operands) -> Outputs:
    """Return a sequence of the inputs."""
    indices = range(node.count)
    return [sequence_of(tuple([node.shape(index) for index in indices]), tuple(map(node.content, indices)))]


def _position(node: Operands, index: int, *, may_be_behind: bool = False) -> int | None:
    """Return the position of an element, a scalar, from 0 on, by default the last; None if it is unknown.

    If it is not one of the sequence, record that.
    """
    position, count = node.scalar(index), node.element_count(0)
    if not isinstance(count, int):
        return None
    if not isinstance(position, int):
        # For any position, and for an omitted one.
        if not count and not may_be_behind:
            node.wrong_value(0, EMPTY, "it has no element to take", allowed="a sequence with elements")
        return None if node.given(index) else count - (not may_be_behind)
    greatest = count if may_be_behind else count - 1
    if not -count <= position <= greatest:
        allowed = f"{-count} to {greatest}" if -count <= greatest else "a sequence with elements"
        node.wrong_value(index, position, f"the sequence has {count} elements", index=0, allowed=allowed)
        return None
    return position + count if position < 0 else position


@register_rule("SequenceInsert", reads=(0, 1, 2))
def insert(node: Operands) -> Outputs:
    """Return the sequence with one element more. The position is a scalar."""
    position = _position(node, 2, may_be_behind=True)
    inside, count, elements = node.inside(0), node.element_count(0), node.elements(0)
    if elements is not None and position is not None:
        parts = node.parts(0)
        parts = (*parts[:position], node.content(1), *parts[position:])
        return [sequence_of((*elements[:position], node.shape(1), *elements[position:]), parts)]
    if count == 0:
        return [Inside(node.shape(1), 1)]
    shape = node.shape(1)
    whole = None if isinstance(inside, Inside) else union(inside, shape)
    # Each shape once, in order.
    known = () if isinstance(count, int) or shape is None else (*node.fact(0).elements, shape)
    some = tuple({salted_key((each,)): each for each in known}.values())
    return [Inside(whole, add(count, 1), some[-MAX_LISTED:] if any(each != whole for each in some) else ())]


@register_rule("SequenceErase", reads=(0, 1))
def erase(node: Operands) -> Outputs:
    """Return the sequence with one element less. The position is a scalar."""
    position, elements = _position(node, 1), node.elements(0)
    if elements is not None and position is not None:
        parts = node.parts(0)
        parts = (*parts[:position], *parts[position + 1 :])
        return [sequence_of((*elements[:position], *elements[position + 1 :]), parts)]
    count = subtract(node.element_count(0), 1)
    return [Inside(node.inside(0), count if is_natural(count) else None)]


@register_rule("SequenceAt", reads=(0, 1))
def element(node: Operands) -> Outputs:
    """Return the element at a position, which is a scalar."""
    position, elements = _position(node, 1), node.elements(0)
    return [node.inside(0) if elements is None or position is None else elements[position]]


@register_rule("OptionalHasElement", "SequenceLength")
def number(node: Operands) -> Outputs:
    """Return the shape of a scalar: a truth value, or a number."""
    return [()]


@register_rule("ConcatFromSequence", reads=(0,))
def concat(node: Operands) -> Outputs:
    """Infer the elements concatenated along an axis, which is a new one with `new_axis`."""
    is_new = node.integer("new_axis", 0)
    if is_new not in (0, 1):
        node.wrong_value("new_axis", is_new, "it may be 0 or 1", allowed="0 or 1")
    if node.element_count(0) == 0:
        node.wrong_value(0, EMPTY, "it has no element to concatenate", allowed="a sequence with elements")
    inside = node.inside(0)
    if not _are_concatenated(node, None if is_new else node.integer("axis", 0)) or not isinstance(inside, tuple):
        return UNKNOWN
    axis = node.axis(node.integer("axis"), len(inside) + is_new, "axis")
    if axis is None:
        return UNKNOWN
    size = node.element_count(0) if is_new else _concatenated_size(node, axis, inside[axis])
    return [(*inside[:axis], size, *inside[axis + 1 - is_new :])]


def _are_concatenated(node: Operands, axis: int | None) -> bool:
    """Return whether the elements may have one shape but for `axis`; record two that have not.

    An empty element that differs is recorded as a warning: ONNX Runtime leaves it out, unless the axis is a new one.
    """
    known = [(index, shape) for index, shape in enumerate(node.elements(0) or ()) if shape is not None]
    pairs = [pair for pair in combinations(known, 2) if not _can_be_joined(pair[0][1], pair[1][1], axis)]
    if not pairs:
        return True
    full = [(one, other) for one, other in pairs if axis is None or not _is_empty_beside(one[1], other[1])]
    (at, first), (index, shape) = (full or pairs)[0]
    elements = f"elements {at} and {index}" if isinstance(node.element_count(0), int) else "two elements"
    reason = f"{elements} are {describe_shape(first)} and {describe_shape(shape)}"
    allowed = "elements of one shape, but for the axis to concatenate on"
    if full:
        node.wrong_value(0, "of unequal elements", reason, allowed=allowed)
        return False
    problem = WrongValue(Element(0, "of unequal elements"), reason, allowed)
    node.warnings.append(Warned(problem, "; ONNX Runtime leaves out an empty element"))
    return True


def _is_empty_beside(one: Dims, other: Dims) -> bool:
    """Return whether one of two elements of one rank is empty."""
    return len(one) == len(other) and (0 in one or 0 in other)


def _concatenated_size(node: Operands, axis: int, size: Dim) -> Dim:
    """Return the sum of the sizes of the elements along the axis; `size` is the one that all have."""
    count, elements, whole = node.element_count(0), node.elements(0) or (), whole_of(node.fact(0))
    known = [shape for shape in elements if shape is not None]
    if len(known) == len(elements) == count:
        return total([shape[axis] for shape in known])
    return whole[1] if whole is not None and whole[0] == axis else multiply(count, size)


def _can_be_joined(one: Dims, other: Dims, axis: int | None) -> bool:
    """Return whether two elements may have the same dimensions but for `axis`, which is another finding if it is
    wrong.
    """
    if len(one) != len(other) or (axis is not None and not -len(one) <= axis < len(one)):
        return len(one) == len(other)
    at = axis + len(one) if axis is not None and axis < 0 else axis
    return all(place == at or agree(*pair) for place, pair in enumerate(zip(one, other, strict=True)))


@register_rule("SplitToSequence", reads=(0, 1))
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
        found = Inside((*data[:axis], *((1,) if keeps else ()), *data[axis + 1 :]), data[axis])
        return [replace(found, parts=_parts(node, axis, 1, data[axis]))]
    part = _part(node, data, axis) if shape is not None else None
    sizes = _sizes(node, data[axis]) if part is None and not node.problems else None
    if sizes is not None:
        shapes = tuple([(*data[:axis], size, *data[axis + 1 :]) for size in sizes])
        return [sequence_of(shapes, _parts(node, axis, sizes, len(sizes)))]
    count = _part_count(node, data[axis])
    whole = (axis, data[axis]) if data[axis] is not None else None
    found = Inside((*data[:axis], part, *data[axis + 1 :]), count, whole=whole)
    return [replace(found, parts=_parts(node, axis, part, count))]


def _parts(node: Operands, axis: int, part: Dim | tuple[int, ...], count: Dim) -> ElementContents:
    """Return the elements of each part of a tensor whose elements are known."""
    content, sizes = node.content(0), node.fact(0).shape
    if content is None or not are_sizes(sizes) or not isinstance(count, int) or count > MAX_LISTED or part is None:
        return ()
    from onnx_lint.inference.shapes.computed_elements import parts_along

    lengths = part if isinstance(part, tuple) else (part,) * count
    return kept_parts(tuple(parts_along(content, sizes, axis, lengths))) if are_sizes(lengths) else ()


def _sizes(node: Operands, size: Dim) -> tuple[int, ...] | None:
    """Return the sizes of the parts, if they are known and not all equal."""
    parts = node.content(1)
    if not are_sizes(parts) or node.shape(1) != ():
        return parts if are_sizes(parts) else None
    if not isinstance(size, int) or size > MAX_CONTENT_ELEMENTS:
        return None
    return (*[parts[0]] * (size // parts[0]), size % parts[0])


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
        node.wrong_value(1, parts, reason, allowed=f"sizes with the sum {size}", about_data=True)
    node.narrow((0, axis), size, sum(parts))
    return parts[0] if parts and parts.count(parts[0]) == len(parts) else None
