# SPDX-License-Identifier: Apache-2.0
"""The elements of small integer tensors, followed through the operators with which exporters compute shapes.

An element is an integer, Booleans being 0 and 1, a variable that represents a size, or None. What an int64 cannot hold
is not followed, and of an output of rank 2 and more only what stays in its order: constant indices that are reshaped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.shapes import dims
from onnx_lint.inference.shapes.dims import SIZE_LIMIT, Dim, Dims
from onnx_lint.inference.shapes.fact import MOST_ELEMENTS, Content
from onnx_lint.inference.shapes.operands import Operands, OutputShape

Follow = Callable[[Operands, Dims], Content]
"""Returns the content of the first output, whose shape is known and of rank 0 or 1."""


class Contents(Record):
    """The rule for the content of an output."""

    follow: Follow
    reads: tuple[int, ...]
    """The inputs whose content decides it."""


FOLLOWED: Final[dict[str, Contents]] = {}
"""The operators of the default domain through which contents are followed."""

_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    "tensor(int64)": (-SIZE_LIMIT, SIZE_LIMIT - 1),
    "tensor(int32)": (-(2**31), 2**31 - 1),
    "tensor(bool)": (0, 1),
}
"""The element types whose contents are followed, with their least and greatest values."""


def contents_after(
    follow: Follow, node: Operands, shapes: Sequence[OutputShape], kinds: Sequence[str | None]
) -> Content:
    """Return the known content of the first output of a node."""
    shape = shapes[0] if shapes else None
    if not isinstance(shape, tuple) or not kinds or (len(shape) > 1 and node.operator not in IN_ORDER):
        return None
    size = dims.product(shape)
    if not isinstance(size, int) or size > (MOST_ELEMENTS if node.operator in IN_ORDER else _MOST_PASSED):
        return None
    content = follow(node, shape)
    if content is None or len(content) != size:
        return None
    kind = kinds[0] or ""
    if kind not in _RANGES:
        return _as_they_are(node, content, kind)
    least, greatest = _RANGES[kind]
    kept = [each if not isinstance(each, int) or least <= each <= greatest else None for each in content]
    kept = [each if not isinstance(each, float) else None for each in kept]
    if all(each is None for each in kept):
        return None
    return content if tuple(kept) == content else tuple(kept)  # no copy for each of many values


def _as_they_are(node: Operands, content: tuple[Dim | float, ...], kind: str) -> Content:
    """Return elements that are not integers or Booleans unchanged; after a cast, the integers that the type has
    exactly.
    """
    if node.operator != "Cast":
        return content if node.operator in IN_ORDER else None
    most = _EXACT.get(kind, -1)
    kept = tuple([each if isinstance(each, int) and abs(each) <= most else None for each in content])
    return kept if any(each is not None for each in kept) else None


_EXACT: Final[Mapping[str, int]] = {
    "tensor(bfloat16)": 2**8,
    "tensor(float16)": 2**11,
    "tensor(float)": 2**24,
    "tensor(double)": 2**53,
}
"""The floating-point types, each with the largest N for which it represents all integers up to N."""

IN_ORDER: Final = frozenset({"Cast", "Constant", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
"""Operators that change the shape at most, and not which element comes before which; also for other element types.

What comes out of all others never depends on an element that is a floating-point number."""


def follows(*operators: str, reads: tuple[int, ...] = ()) -> Callable[[Follow], Follow]:
    """Return a decorator that declares the content of the first output of operators."""

    def declare(function: Follow) -> Follow:
        for operator in operators:
            FOLLOWED[operator] = Contents(function, reads)
        return function

    return declare


# --- unchanged


@follows("Cast", "Identity", "Squeeze", "Unsqueeze", "Reshape", reads=(0,))
def _same(node: Operands, shape: Dims) -> Content:
    return node.content(0)


@follows("Constant")
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


@follows("SequenceLength", reads=(0,))
def _sequence_length(node: Operands, shape: Dims) -> Content:
    count = node.element_count(0)
    return None if count is None else (count,)


@follows("Size")
def _size(node: Operands, shape: Dims) -> Content:
    found = node.shape(0)
    return None if found is None else (dims.product(found),)


# --- parts


@follows("Gather", reads=(0, 1))
def _gather(node: Operands, shape: Dims) -> Content:
    data, indices = node.content(0), node.content(1)
    if data is None or not dims.are_sizes(indices) or len(node.shape(0) or ()) != 1:
        return None
    count = len(data)
    if not all(-count <= index < count for index in indices):
        return None
    return tuple([data[index] for index in indices])


@follows("Slice", reads=(0, 1, 2, 3, 4))
def _slice(node: Operands, shape: Dims) -> Content:
    data = node.content(0)
    steps: Content = (1,)
    if node.version < 10:
        starts, ends = node.integers("starts"), node.integers("ends")
    else:
        starts, ends = _integers(node, 1), _integers(node, 2)
        steps = node.content(4) if node.given(4) else steps
        if node.given(3) and node.content(3) not in ((0,), (-1,)):
            return None
    if data is None or not (dims.are_sizes(starts) and dims.are_sizes(ends) and dims.are_sizes(steps)):
        return None
    if not len(starts) == len(ends) == len(steps) == 1 or steps[0] == 0:
        return None
    count, (start,), (end,), (step,) = len(data), starts, ends, steps
    # As in Python, except for an end before the first element, which an index of -1 cannot express there.
    start = start + count if start < 0 else start
    end = end + count if end < 0 else end
    if step > 0:
        return data[max(start, 0) : max(end, 0) : step]
    return tuple([data[index] for index in range(min(max(start, -1), count - 1), max(end, -1), step)])


def _integers(node: Operands, index: int) -> tuple[int, ...] | None:
    content = node.content(index)
    return content if dims.are_sizes(content) else None


@follows("Concat", reads=tuple(range(64)))
def _concat(node: Operands, shape: Dims) -> Content:
    found: list[Dim | float] = []
    for index in range(node.count):
        content, own = node.content(index), node.shape(index)
        if content is None:
            if own is None or len(own) != 1 or not isinstance(own[0], int) or own[0] > _MOST_PASSED:
                return None
            content = (None,) * own[0]
        found += content
        if len(found) > _MOST_PASSED:
            return None
    return tuple(found)


@follows("Expand", reads=(0, 1))
def _expand(node: Operands, shape: Dims) -> Content:
    content = node.content(0)
    return _stretched(content, shape) if content is not None else None


@follows("ConstantOfShape", reads=(0,))
def _constant_of_shape(node: Operands, shape: Dims) -> Content:
    value = node.tensor("value")
    content = value.content if value is not None else None
    return _stretched(content, shape) if content else None


@follows("Range", reads=(0, 1, 2))
def _range(node: Operands, shape: Dims) -> Content:
    bounds = [node.scalar(index) for index in range(3)]
    if not all(isinstance(each, int) for each in bounds):
        return None
    start, limit, delta = (each for each in bounds if isinstance(each, int))
    return tuple(range(start, limit, delta)) if delta and len(range(start, limit, delta)) <= _MOST_COMPUTED else None


def _greatest(content: Dims) -> Dim:
    return max(content) if content and dims.are_sizes(content) else None


def _least(content: Dims) -> Dim:
    return min(content) if content and dims.are_sizes(content) else None


_REDUCED: Final[Mapping[str, Callable[[Dims], Dim]]] = {
    "ReduceMax": _greatest,
    "ReduceMin": _least,
    "ReduceProd": dims.product,
    "ReduceSum": dims.total,
}
"""The reductions of a list to one number."""


@follows(*_REDUCED, reads=(0,))
def _reduced(node: Operands, shape: Dims) -> Content:
    content = _dims(node.content(0))
    if content is None or len(node.shape(0) or ()) != 1 or shape not in ((), (1,)) or len(content) > _MOST_FACTORS:
        return None
    return (_REDUCED[node.operator](content),)


_MOST_FACTORS: Final = 64
"""The most numbers that are reduced to one; a longer list is not a shape."""


# --- element by element


def _stretched(content: tuple[Dim | float, ...], shape: Dims) -> Content:
    size = shape[0] if shape else 1
    if len(content) == size:
        return content
    return content * size if len(content) == 1 and isinstance(size, int) else None


def _dims(content: Content) -> Dims | None:
    """Return the content, if it has no floating-point numbers."""
    if content is None:
        return None
    kept = tuple([each for each in content if not isinstance(each, float)])
    return kept if len(kept) == len(content) else None


_MOST_COMPUTED: Final = 32
"""The most elements to compute, twice the number of dimensions of the widest shapes; more are only passed on.

Each takes 36 bytes. The estimate of memory has 2,000 bytes for a node, whatever its elements.
"""

_MOST_PASSED: Final = 128
"""The most elements to pass on in another order; each takes eight bytes."""


def _each(operation: Callable[..., Dim], node: Operands, shape: Dims) -> Content:
    operands: list[Dims] = []
    if shape and isinstance(shape[0], int) and shape[0] > _MOST_COMPUTED:
        return None
    for index in range(node.count):
        content = _dims(node.content(index))
        stretched = _stretched(content, shape) if content is not None else None
        kept = _dims(stretched)
        if kept is None:
            return None
        operands.append(kept)
    return tuple([_bounded(operation(*each)) for each in zip(*operands, strict=True)])


def _bounded(dim: Dim) -> Dim:
    return dim if not isinstance(dim, int) or -SIZE_LIMIT <= dim < SIZE_LIMIT else None


def _known(operation: Callable[..., int | None]) -> Callable[..., Dim]:
    """Return the operation, restricted to operands that are integers."""
    return lambda *operands: operation(*operands) if dims.are_sizes(operands) else None


def _add(one: Dim, other: Dim) -> Dim:
    return _unless_negative(dims.add(one, other))


def _subtract(one: Dim, other: Dim) -> Dim:
    return _unless_negative(dims.subtract(one, other)) if one is None or one != other else 0


def _unless_negative(dim: Dim) -> Dim:
    """Return the number, or None for an expression that may be negative: a size of -1 would mean something else."""
    return dim if isinstance(dim, int) or dims.is_natural(dim) else None


def _divide(one: Dim, other: Dim) -> Dim:
    if isinstance(one, int) and isinstance(other, int) and other:
        # Round towards zero, as in C.
        quotient = abs(one) // abs(other)
        return quotient if (one < 0) == (other < 0) else -quotient
    quotient_of_sizes = dims.divide(one, other)
    if quotient_of_sizes is not None or not (isinstance(one, str) and isinstance(other, int) and other > 0):
        return quotient_of_sizes
    return dims.divide_down(one, other)


def _modulo(one: int, other: int) -> int | None:
    return one % other if other and one >= 0 and other > 0 else None


def _equal(one: Dim, other: Dim) -> Dim:
    if isinstance(one, int) and isinstance(other, int):
        return int(one == other)
    if one is not None and one == other:
        return 1
    # A size is not negative, so a variable cannot equal a negative number.
    is_negative = (isinstance(one, int) and one < 0) or (isinstance(other, int) and other < 0)
    return 0 if is_negative and isinstance(one, str) != isinstance(other, str) else None


def _choose(condition: Dim, one: Dim, other: Dim) -> Dim:
    if isinstance(condition, int):
        return one if condition else other
    return one if one == other else None


_BY_ELEMENT: Final[Mapping[str, tuple[int, Callable[..., Dim]]]] = {
    "Add": (2, _add),
    "Sub": (2, _subtract),
    "Mul": (2, dims.multiply),
    "Div": (2, _divide),
    "Mod": (2, _known(_modulo)),
    # With one operand the functions themselves would treat it as a list.
    "Max": (8, _known(lambda *operands: max(operands))),
    "Min": (8, _known(lambda *operands: min(operands))),
    "Neg": (1, _known(lambda one: -one)),
    "Abs": (1, _known(abs)),
    "Equal": (2, _equal),
    "Greater": (2, _known(lambda one, other: int(one > other))),
    "GreaterOrEqual": (2, _known(lambda one, other: int(one >= other))),
    "Less": (2, _known(lambda one, other: int(one < other))),
    "LessOrEqual": (2, _known(lambda one, other: int(one <= other))),
    "And": (2, _known(lambda one, other: int(bool(one and other)))),
    "Or": (2, _known(lambda one, other: int(bool(one or other)))),
    "Not": (1, _known(lambda one: int(not one))),
    "Where": (3, _choose),
}
"""For each operator its greatest number of inputs, and the operation on one element of each."""


def _by_element(operation: Callable[..., Dim]) -> Follow:
    return lambda node, shape: _each(operation, node, shape)


for _name, (_count, _operation) in _BY_ELEMENT.items():
    follows(_name, reads=tuple(range(_count)))(_by_element(_operation))
