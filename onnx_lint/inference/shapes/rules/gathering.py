# SPDX-License-Identifier: Apache-2.0
"""Operators that take parts of a tensor by indices."""

from __future__ import annotations

from itertools import cycle

from onnx_lint.common.record import Record
from onnx_lint.inference.shapes.dims import Dim, Dims, add, at_least, at_most, divide_down, is_natural, sliced, subtract
from onnx_lint.inference.shapes.expression import is_part
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import InputDimension, NumberSource, Unequal
from onnx_lint.inference.shapes.registration import register_rule


@register_rule("Gather", reads=(1,))
def gather(node: Operands) -> Outputs:
    """Infer the shape of the data, with the shape of the indices in place of the axis."""
    data, indices = node.shape(0, at_least=1), node.shape(1)
    if data is None:
        return UNKNOWN
    axis = node.axis(node.integer("axis", 0), len(data), "axis")
    if axis is None:
        return UNKNOWN
    indices_within(node, [data[axis]])
    return UNKNOWN if indices is None else [data[:axis] + indices + data[axis + 1 :]]


def indices_within(node: Operands, sizes: Dims | list[Dim]) -> None:
    """Record constant indices in input 1 that are out of range. The indices refer to the axes of `sizes` in turn.

    Negative ones count from the end. Version 1 of Gather does not mention them, but consumers accept them.
    """
    wrong = [
        (place, index, size)
        for place, (index, size) in enumerate(zip(node.content(1) or (), cycle(sizes)))
        if isinstance(index, int) and isinstance(size, int) and not -size <= index < size
    ]
    if wrong:
        place, index, size = wrong[0]
        reason = f"there are {size} elements along the axis"
        allowed = f"{-size} to {size - 1}" if size else "no index"
        node.wrong_value(1, index, reason, index=place, allowed=allowed, about_data=True)
        node.also_wrong(1, (each[:2] for each in wrong[1:]))


@register_rule("GatherElements", reads=(1,))
def gather_elements(node: Operands) -> Outputs:
    """Infer the shape of the indices. Both inputs have the same rank."""
    data, indices = node.shape(0, at_least=1), node.shape(1)
    if data is not None:
        axis = node.axis(node.integer("axis", 0), len(data), "axis")
        if node.shape(1, len(data), like=0) is not None and axis is not None:
            indices_within(node, [data[axis]])
            index_dims_within(node, data, axis)
    return [indices]


def index_dims_within(node: Operands, data: Dims, axis: int) -> None:
    """Record a dimension of the indices in input 1, other than `axis`, that is larger than that of the data.

    In the equations of the operator, an index and its element have the same position along all axes except `axis`.
    """
    for place, size in enumerate(data):
        wanted = node.place(1, place)
        if place != axis and isinstance(wanted, InputDimension) and isinstance(size, int) and wanted.size > size:
            node.problems.append(Unequal(wanted, size, node.place(0, place), least=0))


@register_rule("GatherND", reads=(1,))
def gather_nd(node: Operands) -> Outputs:
    """Infer the selected data. The last dimension of the indices is the number of axes that each index selects."""
    data, indices = node.shape(0, at_least=1), node.shape(1, at_least=1)
    batch = node.integer("batch_dims", 0)
    if data is None or indices is None:
        return UNKNOWN
    least = min(len(data), len(indices))
    if not 0 <= batch < least:
        reason = f"the inputs share {least} dimensions, one is for the indices"
        node.wrong_value("batch_dims", batch, reason, allowed=f"0 to {least - 1}", about_data=True)
        return UNKNOWN
    for axis in range(batch):
        node.equal((0, axis), (1, axis))
    depth = indices[-1]
    if not isinstance(depth, int):
        return UNKNOWN
    if not depth and node.schema.domain:
        return [indices[:-1] + data[batch:]]
    if not 1 <= depth <= len(data) - batch:
        node.problems.append(Unequal(InputDimension(1, len(indices) - 1, depth), len(data) - batch, least=1))
        return UNKNOWN
    indices_within(node, data[batch : batch + depth])
    return [indices[:-1] + data[batch + depth :]]


@register_rule("Slice")
def slice_by_attributes(node: Operands) -> Outputs:
    """Infer the slice for starts, ends and axes in attributes, up to version 9. The step is 1."""
    shape = node.shape(0, at_least=1)
    starts, ends = node.integers("starts"), node.integers("ends")
    if shape is None or starts is None or ends is None:
        return UNKNOWN
    return _sliced(node, shape, _Slices(starts, ends, node.integers("axes"), None))


@register_rule("Slice:10", reads=(1, 2, 3, 4))
def slice_by_inputs(node: Operands) -> Outputs:
    """Infer the slice for starts, ends, axes and steps in inputs."""
    shape = node.shape(0, at_least=1)
    lists = [node.integers_in(index) for index in range(1, 5)]
    known = [(index, len(each)) for index, each in enumerate(lists, 1) if each is not None]
    for index, length in known[1:]:
        node.has_count(index, length, known[0][1], known[0][0])
    starts, ends, axes, steps = lists
    _check_steps(node, steps or (), 4)
    if shape is None or node.problems:
        return UNKNOWN
    if not known or (axes is None and node.given(3)):
        return [(None,) * len(shape)]
    unknown = (None,) * known[0][1]
    steps = unknown if steps is None and node.given(4) else steps
    return _sliced(node, shape, _Slices(starts or unknown, ends or unknown, axes, steps, (1, 2, 3, 4)))


def _check_steps(node: Operands, steps: Dims, source: int) -> None:
    for index, step in enumerate(steps):
        if step == 0:
            node.wrong_value(source, 0, "a step must not be 0", index=index, allowed="a number other than 0")


class _Slices(Record):
    """The bounds of a slice along some axes: by default along the first ones, with a step of 1."""

    starts: Dims
    ends: Dims
    axes: Dims | None
    steps: Dims | None
    sources: tuple[NumberSource, NumberSource, NumberSource, NumberSource] = ("starts", "ends", "axes", "steps")
    """The inputs or attributes of these lists."""


def _sliced(node: Operands, shape: Dims, slices: _Slices) -> Outputs:
    count, axes = len(slices.starts), slices.axes
    first, *others = slices.sources
    for source, listed in zip(others, (slices.ends, axes, slices.steps), strict=True):
        if listed is not None and not node.has_count(source, len(listed), count, first):
            return UNKNOWN
    steps = (1,) * count if slices.steps is None else slices.steps
    if axes is None and count > len(shape):
        node.has_count(first, count, len(shape), 0)
        return UNKNOWN
    places = tuple(range(count)) if axes is None else node.axes(axes, len(shape), slices.sources[2])
    if places is None or node.problems:
        return UNKNOWN if node.problems else [(None,) * len(shape)]
    found = list(shape)
    for axis, start, end, step in zip(places, slices.starts, slices.ends, steps, strict=True):
        found[axis] = _length(shape[axis], start, end, step)
    return [tuple(found)]


_TO_THE_END = 2**31 - 1
"""Exporters write this, or more, for "to the end"."""


def _length(size: Dim, start: Dim, end: Dim, step: Dim) -> Dim:
    """Return how many elements of a dimension are left."""
    if start == 0 and step == 1 and (end == size or (isinstance(end, int) and end >= _TO_THE_END)):
        return size
    if not (isinstance(size, int) and isinstance(start, int) and isinstance(end, int) and isinstance(step, int)):
        return 0 if size == 0 else _symbolic_length(size, start, end, step)
    if step < 0 and end >= _TO_THE_END:
        return None  # nothing by its description, but ONNX Runtime takes it for the end that is reached backwards
    return len(sliced(size, start, end, step))


def _symbolic_length(size: Dim, start: Dim, end: Dim, step: Dim) -> Dim:
    """Return how many elements of a dimension are left, if the difference of variables or sums is known."""
    if isinstance(size, str) and isinstance(start, int) and isinstance(end, int) and isinstance(step, int):
        return _numbered_length(size, start, end, step)
    if not isinstance(step, int) or step < 1:
        return None
    if isinstance(end, int) and end >= _TO_THE_END:
        end = size
    begin, after = _from_start(size, start), _from_start(size, end)
    if begin == 0 and isinstance(size, int) and size > 0 and isinstance(after, str):
        return _steps(at_most(after, size), step)
    return _steps(_length_inside(size, begin, after), step)


def _from_start(size: Dim, index: Dim) -> Dim:
    """Return an index counted from the start; a negative one counts from the end, clipped at the start."""
    return at_least(add(size, index), 0) if isinstance(index, int) and index < 0 else index


def _length_inside(size: Dim, begin: Dim, after: Dim) -> Dim:
    """Return the number of elements from the index `begin` to before the index `after`, clipped at the end.

    Neither index is negative.
    """
    if size is None or not is_natural(begin):
        return None
    if not _is_within(after, size):
        if not is_natural(after) or not is_natural(subtract(after, size)):
            return None
        after = size
    length = subtract(after, begin)
    # Nothing is left if `begin` is past the end, or past `after`.
    return length if after == size and _is_within(begin, size) else at_least(length, 0)


def _is_within(index: Dim, size: Dim) -> bool:
    """Return whether an index is known to be that of an element, or of the end."""
    is_same = index == size or (isinstance(index, str) and isinstance(size, str) and is_part(index, size))
    return is_same or (is_natural(index) and is_natural(subtract(size, index)))


def _numbered_length(size: str, start: int, end: int, step: int) -> Dim:
    """Return how many elements of a dimension of variable size are left between numbered places."""
    if step < 0:
        # The text moves a start before the first element onto it, so that one element is left of few.
        if end >= _TO_THE_END or start < -1:
            return None  # see `_length`
        if start == -1 and end < 0:
            return _steps(_before_the_end(size, end), -step)
        # Backwards from `start` to `end`, there are as many as forwards from after `end` to after `start`.
        return _steps(at_least(subtract(_clipped(size, start, 1), _clipped(size, end, 1)), 0), -step)
    if step > 1:
        return _steps(_numbered_length(size, start, end, 1), step)
    if start < 0 <= end < _TO_THE_END:
        return at_least(subtract(_clipped(size, end), _clipped(size, start)), 0)
    if end <= -_TO_THE_END or start >= _TO_THE_END:
        return 0
    is_at_end = end >= _TO_THE_END
    if start < 0:
        # As many as are counted from the end, or fewer.
        rest = at_least(add(size, end), 0)
        return at_most(size, -start) if is_at_end else at_most(rest, max(end - start, 0))
    rest = at_least(add(size, min(end, 0) - start), 0)
    return rest if is_at_end or end < 0 else at_most(rest, max(end - start, 0))


def _before_the_end(size: str, index: int) -> Dim:
    """Return how many elements follow an index that counts from the end."""
    return size if index <= -_TO_THE_END else at_most(size, -index - 1)


def _clipped(size: str, index: int, more: int = 0) -> Dim:
    """Return the place of an index, which may count from the end, and so many more; at most the size, at least 0."""
    if index >= _TO_THE_END:
        return size
    if index >= 0:
        return at_most(size, index + more)
    if index + more == 0:
        return size
    return at_least(add(size, index + more), 0) if index > -_TO_THE_END else 0


def _steps(size: Dim, step: int) -> Dim:
    """Return the number of elements that a slice with a step takes from so many."""
    return divide_down(add(size, step - 1), step)
