# SPDX-License-Identifier: Apache-2.0
"""Operators that put tensors together along an axis, or take one apart."""

from __future__ import annotations

from collections.abc import Iterable

from onnx_lint.inference.shapes.dims import (
    Dim,
    Dims,
    add,
    are_sizes,
    at_least,
    divide,
    divide_down,
    is_positive,
    multiply,
    subtract,
    total,
)
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, Indivisible, NumberSource, Unequal, Warned, WrongRank
from onnx_lint.inference.shapes.registration import register_rule
from onnx_lint.wording import counted


@register_rule("Concat")
def concat(node: Operands) -> Outputs:
    """Infer the shape of the concatenation of all inputs."""
    return concatenated(node, range(node.count))


def concatenated(node: Operands, operands: range) -> Outputs:
    """Return the concatenation of operands: the sizes along the axis are added, all others agree."""
    known, empty = _known_and_empty(node, operands)
    # Runtimes leave out an empty operand, such as the past of a first step, so all others decide.
    first, *others = [index for index in known if index not in empty] or known or [-1]
    shape = node.shape(first, at_least=1) if known else None
    if shape is None:
        return UNKNOWN
    # Version 1 has the axis 1 unless it says another one.
    axis = node.axis(node.integer("axis", 1), len(shape), "axis")
    if axis is None:
        return UNKNOWN
    joined = _Joined(node, axis, first, shape)
    for index in others:
        joined.compare(index)
    is_certain = len(known) == len(operands) or not empty
    sizes: list[Dim] = joined.sizes() if is_certain else [None] * len(shape)
    if first not in empty:
        for index in empty:
            joined.compare_empty(index)
    along = [joined.shapes[index][axis] if index in joined.shapes else None for index in operands]
    sizes[axis] = total(along)
    return [tuple(sizes)]


def _known_and_empty(node: Operands, operands: range) -> tuple[list[int], list[int]]:
    """Return the operands of known shapes, and those of them that have a dimension of 0."""
    shapes = [(index, node.fact(index).shape) for index in operands]
    known = [index for index, shape in shapes if shape is not None]
    return known, [index for index, shape in shapes if shape is not None and 0 in shape]


class _Joined:
    """The operands of a concatenation that were compared with each other."""

    def __init__(self, node: Operands, axis: int, first: int, shape: Dims) -> None:
        self._node = node
        self._axis = axis
        self._first = first
        self.shapes: dict[int, Dims] = {first: shape}
        """The shapes of the operands that have the rank of the first one."""
        self._expected: list[Dim] = list(shape)
        """The dimensions that all operands must have, apart from the axis."""
        self._known_by = [first] * len(shape)
        """For each axis the operand that determines its size."""

    def compare(self, index: int) -> None:
        """Record where an operand does not fit the others."""
        node, expected, known_by = self._node, self._expected, self._known_by
        shape = node.shape(index, len(expected), like=self._first)
        if shape is None:
            return
        self.shapes[index] = shape
        for axis, size in enumerate(shape):
            if axis != self._axis:
                by = node.place(known_by[axis], axis)
                expected[axis] = node.same((index, axis), expected[axis], by)
                if isinstance(size, int) and by is None:
                    known_by[axis] = index

    def compare_empty(self, index: int) -> None:
        """Record as a warning where an empty operand does not fit the others."""
        problems = self._node.problems
        count = len(problems)
        self.compare(index)
        for each in problems[count:]:
            if isinstance(each, Unequal | WrongRank):  # a variable of two sizes is none here
                self._node.warnings.append(Warned(each, _LEFT_OUT, is_error_at_load=True))
        del problems[count:]

    def sizes(self) -> list[Dim]:
        """Return the sizes of the result. An operand with a computed size that may be 0 may be left out."""
        shapes = list(dict.fromkeys(self.shapes.values()))
        sure = [shape for shape in shapes if all(dim is None or is_positive(dim) for dim in shape)]
        rows = zip(*(sure or shapes), strict=True)
        if not sure:
            return [dims[0] if len(set(dims)) == 1 else None for dims in rows]
        return [_known_size(dims, self._expected[axis]) for axis, dims in enumerate(rows)]


def _known_size(dims: Iterable[Dim], otherwise: Dim) -> Dim:
    """Return the first size of dimensions that must be equal, else the first variable, else `otherwise`."""
    known: list[Dim] = [dim for dim in dims if dim is not None] or [otherwise]
    return next((dim for dim in known if isinstance(dim, int)), known[0])


_LEFT_OUT = "; ONNX Runtime leaves out an empty operand"


@register_rule("Split", reads=(1,))
def split(node: Operands) -> Outputs:
    """Infer parts of the given sizes, or equal ones; from version 18 on the last may be smaller."""
    shape = node.shape(0, at_least=1)
    if shape is None:
        _parts(node, None, 0)  # the numbers of parts and outputs are compared all the same
        return UNKNOWN
    axis = node.axis(node.integer("axis", 0), len(shape), "axis")
    if axis is None:
        return UNKNOWN
    count = node.output_count
    parts = _parts(node, shape[axis], axis)
    if parts is None:
        return [(*shape[:axis], None, *shape[axis + 1 :])] * count
    return [(*shape[:axis], part, *shape[axis + 1 :]) for part in parts]


def _parts(node: Operands, size: Dim, axis: int) -> tuple[Dim, ...] | None:
    """Return the size of each output along the axis; None if it is unknown, or wrong, which is recorded."""
    count = node.output_count
    stated = node.integer("num_outputs", count)
    if stated != count:
        reason = f"it must be {count}, since the node has {counted(count, 'output')}"
        node.wrong_value("num_outputs", stated, reason, allowed=str(count))
        return None
    by_input = node.given(1)
    listed = node.integers_in(1) if by_input else node.integers("split")
    source: NumberSource = 1 if by_input else "split"
    if by_input and listed is None:
        return None
    # Exporters write an empty list instead of leaving it out.
    if listed:
        return _listed_parts(node, source, listed, size, axis)
    if isinstance(size, int) and count:
        return _equal_parts(node, size, axis)
    return _variable_parts(node, size, count)


def _listed_parts(
    node: Operands, source: NumberSource, listed: tuple[Dim, ...], size: Dim, axis: int
) -> tuple[Dim, ...] | None:
    """Return the sizes that an input or attribute lists; None if they are wrong, which is recorded."""
    if not node.has_count(source, len(listed), node.output_count) or not node.at_least(0, listed, source):
        return None
    if are_sizes(listed) and isinstance(size, int) and sum(listed) != size:
        reason = f"dimension {axis} of input 0 is {size}, but the sum is {sum(listed)}"
        node.wrong_value(source, listed, reason, allowed=f"sizes with the sum {size}", about_data=True)
        return None
    if are_sizes(listed):
        node.narrow((0, axis), size, sum(listed))
    return listed


def _equal_parts(node: Operands, size: int, axis: int) -> tuple[Dim, ...] | None:
    """Return the sizes of equal parts, of which the last may be smaller in new versions; None if that is impossible."""
    count = node.output_count
    if node.version < _UNEVEN:
        if size % count:
            place = node.place(0, axis) or Element("axis", axis)
            node.problems.append(Indivisible(place, count, why="the number of outputs"))
            return None
        return (size // count,) * count
    each = -(-size // count)
    rest = size - each * (count - 1)
    # 5 in 4 parts of 2 leaves -1 for the last part: no text defines what it is then, but a node test case has it.
    return (each,) * (count - 1) + (rest,) if rest >= 0 else None


def _variable_parts(node: Operands, size: Dim, count: int) -> tuple[Dim, ...] | None:
    """Return the equal parts of a dimension of variable size; in new versions the last one may be smaller."""
    equal = divide(size, count) if count else None
    if equal is not None or not isinstance(size, str) or not count:
        return None if equal is None else (equal,) * count
    if node.version < _UNEVEN:
        return (divide_down(size, count),) * count
    if count == _HALVES:
        half = divide_down(size, count)
        return (subtract(size, half), half)
    each = divide_down(add(size, count - 1), count)
    return (*(each,) * (count - 1), at_least(subtract(size, multiply(each, count - 1)), 0))


_HALVES = 2

_UNEVEN = 18
"""The first version that allows the last part to be smaller."""
