# SPDX-License-Identifier: Apache-2.0
"""The elements of small tensors, as `contents` follows them: what they are, and how they are chosen and broadcast.

An element is a number, Booleans being 0 and 1, a variable that represents a size, or None. What an integer type cannot
hold is None. Floating-point numbers are computed as IEEE 754 says: in 64 bits, then rounded to the element type, which
for the operations here is the same as rounding once. Infinities and what is not a number are None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from onnx_lint.inference.shapes import dims
from onnx_lint.inference.shapes.dims import Dim, Dims
from onnx_lint.inference.shapes.fact import Content
from onnx_lint.inference.shapes.operands import Operands

ElementValue = Dim | float

ContentFunction = Callable[[Operands, Dims], Content]
"""Returns the content of the first output, whose shape is known."""


ContentsFunction = Callable[[Operands, Sequence[Dims]], Sequence[Content]]
"""Returns the content of each output, whose shapes are known, from the first on."""


FORMATS: Final[Mapping[str, tuple[str, int]]] = {
    "tensor(float16)": ("e", 2**11),
    "tensor(float)": ("f", 2**24),
    "tensor(double)": ("d", 2**53),
}
"""The floating-point types whose contents are followed: the format, and N so that all integers up to N are exact."""


MAX_COMPUTED: Final = 32
"""The most elements to compute, twice the number of dimensions of the widest shapes; more are only passed on.

Each takes 36 bytes. The estimate of memory has 2,000 bytes for a node, whatever its elements.
"""

MAX_PASSED: Final = 128
"""The most elements to pass on in another order; each takes eight bytes. In the same order it is
`MAX_CONTENT_ELEMENTS`."""


def taken(
    content: tuple[ElementValue, ...], sizes: Sequence[int], picks: Iterable[tuple[int, Iterable[int]]]
) -> Content:
    """Return the elements of a tensor of these sizes at all combinations of indices.

    `picks`: for each axis of the result the axis of the tensor, and the indices along it.
    """
    strides = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    places = [0]
    for axis, indices in picks:
        places = [place + index * strides[axis] for place in places for index in indices]
    return tuple([content[place] for place in places])


def sizes_of(node: Operands, index: int = 0) -> tuple[int, ...] | None:
    """Return the sizes of an input whose content is known; None if there is no content."""
    shape = node.fact(index).shape
    return shape if node.content(index) is not None and dims.are_sizes(shape) else None


def joined(parts: Sequence[tuple[ElementValue, ...]], outer: int) -> tuple[ElementValue, ...]:
    """Return the elements of tensors that are joined along an axis.

    `outer`: the number of places along the axes before that one, at least 1.
    """
    found: list[ElementValue] = []
    for place in range(outer):
        for part in parts:
            size = len(part) // outer
            found += part[place * size : (place + 1) * size]
    return tuple(found)


def stretched(node: Operands, index: int, shape: Dims) -> Content:
    """Return the elements of an input that is broadcast to a shape."""
    content, own = node.content(index), node.fact(index).shape
    if content is None or own == shape or not dims.are_sizes(own) or not dims.are_sizes(shape):
        return content
    sizes = (1,) * (len(shape) - len(own)) + own
    rows = zip(sizes, shape, strict=True)
    return taken(content, sizes, [(axis, range(m) if n == m else [0] * m) for axis, (n, m) in enumerate(rows)])


def whole_numbers(elements: Iterable[ElementValue]) -> Dims | None:
    """Return the elements as sizes and variables; None if one is a number with a fraction."""
    found = tuple([int(each) if isinstance(each, float) and each.is_integer() else each for each in elements])
    kept = tuple([each for each in found if not isinstance(each, float)])
    return kept if len(kept) == len(found) else None


def multiplied(one: Dim, other: Dim) -> Dim:
    """Return the product of two elements; an unknown one may be infinite, so 0 times it is unknown."""
    return None if one is None or other is None else dims.multiply(one, other)
