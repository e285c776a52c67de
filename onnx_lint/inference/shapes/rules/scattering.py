# SPDX-License-Identifier: Apache-2.0
"""Operators that write elements into a copy of a tensor, whose shape the result has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from onnx_lint.common.salted import salted_key
from onnx_lint.inference.shapes.dims import Dim, Dims, Shape, are_sizes
from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, InputDimension, Repeated, Unequal
from onnx_lint.inference.shapes.registration import register_rule
from onnx_lint.inference.shapes.rules.gathering import index_dims_within, indices_within


@register_rule("Scatter", "ScatterElements", reads=(1,))
def scatter_elements(node: Operands) -> Outputs:
    """Return the shape of the data. Record updates that are not one for each index, or another rank."""
    data, indices = node.shape(0, at_least=1), node.shape(1, at_least=1)
    updates = node.shape(2, at_least=1)
    if data is not None:
        axis = node.axis(node.integer("axis", 0), len(data), "axis")
        indices = node.shape(1, len(data), like=0) if indices is not None else None
        updates = node.shape(2, len(data), like=0) if updates is not None else None
        _check_updates(node, indices, updates)
        if indices is not None and axis is not None:
            index_dims_within(node, data, axis)
        if indices is not None and axis is not None and node.version >= _IN_BOUNDS:
            indices_within(node, [data[axis]])
            if node.operator == "ScatterElements" and node.version >= _DISTINCT_ELEMENTS:
                _check_distinct_places(node, _written_elements(node, indices, axis, data[axis]))
    elif indices is not None and updates is not None:
        _check_updates(node, indices, node.shape(2, len(indices), like=1))
    return [data]


def _check_updates(node: Operands, indices: Shape, updates: Shape) -> None:
    """Check that there is an update for each index."""
    if indices is not None and updates is not None:
        for axis in range(len(indices)):
            node.equal((1, axis), (2, axis))


_IN_BOUNDS = 11
"""The first version whose description says that an index out of bounds is an error."""


_DISTINCT_ELEMENTS = 16
"""The first version of ScatterElements whose text says that no element should be written twice."""


def _check_distinct_places(node: Operands, places: Iterator[tuple[int, tuple[int, ...]]], length: int = 1) -> None:
    """Record the first place that is written twice without a reduction.

    Each place comes with the index of its first element in input 1, and takes `length` elements there.
    """
    if node.problems or node.text("reduction", "none") != "none":
        return
    seen: dict[bytes, int] = {}
    for index, place in places:
        first = seen.setdefault(salted_key(place), index)
        if first != index:
            value = (node.content(1) or ())[index : index + length]
            node.warnings.append(Repeated(Element(1, value if length > 1 else value[0], index), first, is_taken=True))
            return


def _written_slices(node: Operands, sizes: Dims) -> Iterator[tuple[int, tuple[int, ...]]]:
    content = node.content(1)
    if not are_sizes(content) or not are_sizes(sizes):
        return
    depth = len(sizes)
    for begin in range(0, len(content), depth):
        row = zip(content[begin : begin + depth], sizes, strict=True)
        yield begin, tuple([index % size if size else index for index, size in row])


def _written_elements(node: Operands, shape: Dims, axis: int, size: Dim) -> Iterator[tuple[int, tuple[int, ...]]]:
    content = node.content(1)
    if not are_sizes(content) or not are_sizes(shape) or not isinstance(size, int) or not size:
        return
    for index, at in enumerate(product(*map(range, shape))):
        yield index, (*at[:axis], content[index] % size, *at[axis + 1 :])


@register_rule("ScatterND", reads=(1,))
def scatter_nd(node: Operands) -> Outputs:
    """Return the shape of the data. The last dimension of the indices is the number of axes that each index selects."""
    data, indices = node.shape(0, at_least=1), node.shape(1, at_least=1)
    updates = node.shape(2)
    if indices is None:
        return [data]
    outer = len(indices) - 1
    if data is None:
        if updates is not None and node.shape(2, at_least=outer, like=1) is not None:
            _check_first_dimensions(node, outer)
        return [data]
    depth = indices[-1]
    if not isinstance(depth, int):
        if updates is None or node.shape(2, at_least=outer, at_most=outer + len(data)) is None:
            return [data]
        depth = outer + len(data) - len(updates)  # each index selects the axes that an update does not have
    if depth > len(data):
        node.problems.append(Unequal(InputDimension(1, len(indices) - 1, depth), len(data), least=0))
        return [data]
    if depth:
        indices_within(node, data[:depth])
        _check_distinct_places(node, _written_slices(node, data[:depth]), depth)
    if updates is not None and node.shape(2, outer + len(data) - depth, like=1) is not None:
        _check_first_dimensions(node, outer)
        for axis in range(depth, len(data)):
            node.equal((0, axis), (2, outer + axis - depth))
    return [data]


def _check_first_dimensions(node: Operands, count: int) -> None:
    """Record updates whose first dimensions are not those of the indices."""
    for axis in range(count):
        node.equal((1, axis), (2, axis))


@register_rule("TensorScatter", reads=(2,))
def tensor_scatter(node: Operands) -> Outputs:
    """Return the shape of the cache. Record an update that differs from it along an axis other than the sequence."""
    cache, update = node.shape(0, at_least=2), node.shape(1, at_least=2)
    if update is not None and node.integer("axis", -2):
        node.equal((0, 0), (1, 0))
    if node.shape(2, 1) is not None:
        node.equal((0, 0), (2, 0))
    if cache is None:
        return [cache]
    axis = node.axis(node.integer("axis", -2), len(cache), "axis")
    if axis == 0:
        node.wrong_value("axis", node.integer("axis"), "axis 0 is the batch", allowed="another axis", about_data=True)
        return [cache]
    if axis is None or update is None or node.shape(1, len(cache), like=0) is None:
        return [cache]
    for place in range(1, len(cache)):
        if place != axis:
            node.equal((0, place), (1, place))
    most, length = cache[axis], update[axis]
    if isinstance(most, int) and isinstance(length, int):
        _fits_cache(node, axis, most, length)
    return [cache]


def _fits_cache(node: Operands, axis: int, most: int, length: int) -> None:
    """Record an update that is longer than the cache, or begins too late for it."""
    if length > most:
        node.problems.append(Unequal(InputDimension(0, axis, most), length, node.place(1, axis), or_more=True))
        return
    if node.text("mode", "linear") != "linear":
        return
    for place, begin in enumerate(node.content(2) or ()):
        if isinstance(begin, int) and begin + length > most:
            reason = f"{length} elements from there on do not fit into {most}"
            node.wrong_value(2, begin, reason, index=place, allowed=f"at most {most - length}", about_data=True)
