# SPDX-License-Identifier: Apache-2.0
"""The elements of small tensors, followed through the operators with which exporters compute shapes.

`CONTENT_RULES` has the rule of each operator. The functions of operators that are rare in such computations, or that
need the elements of all inputs, are in `computed_elements`, which is imported when elements of their inputs are known.
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.shapes import dims
from onnx_lint.inference.shapes.dims import SIZE_LIMIT, Dim, Dims, sliced
from onnx_lint.inference.shapes.element_values import (
    FORMATS,
    MAX_COMPUTED,
    MAX_PASSED,
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
from onnx_lint.inference.shapes.fact import MAX_CONTENT_ELEMENTS, Content, Fact
from onnx_lint.inference.shapes.operands import Operands


class ContentRule(Record):
    """How the elements of the outputs of an operator follow from those of its inputs."""

    follow: ContentsFunction
    reads: int
    """The number of inputs whose content decides it, from the first on."""
    most: int
    """The most elements of an output that are followed; see `MAX_COMPUTED`, `MAX_PASSED` and `MAX_CONTENT_ELEMENTS`."""
    needs_all: bool = False
    """True if nothing is known of the outputs unless the content of each of these inputs, if given, is known."""


CONTENT_RULES: Final[dict[str, ContentRule]] = {}
"""The operators of the default domain through which contents are followed."""

_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    "tensor(int64)": (-SIZE_LIMIT, SIZE_LIMIT - 1),
    "tensor(int32)": (-(2**31), 2**31 - 1),
    "tensor(bool)": (0, 1),
    "tensor(uint8)": (0, 2**8 - 1),
    "tensor(int8)": (-(2**7), 2**7 - 1),
    "tensor(uint16)": (0, 2**16 - 1),
    "tensor(int16)": (-(2**15), 2**15 - 1),
    "tensor(uint32)": (0, 2**32 - 1),
    "tensor(uint64)": (0, 2**64 - 1),
}
"""The integer types whose contents are followed, with their least and greatest values."""


def contents_after(rule: ContentRule, node: Operands, outputs: Sequence[Fact]) -> Iterator[Content]:
    """Yield the known content of each output of a node, from the first on."""
    shapes = [each.shape for each in outputs if each.shape is not None]
    if len(shapes) < len(outputs) or not _may_be_kept(shapes[0], rule):
        return
    found = rule.follow(node, shapes) if 0 not in shapes[0] else ((),)
    for output, shape, content in zip(outputs, shapes, found, strict=False):
        size = math.prod(shape) if dims.are_sizes(shape) else None
        if content is None or len(content) != size or not _may_be_kept(shape, rule):
            yield None
        elif rule.most == MAX_CONTENT_ELEMENTS and node.operator not in _CASTS:
            yield content
        else:
            yield _kept(node, content, output.kind or "")


def _may_be_kept(shape: Dims, rule: ContentRule) -> bool:
    return dims.are_sizes(shape) and math.prod(shape) <= rule.most


def _kept(node: Operands, content: tuple[ElementValue, ...], kind: str) -> Content:
    """Return the elements as a tensor of a type holds them; None if all are unknown, or too many are computed."""
    is_cast = node.operator in _CASTS
    if is_cast and node.version >= _WRAPS and node.fact(0).kind in _RANGES and kind in _RANGES:
        content = tuple([_wrapped(each, kind) for each in content])
    kept = tuple([_stored(each, kind, is_cast=is_cast) for each in content])
    if content and all(each is None for each in kept):
        return None
    if all(map(operator.is_, kept, content)):
        return content  # no copy for each of many values
    return kept if len(content) <= MAX_COMPUTED else None


def _wrapped(element: ElementValue, kind: str) -> ElementValue:
    """Return a number as a cast between types of integers makes it: the lower bits, in two's complement."""
    least, greatest = _RANGES[kind]
    if not isinstance(element, int) or greatest == 1 or least <= element <= greatest:
        return element
    return (element - least) % (greatest - least + 1) + least


def _stored(element: ElementValue, kind: str, *, is_cast: bool) -> ElementValue:
    """Return an element as a tensor of a type holds it; None if it cannot, or if that is unknown."""
    if element is None or isinstance(element, str):
        return element if kind in FORMATS or _holds_size(kind, element) else None
    if kind in _RANGES:
        return _stored_integer(element, _RANGES[kind], is_cast=is_cast)
    return _stored_float(element, FORMATS.get(kind, ("", 0))[0])


def _holds_size(kind: str, element: str | None) -> bool:
    """Return whether each number that the element may be is one of an integer type.

    No Boolean is a size, and no small integer holds every size. A difference below 0 wraps if the type has no sign.
    """
    least, greatest = _RANGES.get(kind, (0, 0))
    return greatest >= _LEAST_RANGE and (least < 0 or element is None or dims.is_natural(element))


def _stored_integer(element: float, bounds: tuple[int, int], *, is_cast: bool) -> int | None:
    """Return a number as an integer type with these bounds holds it."""
    least, greatest = bounds
    if is_cast and greatest == 1:
        return int(element != 0)
    is_number = isinstance(element, int) or (is_cast and math.isfinite(element))
    number = int(element) if is_number else None  # towards zero
    return number if number is not None and least <= number <= greatest else None


def _stored_float(element: float, form: str) -> float | None:
    """Return a number as a floating-point type holds it. `form`: that of `struct`; empty for other types."""
    try:
        # An integer beyond 64 bits of a floating-point number would be rounded twice.
        is_known = form and (not isinstance(element, int) or abs(element) <= 2**53)
        stored: float = struct.unpack(form, struct.pack(form, float(element)))[0] if is_known else math.nan
    except OverflowError:
        return None  # it becomes infinite
    if not math.isfinite(stored):
        return None
    return element if stored == element else stored


_WRAPS: Final = 13
"""The first version of Cast that says what becomes of integers that are out of range."""

_LEAST_RANGE: Final = 2**31 - 1
"""The greatest number of the smallest type of integers that holds sizes."""

_CASTS: Final = ("Cast", "CastLike")


def follows(*operators: str, reads: int = 0, most: int = MAX_PASSED) -> Callable[[ContentFunction], ContentFunction]:
    """Return a decorator that declares the content of the first output of operators."""

    def declare(function: ContentFunction) -> ContentFunction:
        for name in operators:
            CONTENT_RULES[name] = ContentRule(lambda node, shapes: (function(node, shapes[0]),), reads, most)
        return function

    return declare


# --- unchanged


@follows(*_CASTS, "Flatten", "Identity", "Squeeze", "Unsqueeze", "Reshape", reads=1, most=MAX_CONTENT_ELEMENTS)
def _same(node: Operands, shape: Dims) -> Content:
    return node.content(0)


@follows("Constant", most=MAX_CONTENT_ELEMENTS)
def _constant(node: Operands, shape: Dims) -> Content:
    value = node.tensor("value")
    if value is not None:
        return value.content
    for name in ("value_int", "value_float"):
        number = node.number(name) if name == "value_float" else node.integer(name)
        if number is not None and node.has(name):
            return (number,)
    return node.integers("value_ints") if node.has("value_ints") else node.numbers("value_floats")


@follows("Shape")
def _shape(node: Operands, shape: Dims) -> Content:
    found = node.shape(0)
    return None if found is None else found[node.integer("start", 0) : node.integer("end")]


@follows("SequenceLength", reads=1)
def _sequence_length(node: Operands, shape: Dims) -> Content:
    count = node.element_count(0)
    return None if count is None else (count,)


@follows("OptionalHasElement", reads=1)
def _has_element(node: Operands, shape: Dims) -> Content:
    """Return 0 for an omitted input as well; a tensor or a sequence, which may be the input since 18, is an element."""
    kind = node.fact(0).kind
    if kind is None or kind.startswith("optional("):
        count = node.element_count(0)
        return None if count is None else (count,)
    return (int(node.given(0)),)


@follows("Size")
def _size(node: Operands, shape: Dims) -> Content:
    found = node.shape(0)
    return None if found is None else (dims.product(found),)


# --- parts


def _picked(node: Operands, chosen: Mapping[int, Iterable[int]]) -> Content:
    """Return the elements of the first input with these indices along some axes, and all along the others."""
    sizes = sizes_of(node) or ()
    return taken(node.content(0) or (), sizes, [(at, chosen.get(at, range(size))) for at, size in enumerate(sizes)])


@follows("Gather", reads=2)
def _gather(node: Operands, shape: Dims) -> Content:
    indices, sizes = node.content(1), sizes_of(node)
    if not sizes or not dims.are_sizes(indices):
        return None
    axis = node.integer("axis", 0) % len(sizes)
    count = sizes[axis]
    if not all(-count <= index < count for index in indices):
        return None
    return _picked(node, {axis: [index % count for index in indices]})


@follows("Slice", reads=5)
def _slice(node: Operands, shape: Dims) -> Content:
    if node.version < _SLICE_INPUTS:
        starts: Content = node.integers("starts")
        count = len(starts or ())
        axes: Content = node.integers("axes") if node.has("axes") else tuple(range(count))
        return _sliced(node, starts, node.integers("ends"), axes=axes, steps=(1,) * count)
    starts = node.content(1)
    count = len(starts or ())
    axes = node.content(3) if node.given(3) else tuple(range(count))
    steps = node.content(4) if node.given(4) else (1,) * count
    return _sliced(node, starts, node.content(2), axes=axes, steps=steps)


_SLICE_INPUTS: Final = 10
"""The first version of Slice whose starts, ends, axes and steps are inputs."""


def _sliced(node: Operands, starts: Content, ends: Content, *, axes: Content, steps: Content) -> Content:
    """Return the elements of a slice of the first input; None if a bound is unknown or the lists differ in length."""
    sizes = sizes_of(node)
    # One by one, so that the type checker knows them.
    if not (
        sizes and dims.are_sizes(starts) and dims.are_sizes(ends) and dims.are_sizes(axes) and dims.are_sizes(steps)
    ):
        return None
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        return None
    rows = zip(axes, starts, ends, steps, strict=True)
    return _picked(node, {at % len(sizes): sliced(sizes[at], start, end, step) for at, start, end, step in rows})


@follows("Transpose", reads=1)
def _transpose(node: Operands, shape: Dims) -> Content:
    sizes = sizes_of(node)
    order = node.integers("perm") or range(len(shape))[::-1]
    return taken(node.content(0) or (), sizes, [(axis, range(sizes[axis])) for axis in order]) if sizes else None


@follows("Tile", reads=2)
def _tile(node: Operands, shape: Dims) -> Content:
    repeats, sizes = node.content(1), sizes_of(node)
    if sizes is None or not dims.are_sizes(repeats) or len(repeats) != len(sizes):
        return None
    rows = enumerate(zip(sizes, repeats, strict=True))
    return _picked(node, {axis: list(range(size)) * times for axis, (size, times) in rows})


@follows("Concat", reads=64)
def _concat(node: Operands, shape: Dims) -> Content:
    axis = node.integer("axis", 1)
    outer = math.prod(size for size in shape[: axis % len(shape)] if isinstance(size, int))
    parts: list[tuple[ElementValue, ...]] = []
    for index in range(node.count):
        own = dims.product(node.fact(index).shape or (None,))
        if not isinstance(own, int) or own > MAX_PASSED:
            return None
        parts.append(node.content(index) or (None,) * own)
    return joined(parts, outer)


@follows("ScatterElements", reads=3)
def _scatter_elements(node: Operands, shape: Dims) -> Content:
    """Return the elements of a list after the updates; other tensors are not followed."""
    indices, sizes = node.content(1), sizes_of(node)
    if not sizes or len(sizes) > 1 or not sizes_of(node, 1) or not dims.are_sizes(indices):
        return None
    return _scattered(node, [_place_of(sizes, (index,)) for index in indices], length=1)


@follows("ScatterND", reads=3)
def _scatter_nd(node: Operands, shape: Dims) -> Content:
    indices, sizes, index_sizes = node.content(1), sizes_of(node), sizes_of(node, 1)
    if not sizes or not index_sizes or not index_sizes[-1] or not dims.are_sizes(indices):
        return None
    depth = index_sizes[-1]
    rows = [indices[begin : begin + depth] for begin in range(0, len(indices), depth)]
    return _scattered(node, [_place_of(sizes, row) for row in rows], length=math.prod(sizes[depth:]))


def _place_of(sizes: Sequence[int], indices: Sequence[int]) -> int | None:
    """Return the place that indices along the first axes have among all such places; None if one is out of range."""
    place = 0
    for size, index in zip(sizes, indices, strict=False):
        if not -size <= index < size:
            return None
        place = place * size + index % size
    return place


def _scattered(node: Operands, places: Sequence[int | None], length: int) -> Content:
    """Return the elements of the first input after updates of `length` elements each, in turn at these places."""
    content, updates = node.content(0), node.content(2)
    if content is None or updates is None:
        return None
    reduction = node.text("reduction", "none")
    is_ordered = reduction != "none" and node.fact(0).kind in FORMATS
    known = [each for each in places if each is not None]
    if len(known) < len(places) or (is_ordered and len(set(known)) < len(known)):
        return None  # a sum of floating-point numbers may depend on the order
    found = list(content)
    for row, place in enumerate(known):
        written = slice(place * length, (place + 1) * length)
        new = updates[row * length : (row + 1) * length]
        found[written] = new if reduction == "none" else _reduced_by(reduction, found[written], new)
    return tuple(found)


def _reduced_by(
    reduction: str, before: Sequence[ElementValue], new: Sequence[ElementValue]
) -> tuple[ElementValue, ...]:
    """Return the elements that a scatter with a `reduction` writes, from those before and the updates."""
    if reduction not in _REDUCTIONS:
        return (None,) * len(new)
    operation = _REDUCTIONS[reduction]
    # Both operands are integers or sizes, or both are floating-point numbers.
    return tuple(
        [
            _result(operation, pair, is_floating=any(isinstance(each, float) for each in pair))
            for pair in zip(before, new, strict=True)
        ]
    )


_REDUCTIONS: Final[Mapping[str, str]] = {"add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}
"""The operator with the same operation as a `reduction` of a scatter."""


@follows("NonZero", reads=1)
def _non_zero(node: Operands, shape: Dims) -> Content:
    content, sizes = node.content(0), sizes_of(node)
    if content is None or sizes is None:
        return None
    places = [at for at, each in zip(product(*map(range, sizes)), content, strict=True) if each != 0]
    return tuple(chain(*zip(*places, strict=True))) if len(places) * len(sizes) <= MAX_COMPUTED else None


@follows("Expand", reads=2)
def _expand(node: Operands, shape: Dims) -> Content:
    return stretched(node, 0, shape)


@follows("ConstantOfShape", reads=1)
def _constant_of_shape(node: Operands, shape: Dims) -> Content:
    value = node.tensor("value")
    content = value.content if value is not None else None
    size = dims.product(shape)
    return content * size if content and len(content) == 1 and isinstance(size, int) else None


@follows("Range", reads=3)
def _range(node: Operands, shape: Dims) -> Content:
    bounds = whole_numbers([node.scalar(index) for index in range(3)])
    numbers = range(*bounds) if dims.are_sizes(bounds) and bounds[2] else range(MAX_COMPUTED + 1)
    return tuple(numbers) if len(numbers) <= MAX_COMPUTED else None


# --- element by element


def _each(node: Operands, shapes: Sequence[Dims]) -> Sequence[Content]:
    return (_operated(node, shapes[0]),)


def _operated(node: Operands, shape: Dims) -> Content:
    operands = [stretched(node, index, shape) for index in range(node.count)]
    known = [content for content in operands if content is not None]
    if len(known) < len(operands) or len(known[0]) > MAX_COMPUTED:
        return None
    is_floating = node.fact(node.count - 1).kind in FORMATS
    return tuple([_result(node.operator, each, is_floating=is_floating) for each in zip(*known, strict=True)])


def _result(operation: str, elements: Sequence[ElementValue], *, is_floating: bool) -> ElementValue:
    """Return the result of an operator for one element of each input; None if it is unknown or does not exist."""
    on_floats = _ON_FLOATS.get(operation) if is_floating else None
    if on_floats is not None and all(isinstance(each, int | float) for each in elements):
        try:
            return on_floats(*elements)
        except (ArithmeticError, ValueError):
            return None  # a division by 0, a root of a negative number
    whole = (
        whole_numbers(elements)
        if on_floats is not None or not any(isinstance(each, float) for each in elements)
        else None
    )
    if whole is None:
        return None
    # A quotient of floating-point numbers is not rounded.
    return (dims.divide if on_floats is operator.truediv else _ON_SIZES[operation])(*whole)


def _known(operation: Callable[..., int | None]) -> Callable[..., Dim]:
    """Return the operation, restricted to operands that are integers."""
    return lambda *operands: operation(*operands) if dims.are_sizes(operands) else None


def _add(one: Dim, other: Dim) -> Dim:
    found = dims.add(one, other)
    # A size is not negative, whatever its expression shows.
    is_less = any(isinstance(each, int) and each < 0 for each in (one, other))
    return _unless_negative(found) if is_less else found


def _subtract(one: Dim, other: Dim) -> Dim:
    return _unless_negative(dims.subtract(one, other)) if one is None or one != other else 0


def _unless_negative(dim: Dim) -> Dim:
    """Return the number, or None for an expression that may be negative: a size of -1 would mean something else."""
    return dim if isinstance(dim, int) or dims.is_natural(dim) else None


def _sum_of_two(operands: Sequence[float]) -> float | None:
    return sum(operands) if len(operands) <= 2 or all(each.is_integer() for each in map(float, operands)) else None


def _mean_of_two(operands: Sequence[float]) -> float:
    return sum(operands) / len(operands)


def _divide(one: Dim, other: Dim) -> Dim:
    if isinstance(one, int) and isinstance(other, int) and other:
        # Round towards zero, as in C.
        quotient = abs(one) // abs(other)
        return quotient if (one < 0) == (other < 0) else -quotient
    quotient_of_sizes = dims.divide(one, other)
    if quotient_of_sizes is not None or not (isinstance(one, str) and isinstance(other, int) and other > 0):
        return quotient_of_sizes
    return dims.divide_down(one, other)


def _equal(one: Dim, other: Dim) -> Dim:
    if isinstance(one, int) and isinstance(other, int):
        return int(one == other)
    if one is not None and one == other:
        return 1
    # A size is not negative, so a variable cannot equal a negative number.
    is_negative = (isinstance(one, int) and one < 0) or (isinstance(other, int) and other < 0)
    return 0 if is_negative and isinstance(one, str) != isinstance(other, str) else None


def _maximum(*operands: Dim) -> Dim:
    """Return the maximum of numbers and at most one size that is no number; None if there are several such sizes."""
    numbers = [each for each in operands if isinstance(each, int)]
    if len(numbers) == len(operands):
        return max(numbers)
    size = _only_size(operands)
    # A size is not negative.
    return dims.at_least(size, max(numbers)) if numbers and max(numbers) >= 0 else size


def _minimum(*operands: Dim) -> Dim:
    """Return the minimum of numbers and at most one size that is no number; None if there are several such sizes."""
    numbers = [each for each in operands if isinstance(each, int)]
    if len(numbers) == len(operands):
        return min(numbers)
    size = _only_size(operands)
    if size is None or not numbers:
        return size
    # A size is not negative.
    return dims.at_most(size, min(numbers)) if min(numbers) >= 0 else min(numbers)


def _only_size(operands: Dims) -> Dim:
    """Return the size that is no number; None if it is unknown or there are several."""
    sizes = {each for each in operands if not isinstance(each, int)}
    return next(iter(sizes)) if len(sizes) == 1 else None


def _choose(condition: Dim, one: Dim, other: Dim) -> Dim:
    if isinstance(condition, int):
        return one if condition else other
    return one if one == other else None


_ON_SIZES: Final[dict[str, Callable[..., Dim]]] = {}
"""The operation of each operator on one element of each input: on sizes and integers."""

_ON_FLOATS: Final[dict[str, Callable[..., float | None]]] = {}
"""The same on floating-point numbers; operators without them have no entry."""


def _elementwise(
    name: str, count: int, *, on_sizes: Callable[..., Dim], on_floats: Callable[..., float | None] | None
) -> None:
    """Declare an operator that works element by element. `count`: its greatest number of inputs."""
    _ON_SIZES[name] = on_sizes
    if on_floats is not None:
        _ON_FLOATS[name] = on_floats
    CONTENT_RULES[name] = ContentRule(_each, count, MAX_COMPUTED, needs_all=True)


_elementwise("Add", 2, on_sizes=_add, on_floats=operator.add)
_elementwise("Sub", 2, on_sizes=_subtract, on_floats=operator.sub)
_elementwise("Mul", 2, on_sizes=multiplied, on_floats=operator.mul)
_elementwise("Div", 2, on_sizes=_divide, on_floats=operator.truediv)
# Kernels may add more than two numbers in any order.
_elementwise(
    "Sum",
    8,
    on_sizes=lambda *operands: _unless_negative(dims.total(operands)),
    on_floats=lambda *operands: _sum_of_two(operands),
)
# They may also divide by the number of operands or multiply by its reciprocal, which is exact for two.
_elementwise("Mean", 2, on_sizes=lambda *operands: None, on_floats=lambda *operands: _mean_of_two(operands))
# With one operand, `max` and `min` themselves would treat it as a list.
_elementwise("Max", 8, on_sizes=_maximum, on_floats=lambda *operands: max(operands))
_elementwise("Min", 8, on_sizes=_minimum, on_floats=lambda *operands: min(operands))
_elementwise("Neg", 1, on_sizes=_known(operator.neg), on_floats=operator.neg)
_elementwise("Abs", 1, on_sizes=_known(abs), on_floats=abs)
_elementwise("Relu", 1, on_sizes=_known(lambda one: max(one, 0)), on_floats=lambda one: max(one, 0.0))
# A size has no fraction to round.
_elementwise("Floor", 1, on_sizes=lambda size: size, on_floats=math.floor)
_elementwise("Ceil", 1, on_sizes=lambda size: size, on_floats=math.ceil)
_elementwise("Round", 1, on_sizes=lambda size: size, on_floats=round)  # halves to even, in Python as in ONNX
# Kernels estimate roots that are not exact.
_elementwise(
    "Sqrt",
    1,
    on_sizes=_known(lambda one: None),
    on_floats=lambda one: root if (root := math.sqrt(one)) ** 2 == one else None,
)
_elementwise("Equal", 2, on_sizes=_equal, on_floats=operator.eq)
_elementwise("Greater", 2, on_sizes=_known(operator.gt), on_floats=operator.gt)
_elementwise("GreaterOrEqual", 2, on_sizes=_known(operator.ge), on_floats=operator.ge)
_elementwise("Less", 2, on_sizes=_known(operator.lt), on_floats=operator.lt)
_elementwise("LessOrEqual", 2, on_sizes=_known(operator.le), on_floats=operator.le)
_elementwise("And", 2, on_sizes=_known(lambda one, other: one and other), on_floats=None)
_elementwise("Or", 2, on_sizes=_known(lambda one, other: one or other), on_floats=None)
_elementwise("Not", 1, on_sizes=_known(operator.not_), on_floats=None)
_elementwise("Where", 3, on_sizes=_choose, on_floats=lambda condition, one, other: one if condition else other)


# --- operators whose functions are in `computed_elements`


def _later(node: Operands, shapes: Sequence[Dims]) -> Sequence[Content]:
    from onnx_lint.inference.shapes.computed_elements import FUNCTIONS

    return FUNCTIONS[node.operator](node, shapes)


def _computed_later(*operators: str, reads: int, most: int) -> None:
    """Declare operators without importing their functions: most models need none. See `ContentRule` for the numbers."""
    for name in operators:
        CONTENT_RULES[name] = ContentRule(_later, reads, most, needs_all=True)


_computed_later("EyeLike", reads=0, most=MAX_COMPUTED)
_computed_later(
    *("ArgMax", "ArgMin", "BitwiseNot", "Hardmax", "IsInf", "IsNaN", "Sign", "Unique"), reads=1, most=MAX_COMPUTED
)
_computed_later(
    *("BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "CumSum", "MatMul", "Mod", "Pow", "TopK", "Xor"),
    *("ReduceL1", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"),
    reads=2,
    most=MAX_COMPUTED,
)
_computed_later("Clip", "DequantizeLinear", "Einsum", "OneHot", "QuantizeLinear", reads=3, most=MAX_COMPUTED)
_computed_later("MatMulInteger", reads=4, most=MAX_COMPUTED)
_computed_later(
    *("ConcatFromSequence", "DepthToSpace", "OptionalGetElement", "SpaceToDepth", "Split"), reads=1, most=MAX_PASSED
)
_computed_later(
    *("Compress", "GatherElements", "GatherND", "ReverseSequence", "SequenceAt", "Trilu"), reads=2, most=MAX_PASSED
)
_computed_later("Pad", reads=4, most=MAX_PASSED)
