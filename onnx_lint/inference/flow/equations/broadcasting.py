# SPDX-License-Identifier: Apache-2.0
"""Finds the operands that do not broadcast with the sizes that equations give their variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.equations.contradiction import Contradiction
from onnx_lint.inference.flow.equations.equation import DimensionEquation, united
from onnx_lint.inference.flow.equations.origins import BroadcastOperand
from onnx_lint.inference.flow.equations.solving import Solution
from onnx_lint.inference.flow.equations.sums import factors_of, number_of
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walks import WalkResult
from onnx_lint.inference.shapes.dims import Dims
from onnx_lint.inference.shapes.expression import variables_in
from onnx_lint.inference.shapes.fact import Facts
from onnx_lint.inference.shapes.rules.broadcasting import BROADCASTING
from onnx_lint.ir.graph import Node

_PRODUCTS: Final = ("MatMul", "MatMulInteger")
"""The operators that broadcast all axes but the last two."""

_FIRST_VERSIONS: Final = {**BROADCASTING, "Expand": 1, "PRelu": 7, **dict.fromkeys(_PRODUCTS, 1)}
"""The operators that broadcast operands in some way, each with the first version that does."""


class _KnownDimension(Record):
    """A dimension of an operand with a known size other than 1."""

    operand: int
    axis: int
    dim: int | str
    size: int
    because: tuple[DimensionEquation, ...]
    """The equations that imply the size."""


def operands_not_broadcast(flow: ValueFlow, walked: WalkResult, solution: Solution) -> Iterator[Contradiction]:
    """Yield the operands in a walk that do not broadcast with the sizes of their variables."""
    if not _may_have_sizes(walked, solution):
        return
    seen = set()
    for node in _broadcasting_nodes(flow, walked):
        shapes = _broadcast_shapes(node.op_type, flow.walks.inputs(walked, node.inputs))
        key = tuple(shapes.items())
        if key in seen:  # many nodes have the same ones
            continue
        seen.add(key)
        rank = max(map(len, shapes.values()), default=0)
        for axis_from_end in range(-rank, 0):
            yield from _clashes_at(axis_from_end, node, shapes, solution)


def _may_have_sizes(walked: WalkResult, solution: Solution) -> bool:
    """Return whether dimensions in a walk may have known sizes: those in a function come from its arguments."""
    if walked.call is None:
        return True
    dims = {dim for each in walked.call.arguments for dim in each.shape or () if isinstance(dim, str)}
    names = {name for dim in dims for name in variables_in(dim)}
    return any(isinstance(solution.values.value(name).value, int) for name in names)


def _broadcasting_nodes(flow: ValueFlow, walked: WalkResult) -> Iterator[Node]:
    first_walk = flow.walks.of(walked.graph, None) or walked  # a later one keeps fewer memos, of the same operators
    for node in walked.graph.nodes:
        first_version = _FIRST_VERSIONS.get(node.op_type)
        operator = first_walk.memos[node.form].operator
        if first_version is None or operator is None or operator.schema.domain:
            continue
        if operator.schema.since_version >= first_version:
            yield node


def _broadcast_shapes(op_type: str, facts: Facts) -> Mapping[int, Dims]:
    """Return the shapes that a node broadcasts, by the index of the input."""
    shapes = {index: each.shape for index, each in enumerate(facts) if each.shape is not None}
    if op_type in _PRODUCTS:
        return {index: shape[:-2] for index, shape in shapes.items()}
    if op_type != "Expand":
        return shapes
    content = facts[1].content if len(facts) > 1 else None
    target = tuple([dim if isinstance(dim, int | str) else None for dim in content or ()])
    return {1: target, **{index: shape for index, shape in shapes.items() if index == 0}}


def _clashes_at(
    axis_from_end: int, node: Node, shapes: Mapping[int, Dims], solution: Solution
) -> Iterator[Contradiction]:
    """Yield the operands whose size at an axis is known, and is not that of the first one, or 1."""
    aligned = [(index, shape) for index, shape in shapes.items() if len(shape) >= -axis_from_end]
    if not any(isinstance(shape[axis_from_end], str) for _, shape in aligned):
        return
    known = [
        found
        for index, shape in aligned
        if (found := _known_dimension(index, shape, axis_from_end, solution)) is not None
    ]
    for other in known[1:]:
        first = known[0]
        names = {*factors_of(first.dim), *factors_of(other.dim)}
        if other.size == first.size or not names.isdisjoint(solution.reported):
            continue
        solution.reported |= names
        origin = BroadcastOperand(node=node, axis=other.axis, call=None, index=other.operand)
        yield Contradiction(DimensionEquation(other.dim, first.dim, origin), united(first.because, other.because))


def _known_dimension(operand: int, shape: Dims, axis_from_end: int, solution: Solution) -> _KnownDimension | None:
    """Return the dimension of an operand at an axis; None if its size is 1 or unknown."""
    dim = shape[axis_from_end]
    if dim is None:
        return None
    found = solution.values.inserted(dim)
    size = number_of(found.terms)
    if size is None or size == 1:
        return None
    axis = len(shape) + axis_from_end
    return _KnownDimension(operand, axis, dim=dim, size=size, because=found.because)
