# SPDX-License-Identifier: Apache-2.0
"""Computes the elements of the outputs of operators that are rarer in computations of shapes than those of `contents`.

A node gets here after its shape rule has accepted it: ranks and labels are valid. The functions check axes themselves.
The module is imported when the elements of an operand are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import product
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.shapes import dims
from onnx_lint.inference.shapes.dims import Dim, Dims
from onnx_lint.inference.shapes.element_values import (
    FORMATS,
    MAX_COMPUTED,
    ContentFunction,
    ContentsFunction,
    ElementValue,
    joined,
    multiplied,
    sizes_of,
    stretched,
    taken,
    whole_numbers,
)
from onnx_lint.inference.shapes.fact import Content
from onnx_lint.inference.shapes.operands import Operands

FUNCTIONS: Final[dict[str, ContentsFunction]] = {}
"""For each operator the function that returns the contents of its outputs."""

_MAX_FACTORS: Final = 64
"""The most numbers that are reduced to one; a longer list is not a shape."""


def _content_of(*operators: str) -> Callable[[ContentFunction], ContentFunction]:
    """Return a decorator that declares the content of the first output of operators."""

    def declare(function: ContentFunction) -> ContentFunction:
        for name in operators:
            FUNCTIONS[name] = lambda node, shapes: (function(node, shapes[0]),)
        return function

    return declare


def _contents_of(operator: str) -> Callable[[ContentsFunction], ContentsFunction]:
    """Return a decorator that declares the contents of all outputs of an operator."""

    def declare(function: ContentsFunction) -> ContentsFunction:
        FUNCTIONS[operator] = function
        return function

    return declare


def _axis(node: Operands, sizes: Sequence[int], otherwise: int = 0) -> int | None:
    """Return the attribute `axis` as an axis of a tensor of these sizes; None if it has no such axis."""
    axis = node.integer("axis", otherwise)
    return axis % len(sizes) if -len(sizes) <= axis < len(sizes) else None


def _rows(sizes: Sequence[int], axis: int) -> list[list[int]]:
    """Return the places of the elements of each row along an axis of a tensor, in the order of the other axes."""
    if 0 in sizes:
        return []
    step = math.prod(sizes[axis + 1 :])
    begins = range(0, math.prod(sizes), step * sizes[axis])
    return [[begin + at + step * index for index in range(sizes[axis])] for begin in begins for at in range(step)]


# --- parts


def parts_along(
    content: tuple[ElementValue, ...], sizes: Sequence[int], axis: int, lengths: Iterable[int]
) -> list[Content]:
    """Return the elements of the parts of a tensor, which have these lengths along an axis."""
    found: list[Content] = []
    begin = 0
    for length in lengths:
        chosen = [range(begin, begin + length) if at == axis else range(size) for at, size in enumerate(sizes)]
        found.append(taken(content, sizes, enumerate(chosen)))
        begin += length
    return found


@_contents_of("Split")
def _split(node: Operands, shapes: Sequence[Dims]) -> Sequence[Content]:
    content, sizes = node.content(0), sizes_of(node)
    axis = _axis(node, sizes) if sizes else None
    if content is None or not sizes or axis is None:
        return ()
    lengths = tuple([shape[axis] for shape in shapes])
    return parts_along(content, sizes, axis, lengths) if dims.are_sizes(lengths) and sum(lengths) == sizes[axis] else ()


@_content_of("GatherElements")
def _gather_elements(node: Operands, shape: Dims) -> Content:
    content, indices, sizes, places = node.content(0), node.content(1), sizes_of(node), sizes_of(node, 1)
    axis = _axis(node, sizes) if sizes else None
    if content is None or not sizes or not places or axis is None or not dims.are_sizes(indices):
        return None
    if len(places) != len(sizes) or not all(-sizes[axis] <= index < sizes[axis] for index in indices):
        return None
    found: list[ElementValue] = []
    for at, index in zip(product(*map(range, places)), indices, strict=True):
        place = [index % sizes[axis] if axis == each else position for each, position in enumerate(at)]
        if any(position >= size for position, size in zip(place, sizes, strict=True)):
            return None
        found.append(content[_position(place, sizes)])
    return tuple(found)


def _position(place: Iterable[int], sizes: Iterable[int]) -> int:
    """Return the position of an element in a tensor of these sizes, row by row."""
    found = 0
    for index, size in zip(place, sizes, strict=True):
        found = found * size + index
    return found


@_content_of("GatherND")
def _gather_nd(node: Operands, shape: Dims) -> Content:
    content, indices, sizes, places = node.content(0), node.content(1), sizes_of(node), sizes_of(node, 1)
    batch = node.integer("batch_dims", 0)
    if content is None or not sizes or not places or not dims.are_sizes(indices) or batch < 0:
        return None
    depth = places[-1]
    selected = sizes[batch : batch + depth]
    length = math.prod(sizes[batch + depth :])
    rows_in_batch = math.prod(places[batch:-1])
    found: list[ElementValue] = []
    for row in range(len(indices) // depth if depth else 0):
        index = indices[row * depth : (row + 1) * depth]
        if len(selected) != depth or not all(-size <= at < size for at, size in zip(index, selected, strict=True)):
            return None
        place = [at % size for at, size in zip(index, selected, strict=True)]
        offset = (row // rows_in_batch if batch else 0) * math.prod(selected) + _position(place, selected)
        found += content[offset * length : (offset + 1) * length]
    return tuple(found)


@_content_of("Compress")
def _compress(node: Operands, shape: Dims) -> Content:
    content, condition, sizes = node.content(0), node.content(1), sizes_of(node)
    if content is None or sizes is None or not dims.are_sizes(condition):
        return None
    if not node.has("axis"):
        return tuple([each for each, is_chosen in zip(content, condition, strict=False) if is_chosen])
    axis = _axis(node, sizes)
    if axis is None:
        return None
    chosen = [index for index, is_chosen in enumerate(condition[: sizes[axis]]) if is_chosen]
    return taken(content, sizes, [(at, chosen if at == axis else range(size)) for at, size in enumerate(sizes)])


@_content_of("Pad")
def _pad(node: Operands, shape: Dims) -> Content:
    content, pads, sizes = node.content(0), node.content(1), sizes_of(node)
    value = node.content(2) if node.given(2) else (0,)
    axes: Content = node.content(3) if node.given(3) else tuple(range(len(sizes or ())))
    if content is None or not sizes or not dims.are_sizes(pads) or not dims.are_sizes(axes) or not value:
        return None
    chosen: list[Sequence[int]] = [range(size) for size in sizes]
    for at, axis in enumerate(axes):
        places = _padded(node.text("mode", "constant"), sizes[axis], pads[at], pads[at + len(axes)])
        if places is None:
            return None
        chosen[axis] = places
    found: list[ElementValue] = []
    for place in product(*chosen):
        found.append(value[0] if -1 in place else content[_position(place, sizes)])
    return tuple(found)


def _padded(mode: str, size: int, before: int, after: int) -> Sequence[int] | None:
    """Return the index from which each element along an axis comes, -1 for the constant; None if that is unclear."""
    if before < -size or after < -size or before + after < -size or max(before, after) > _MAX_FACTORS:
        return None
    places = range(-before, size + after)
    if mode == "constant":
        return [at if 0 <= at < size else -1 for at in places]
    if min(before, after) < 0 or not size:
        return None
    if mode == "reflect" and max(before, after) >= size:
        return None
    source = _SOURCES_OF_PADDING.get(mode)
    return None if source is None else [source(at, size) for at in places]


_SOURCES_OF_PADDING: Final[Mapping[str, Callable[[int, int], int]]] = {
    "edge": lambda at, size: min(max(at, 0), size - 1),
    "reflect": lambda at, size: size - 1 - abs(size - 1 - abs(at)),
    "wrap": lambda at, size: at % size,
}
"""The index from which an element comes that padding puts at a place, by `mode`; the second argument is the size."""


@_content_of("Trilu")
def _trilu(node: Operands, shape: Dims) -> Content:
    content, sizes = node.content(0), sizes_of(node)
    shift = node.scalar(1) if node.given(1) else 0
    if content is None or not sizes or len(sizes) < 2 or not isinstance(shift, int):
        return None
    is_upper = node.integer("upper", 1) != 0
    places = product(*map(range, sizes))
    return tuple(
        [
            each if (place[-1] - place[-2] >= shift if is_upper else place[-1] - place[-2] <= shift) else 0
            for each, place in zip(content, places, strict=True)
        ]
    )


@_content_of("DepthToSpace", "SpaceToDepth")
def _space_and_depth(node: Operands, shape: Dims) -> Content:
    """Return the elements after a reshape of the image to six dimensions, which are transposed."""
    content, sizes, block = node.content(0), sizes_of(node), node.integer("blocksize", 0)
    if content is None or not sizes or len(sizes) != 4 or block < 1:
        return None
    count, channels, height, width = sizes
    if node.operator == "SpaceToDepth":
        parts, order = (count, channels, height // block, block, width // block, block), (0, 3, 5, 1, 2, 4)
    elif node.text("mode", "DCR") == "DCR":
        parts, order = (count, block, block, channels // block**2, height, width), (0, 3, 4, 1, 5, 2)
    else:
        parts, order = (count, channels // block**2, block, block, height, width), (0, 1, 4, 2, 5, 3)
    return (
        taken(content, parts, [(axis, range(parts[axis])) for axis in order])
        if math.prod(parts) == len(content)
        else None
    )


@_content_of("ReverseSequence")
def _reverse_sequence(node: Operands, shape: Dims) -> Content:
    """Return the first elements of each sequence in reverse order. The second input says how many they are."""
    content, lengths, sizes = node.content(0), node.content(1), sizes_of(node)
    time, batch = node.integer("time_axis", 0), node.integer("batch_axis", 1)
    if content is None or not sizes or len(sizes) < 2 or {time, batch} != {0, 1} or not dims.are_sizes(lengths):
        return None
    if len(lengths) != sizes[batch] or not all(0 <= length <= sizes[time] for length in lengths):
        return None
    found: list[ElementValue] = []
    for place in product(*map(range, sizes)):
        index, length = place[time], lengths[place[batch]]
        at = [length - 1 - index if axis == time and index < length else each for axis, each in enumerate(place)]
        found.append(content[_position(at, sizes)])
    return tuple(found)


# --- what is counted or made


@_content_of("EyeLike")
def _eye_like(node: Operands, shape: Dims) -> Content:
    shift = node.integer("k", 0)
    if not dims.are_sizes(shape):
        return None
    return tuple([int(column - row == shift) for row, column in product(*map(range, shape))])


@_content_of("OneHot")
def _one_hot(node: Operands, shape: Dims) -> Content:
    indices, values, sizes = node.content(0), node.content(2), sizes_of(node)
    if not indices or values is None or len(values) != 2 or sizes is None or not dims.are_sizes(shape):
        return None
    off, on = values
    axis = node.integer("axis", -1) % len(shape)
    depth = shape[axis]
    found: list[ElementValue] = []
    for place in product(*map(range, shape)):
        index = indices[_position([*place[:axis], *place[axis + 1 :]], sizes)]
        if not isinstance(index, int):
            return None
        is_on = -depth <= index < depth and index % depth == place[axis]
        found.append(on if is_on else off)
    return tuple(found)


@_contents_of("Unique")
def _unique(node: Operands, shapes: Sequence[Dims]) -> Sequence[Content]:
    """Return for a list its numbers, the first index of each, the number of each element, and the counts.

    With `axis`, nothing is returned.
    """
    content = node.content(0)
    if content is None or node.has("axis") or not all(isinstance(each, int | float) for each in content):
        return ()
    counts: dict[ElementValue, int] = {}
    for each in content:
        counts[each] = counts.get(each, 0) + 1
    numbers = [each for each in counts if isinstance(each, int | float)]
    values = sorted(numbers) if node.integer("sorted", 1) else numbers
    order = {each: index for index, each in enumerate(values)}
    first = tuple([content.index(each) for each in values])
    return (
        tuple(values),
        first,
        tuple([order[each] for each in numbers_in(content)]),
        tuple([counts[each] for each in values]),
    )


def numbers_in(content: Iterable[ElementValue]) -> list[int | float]:
    """Return the elements that are numbers."""
    return [each for each in content if isinstance(each, int | float)]


@_content_of("ArgMax", "ArgMin")
def _arg_max(node: Operands, shape: Dims) -> Content:
    content, sizes = node.content(0), sizes_of(node)
    axis = _axis(node, sizes) if sizes else None
    if content is None or not sizes or axis is None or len(numbers_in(content)) < len(content):
        return None
    is_last, choose = node.integer("select_last_index", 0) != 0, max if node.operator == "ArgMax" else min
    found: list[ElementValue] = []
    for row in _rows(sizes, axis):
        values = numbers_in([content[place] for place in row])
        most = choose(values)
        found.append(len(values) - 1 - values[::-1].index(most) if is_last else values.index(most))
    return tuple(found)


@_contents_of("TopK")
def _top_k(node: Operands, shapes: Sequence[Dims]) -> Sequence[Content]:
    """Return the greatest or least numbers of each row in order, and their indices. Equal ones keep their order."""
    content, sizes = node.content(0), sizes_of(node)
    axis = _axis(node, sizes, -1) if sizes else None
    if not content or not sizes or axis is None or not node.integer("sorted", 1):
        return ()
    count, sign = shapes[0][axis], -1 if node.integer("largest", 1) else 1
    numbers = numbers_in(content)
    if not isinstance(count, int) or len(numbers) < len(content):
        return ()
    values: list[ElementValue] = [None] * math.prod(size for size in shapes[0] if isinstance(size, int))
    places = list(values)
    rows = zip(_rows(sizes, axis), _rows([*sizes[:axis], count, *sizes[axis + 1 :]], axis), strict=False)
    for row, found in rows:
        order = sorted(range(len(row)), key=lambda index: sign * numbers[row[index]])
        for place, index in zip(found, order, strict=False):
            values[place], places[place] = numbers[row[index]], index
    return tuple(values), tuple(places)


# --- sums


def _quotient(total: Dim, count: int) -> Dim:
    """Return the mean of integers, which kernels and the reference implementation round towards zero."""
    if isinstance(total, int):
        return abs(total) // count * (-1 if total < 0 else 1)
    return dims.divide_down(total, count) if dims.is_natural(total) else None


class _Reduction(Record):
    """How a list is reduced to one number."""

    of_sizes: Callable[[Dims], Dim]
    of_floats: Callable[[Sequence[float]], float]


def _of_known(operation: Callable[[tuple[int, ...]], int]) -> Callable[[Dims], Dim]:
    """Return the operation, restricted to sizes that are known."""
    return lambda content: operation(content) if dims.are_sizes(content) else None


def _sum_of_absolutes(numbers: Iterable[float]) -> float:
    return sum(map(abs, numbers))


_REDUCED: Final[Mapping[str, _Reduction]] = {
    "ReduceL1": _Reduction(_of_known(lambda sizes: sum(map(abs, sizes))), _sum_of_absolutes),
    "ReduceMax": _Reduction(_of_known(max), max),
    "ReduceMean": _Reduction(
        lambda content: _quotient(dims.total(content), len(content)), lambda numbers: sum(numbers) / len(numbers)
    ),
    "ReduceMin": _Reduction(_of_known(min), min),
    "ReduceProd": _Reduction(dims.product, math.prod),
    "ReduceSum": _Reduction(dims.total, sum),
    "ReduceSumSquare": _Reduction(
        lambda content: dims.total([multiplied(each, each) for each in content]),
        lambda numbers: sum([each * each for each in numbers]),
    ),
}


@_content_of(*_REDUCED)
def _reduced(node: Operands, shape: Dims) -> Content:
    content, sizes = node.content(0), sizes_of(node)
    if not content or sizes is None or len(content) > _MAX_FACTORS or (node.given(1) and node.content(1) is None):
        return None
    axes = (node.content(1) if node.given(1) else node.integers("axes")) or ()
    if not axes and node.integer("noop_with_empty_axes", 0):
        # Whether squares and absolute values are computed even then depends on the release.
        return content if node.operator not in ("ReduceL1", "ReduceSumSquare") else None
    groups = [list(content)] if dims.product(shape) == 1 else _grouped(content, sizes, axes)
    found = tuple([_reduced_to_one(node, group) for group in groups])
    return found if any(each is not None for each in found) else None


def _grouped(content: Sequence[ElementValue], sizes: Sequence[int], listed: Content) -> list[list[ElementValue]]:
    """Return the elements that differ only in their place along these axes, in the order of the other axes.

    Empty if the axes are unknown or wrong.
    """
    if not listed or not dims.are_sizes(listed) or not all(-len(sizes) <= axis < len(sizes) for axis in listed):
        return []
    axes = {axis % len(sizes) for axis in listed}
    groups: dict[int, list[ElementValue]] = {}
    kept = [size for axis, size in enumerate(sizes) if axis not in axes]
    for place, element in zip(product(*map(range, sizes)), content, strict=True):
        key = _position([index for axis, index in enumerate(place) if axis not in axes], kept)
        groups.setdefault(key, []).append(element)
    return [groups[key] for key in sorted(groups)]


def _reduced_to_one(node: Operands, content: Sequence[ElementValue]) -> ElementValue:
    """Return the number to which a list is reduced; None if it is unknown, or depends on the order."""
    reduction = _REDUCED[node.operator]
    whole = whole_numbers(content)
    kind = node.fact(0).kind or ""
    if kind not in FORMATS:
        return reduction.of_sizes(whole) if whole is not None else None
    numbers = numbers_in(content)
    if len(numbers) < len(content):
        return None
    if node.operator in ("ReduceMax", "ReduceMin"):
        return reduction.of_floats(numbers)
    is_exact = whole is not None and _is_exact(node.operator, numbers, FORMATS[kind][1])
    return reduction.of_floats(numbers) if is_exact else None


def _is_exact(operator: str, numbers: Sequence[float], greatest: float) -> bool:
    """Return whether a reduction of whole numbers is the same in any order: every part of it is an exact number."""
    if operator == "ReduceMean" and len(numbers).bit_count() != 1:
        return False  # kernels may divide by the count, or multiply by its reciprocal, exact for a power of two
    if operator == "ReduceProd":
        return math.prod([max(1, abs(each)) for each in numbers]) <= greatest
    parts = [each * each for each in numbers] if operator == "ReduceSumSquare" else numbers
    return sum([max(1, abs(each)) for each in parts]) <= greatest


@_content_of("CumSum")
def _cum_sum(node: Operands, shape: Dims) -> Content:
    content, sizes, axis = node.content(0), sizes_of(node), node.scalar(1)
    whole = whole_numbers(content) if content is not None and node.fact(0).kind not in FORMATS else None
    if whole is None or not sizes or not isinstance(axis, int) or not -len(sizes) <= axis < len(sizes):
        return None
    found: list[Dim] = [None] * len(whole)
    for row in _rows(sizes, axis % len(sizes)):
        total: Dim = 0
        for place in row[::-1] if node.integer("reverse", 0) else row:
            before, total = total, dims.add(total, whole[place])
            found[place] = before if node.integer("exclusive", 0) else total
    return tuple(found)


@_content_of("MatMul", "MatMulInteger")
def _mat_mul(node: Operands, shape: Dims) -> Content:
    """Return the product of vectors and matrices. In floating point, an element is None if its sum may be inexact."""
    one, other, left, right = node.content(0), node.content(1), sizes_of(node), sizes_of(node, 1)
    if not one or not other or not left or not right or max(len(left), len(right)) > 2:
        return None
    first, second = whole_numbers(one), whole_numbers(other)
    if node.operator == "MatMulInteger":
        first, second = _minus_zero_point(node, first, 2), _minus_zero_point(node, second, 3)
    if first is None or second is None or left[-1] != right[0]:
        return None
    inner, columns = right[0], right[1] if len(right) > 1 else 1
    greatest = FORMATS.get(node.fact(0).kind or "", ("", dims.SIZE_LIMIT))[1]
    rows = [first[begin : begin + inner] for begin in range(0, len(first), inner)]
    return tuple([_dot_product(row, second[at::columns], greatest) for row in rows for at in range(columns)])


def _minus_zero_point(node: Operands, numbers: Dims | None, index: int) -> Dims | None:
    """Return the numbers minus the zero point, which is one number or left out; None if they are unknown."""
    zeros = node.content(index) if node.given(index) else (0,)
    if numbers is None or zeros is None or len(zeros) != 1 or not dims.are_sizes(zeros) or not dims.are_sizes(numbers):
        return None
    return tuple([each - zeros[0] for each in numbers])


def _dot_product(one: Sequence[Dim], other: Sequence[Dim], greatest: int) -> Dim:
    return _exact_sum([multiplied(*pair) for pair in zip(one, other, strict=True)], greatest)


def _exact_sum(products: Sequence[Dim], greatest: int) -> Dim:
    """Return the sum of numbers; None if a part of it is greater than the `greatest` exact number."""
    if sum([abs(each) for each in products if isinstance(each, int)]) > greatest:
        return None
    found = dims.total(products)
    return found if isinstance(found, int) or dims.is_natural(found) else None


class _EinsumOperand(Record):
    """An operand of an Einsum of known elements."""

    labels: str
    elements: Dims
    sizes: tuple[int, ...]

    def at(self, place: Mapping[str, int]) -> Dim:
        """Return the element at the indices of its labels."""
        return self.elements[_position([place[label] for label in self.labels], self.sizes)]


@_content_of("Einsum")
def _einsum(node: Operands, shape: Dims) -> Content:
    """Return the elements of the result. None if a term has an ellipsis, a label has two sizes, or they are too many.

    In floating point, an element is None if its sum may be inexact.
    """
    from onnx_lint.ir.operators.einsum_equation import terms_of

    terms, result = terms_of(node.text("equation", ""))
    operands = _einsum_operands(node, terms)
    extents = _extents_of_labels(operands)
    if len(operands) < len(terms) or extents is None or math.prod(extents.values()) > _MAX_PRODUCTS:
        return None
    summed = [label for label in extents if label not in result]
    greatest = FORMATS.get(node.fact(0).kind or "", ("", dims.SIZE_LIMIT))[1]
    found: list[ElementValue] = []
    for outer in _places_of_labels(result, extents):
        places = [outer | inner for inner in _places_of_labels(summed, extents)]
        products = [reduce(multiplied, [operand.at(place) for operand in operands]) for place in places]
        found.append(_exact_sum(products, greatest))
    return tuple(found)


def _einsum_operands(node: Operands, terms: Sequence[str]) -> list[_EinsumOperand]:
    """Return the operands up to the first one that is unknown or does not have one label for each axis."""
    found: list[_EinsumOperand] = []
    for index, term in enumerate(terms):
        whole, sizes = whole_numbers(node.content(index) or ()), sizes_of(node, index)
        if not whole or not sizes or len(sizes) != len(term):
            break
        found.append(_EinsumOperand(term, whole, sizes))
    return found


def _extents_of_labels(operands: Iterable[_EinsumOperand]) -> dict[str, int] | None:
    """Return the size of each label; None if one has two sizes."""
    extents: dict[str, int] = {}
    for operand in operands:
        for label, size in zip(operand.labels, operand.sizes, strict=True):
            if extents.setdefault(label, size) != size:
                return None
    return extents


def _places_of_labels(labels: Sequence[str], extents: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Yield the indices of labels, in the order of a tensor with these axes."""
    for indices in product(*[range(extents[label]) for label in labels]):
        yield dict(zip(labels, indices, strict=True))


_MAX_PRODUCTS: Final = 256
"""The most products of elements to compute for an Einsum."""


# --- element by element


def _each(node: Operands, shape: Dims, count: int, operation: Callable[..., ElementValue]) -> Content:
    """Return the results of an operation on one element of each of the first inputs, which are broadcast."""
    operands = [stretched(node, index, shape) for index in range(count)]
    known = [content for content in operands if content is not None]
    if len(known) < count or max(map(len, known)) > MAX_COMPUTED:
        return None
    return tuple([operation(*each) for each in zip(*known, strict=True)])


@_content_of("Clip")
def _clip(node: Operands, shape: Dims) -> Content:
    """Return the numbers within the bounds. Up to version 10 the bounds are attributes, which are not followed."""
    if node.version < _BOUNDS_AS_INPUTS:
        return None
    bounds = [node.scalar(index) if node.given(index) else fill for index, fill in ((1, -math.inf), (2, math.inf))]
    least, most = bounds
    content = node.content(0)
    if content is None or isinstance(least, str) or isinstance(most, str) or least is None or most is None:
        return None
    numbers = [each if isinstance(each, int | float) else None for each in content]
    return tuple([None if each is None else min(max(each, least), most) for each in numbers])


_BOUNDS_AS_INPUTS: Final = 11


def _remainder_of_dividend(one: int, other: int) -> int:
    """Return the remainder with the sign of the dividend."""
    left = abs(one) % abs(other)
    return -left if one < 0 else left


@_content_of("Mod")
def _mod(node: Operands, shape: Dims) -> Content:
    """Return the remainders. They have the sign of the divisor, with `fmod` that of the dividend."""
    of_dividend = node.integer("fmod", 0) != 0
    if node.fact(0).kind in FORMATS:  # the text requires `fmod`, with which the remainder is exact
        return _each(node, shape, 2, _exact_remainder) if of_dividend else None

    def remainder(one: ElementValue, other: ElementValue) -> ElementValue:
        if isinstance(one, int) and isinstance(other, int) and other:
            return _remainder_of_dividend(one, other) if of_dividend else one % other
        if isinstance(one, float) or isinstance(other, float):
            return None
        if dims.divide(one, other) is not None:
            return 0
        if not isinstance(one, str) or not isinstance(other, int) or other < 1:
            return None
        left = dims.subtract(one, dims.multiply(dims.divide_down(one, other), other))
        return dims.at_least(left, 0)

    return _each(node, shape, 2, remainder)


def _exact_remainder(one: ElementValue, other: ElementValue) -> ElementValue:
    if not isinstance(one, int | float) or not isinstance(other, int | float):
        return None
    return math.fmod(one, other) if other and math.isfinite(one) and math.isfinite(other) else None


@_content_of("Pow")
def _pow(node: Operands, shape: Dims) -> Content:
    """Return the powers of whole numbers. Kernels estimate others, which are None."""
    greatest = FORMATS.get(node.fact(0).kind or "", ("", 2**53))[1]

    def power(base: ElementValue, exponent: ElementValue) -> ElementValue:
        whole = whole_numbers((base, exponent))
        if whole is None or not isinstance(whole[1], int) or not 0 <= whole[1] <= _MAX_FACTORS:
            return None
        if isinstance(whole[0], str) and whole[1] > 4:
            return None
        result = dims.product([whole[0]] * whole[1])
        return result if not isinstance(result, int) or abs(result) <= greatest else None

    return _each(node, shape, 2, power)


@_content_of("IsInf", "IsNaN")
def _is_inf_or_nan(node: Operands, shape: Dims) -> Content:
    """Return 0 for each known element, as only finite numbers are known."""
    return tuple([None if each is None else 0 for each in node.content(0) or ()])


@_content_of("Hardmax")
def _hardmax(node: Operands, shape: Dims) -> Content:
    """Return 1 for the first of the greatest numbers along the axis; until version 12 the input becomes a matrix."""
    content, sizes = node.content(0), sizes_of(node)
    axis = _axis(node, sizes, -1) if sizes else None
    if not content or not sizes or axis is None or node.version < _ALONG_AN_AXIS:
        return None
    numbers = numbers_in(content)
    if len(numbers) < len(content):
        return None
    found = [0] * len(numbers)
    for row in _rows(sizes, axis):
        found[max(row, key=numbers.__getitem__)] = 1
    return tuple(found)


_ALONG_AN_AXIS: Final = 13


@_content_of("BitShift")
def _bit_shift(node: Operands, shape: Dims) -> Content:
    is_left, bits = node.text("direction", "") == "LEFT", _BITS.get(node.fact(0).kind or "", 0)

    def shifted(number: ElementValue, by: ElementValue) -> ElementValue:
        if not isinstance(number, int) or not isinstance(by, int) or not 0 <= by < bits:
            return None
        return (number << by) % 2**bits if is_left else number >> by

    return _each(node, shape, 2, shifted)


_BITS: Final = {"tensor(uint8)": 8, "tensor(uint16)": 16, "tensor(uint32)": 32, "tensor(uint64)": 64}
"""The types of the operands of BitShift that are followed."""


@_content_of("QuantizeLinear")
def _quantize_linear(node: Operands, shape: Dims) -> Content:
    """Return the integers for one scale. None if a quotient is near the middle of two integers.

    The quotient by a power of two is exact, even there.
    """
    content, scale, zero = node.content(0), _scale(node), _zero_point(node)
    kind = node.fact(2).kind if node.given(2) else _QUANTIZED.get(node.integer("output_dtype", 0))
    bounds = _QUANTIZED_RANGES.get(kind or "")
    is_followed = node.fact(0).kind in _EXACT and not node.integer("precision", 0)
    if content is None or scale is None or zero is None or bounds is None or not is_followed:
        return None
    is_exact = math.frexp(scale)[0] == 0.5  # a power of two
    found: list[ElementValue] = []
    for each in content:
        if not isinstance(each, int | float) or abs(each) > FORMATS["tensor(float)"][1]:
            return None
        quotient = each / scale
        if not is_exact and abs(abs(quotient) % 1 - 0.5) < _NEAR * max(1, abs(quotient)):
            return None
        found.append(min(max(round(quotient) + zero, bounds[0]), bounds[1]))
    return tuple(found)


@_content_of("DequantizeLinear")
def _dequantize_linear(node: Operands, shape: Dims) -> Content:
    """Return the products with one scale, each of which is rounded once."""
    content, scale, zero = node.content(0), _scale(node), _zero_point(node)
    if content is None or scale is None or zero is None or node.integer("output_dtype", 0) not in (0, 1):
        return None
    greatest = FORMATS["tensor(float)"][1]
    if not dims.are_sizes(content) or any(abs(each - zero) > greatest for each in content):
        return None
    return tuple([(each - zero) * scale for each in content])


def _scale(node: Operands) -> float | None:
    """Return the scale of all elements, a float above 0; None if there are several, or it is unknown."""
    scales = node.content(1) or ()
    scale = scales[0] if len(scales) == 1 and node.fact(1).kind == "tensor(float)" else None
    return float(scale) if isinstance(scale, int | float) and scale > 0 else None


def _zero_point(node: Operands) -> int | None:
    """Return the zero point of all elements, 0 if the node omits it; None if there are several, or it is unknown."""
    zeros = node.content(2) if node.given(2) else (0,)
    zero = zeros[0] if zeros is not None and len(zeros) == 1 else None
    return zero if isinstance(zero, int) else None


_EXACT: Final = ("tensor(float)", "tensor(int32)")
"""The types that QuantizeLinear is followed for: division in a narrower one is coarser than what is tolerated."""

_NEAR: Final = 1e-4
"""How close to the middle of two integers a quotient may be that kernels compute in different ways."""

_QUANTIZED: Final = {0: "tensor(uint8)", 2: "tensor(uint8)", 3: "tensor(int8)", 4: "tensor(uint16)", 5: "tensor(int16)"}
"""The types that `output_dtype` names; 0 stands for the usual one."""

_QUANTIZED_RANGES: Final = {
    "tensor(uint8)": (0, 255),
    "tensor(int8)": (-128, 127),
    "tensor(uint16)": (0, 2**16 - 1),
    "tensor(int16)": (-(2**15), 2**15 - 1),
}


def _of_numbers(operation: Callable[..., ElementValue]) -> Callable[..., ElementValue]:
    """Return the operation, restricted to known whole numbers."""
    return lambda *operands: operation(*operands) if all(isinstance(each, int) for each in operands) else None


_OPERATIONS: Final[dict[str, Callable[..., ElementValue]]] = {
    "BitwiseAnd": lambda one, other: one & other,
    "BitwiseNot": lambda one: ~one,
    "BitwiseOr": lambda one, other: one | other,
    "BitwiseXor": lambda one, other: one ^ other,
    "Sign": lambda one: (one > 0) - (one < 0),
    "Xor": lambda one, other: one ^ other,
}


@_content_of(*_OPERATIONS)
def _operated(node: Operands, shape: Dims) -> Content:
    return _each(node, shape, node.count, _of_numbers(_OPERATIONS[node.operator]))


# --- sequences and optionals


@_content_of("OptionalGetElement")
def _optional_get_element(node: Operands, shape: Dims) -> Content:
    is_optional = (node.fact(0).kind or "").startswith("optional(")
    return (node.parts(0) or (None,))[0] if is_optional else node.content(0)


@_content_of("SequenceAt")
def _sequence_at(node: Operands, shape: Dims) -> Content:
    parts, position = node.parts(0), node.scalar(1)
    is_inside = isinstance(position, int) and -len(parts) <= position < len(parts)
    return parts[position] if is_inside and isinstance(position, int) else None


@_content_of("ConcatFromSequence")
def _concat_from_sequence(node: Operands, shape: Dims) -> Content:
    parts = node.parts(0)
    if not dims.are_sizes(shape) or not any(part is not None for part in parts):
        return None
    axis = _axis(node, shape)
    shapes = node.elements(0) or ()
    if axis is None or len(shapes) != len(parts):
        return None
    outer = math.prod(shape[:axis])
    known: list[tuple[ElementValue, ...]] = []
    for part, own in zip(parts, shapes, strict=True):
        count = dims.product(own if own is not None else (None,))
        if not isinstance(count, int) or not outer:
            return None
        known.append(part or (None,) * count)
    return joined(known, outer)
