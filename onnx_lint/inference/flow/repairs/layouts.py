# SPDX-License-Identifier: Apache-2.0
"""The inputs in another layout: with their axes in another order, flat, or with axes of size 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.inference.flow.repairs.change import Change, describe_input
from onnx_lint.inference.flow.repairs.edits import flattened, transposed, unsqueezed
from onnx_lint.inference.shapes.dims import Dims
from onnx_lint.inference.shapes.fact import fact
from onnx_lint.inference.shapes.operands import Operands
from onnx_lint.inference.shapes.problem import NotBroadcast, PlainProblem, WrongRank
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.ir.names.meant_values import is_weight

_LEAST_RANK_WITH_CHANNELS: Final = 3

_ELEMENTWISE: Final = frozenset(
    {"Add", "Cast", "Clip", "DequantizeLinear", "Div", "Identity", "Mul", "QuantizeLinear", "Relu", "Sub"}
)
"""The operators between an input of a graph and its first layer, which keep its order."""

_MAX_ELEMENTWISE: Final = 8
"""The most such nodes in a row."""


def layout_changes(node: Node, operands: Operands) -> Iterator[Change]:
    """Yield the changes of the layouts that the inputs of the operator often have in other frameworks."""
    for order in _AXIS_ORDERS.get(operands.operator, ()):
        shape = operands.fact(order.index).shape
        if shape is not None and len(shape) >= order.least_rank and order.is_likely(node, shape):
            change = _transposed(node, operands, order.index, order.permutation(len(shape)))
            yield replace(change, must_add_no_finding=order.must_add_no_finding)
    shape = operands.fact(0).shape
    if operands.operator in _TAKES_FLAT and shape is not None and len(shape) >= _LEAST_RANK_WITH_CHANNELS:
        yield _flattened(node, operands, shape)


def changes_with_axes(node: Node, operands: Operands, problem: PlainProblem) -> Iterator[Change]:
    """Yield an input with further axes of size 1, if it does not broadcast or has a dimension less than it must."""
    if isinstance(problem, NotBroadcast):
        yield from _with_trailing_axes(node, operands, (problem.one.operand, problem.other.operand))
    if isinstance(problem, WrongRank) and problem.rank + 1 == problem.least:
        yield from _with_one_axis(node, operands, problem.operand)


class _AxisOrder(Record):
    """Another order of the axes of an input, to try if it is likely."""

    index: int
    """The index of the input."""
    least_rank: int
    permutation: Callable[[int], list[int]]
    """Returns the order for a rank."""
    is_likely: Callable[[Node, Dims], bool] = lambda node, shape: True
    must_add_no_finding: bool = False


def _last_two_exchanged(rank: int) -> list[int]:
    return [*range(rank - 2), rank - 1, rank - 2]


def _channels_second(rank: int) -> list[int]:
    return [0, rank - 1, *range(1, rank - 1)]


def _first_two_exchanged(rank: int) -> list[int]:
    return [1, 0, *range(2, rank)]


def _filters_of_tensorflow(rank: int) -> list[int]:
    """Return the order that filters of TensorFlow need: theirs have the channels last."""
    return [rank - 1, rank - 2, *range(rank - 2)]


def _are_channels_last(node: Node, shape: Dims) -> bool:
    """Return whether the last axis of an input may have the channels: no other axis but axis 1 has the same size."""
    return shape[-1] not in shape[2:-1] and _is_of_input(node.graph, node.inputs[0])


def _is_of_input(graph: Graph, name: str) -> bool:
    """Return whether a value is an input of its graph, or computed from one by elementwise nodes."""
    for _ in range(_MAX_ELEMENTWISE):
        definition = graph.definition_of(name)
        if definition is None:
            return False
        node = definition.node
        if node is None:
            return definition.field == "input"
        computed = [each for each in node.inputs if each and not is_weight(each, node.graph)]
        if node.op_type not in _ELEMENTWISE or len(computed) != 1:
            return False
        name, graph = computed[0], node.graph
    return False


_MATRICES: Final = (
    _AxisOrder(index=0, least_rank=2, permutation=_last_two_exchanged),
    _AxisOrder(index=1, least_rank=2, permutation=_last_two_exchanged),
)

_IMAGES: Final = _AxisOrder(
    index=0,
    least_rank=_LEAST_RANK_WITH_CHANNELS,
    permutation=_channels_second,
    is_likely=_are_channels_last,
    must_add_no_finding=True,
)
"""Channels at axis 1, which other frameworks have last."""

_FILTERS: Final = (
    # Pruned weights may have such sizes as well.
    _AxisOrder(
        index=1,
        least_rank=_LEAST_RANK_WITH_CHANNELS,
        permutation=_first_two_exchanged,
        must_add_no_finding=True,
    ),
    _AxisOrder(index=1, least_rank=_LEAST_RANK_WITH_CHANNELS, permutation=_filters_of_tensorflow),
)
"""The two axes of channels in the weights, which other operators and frameworks have in another order."""

_AXIS_ORDERS: Final = {
    "BatchNormalization": (_IMAGES,),
    "Conv": (_IMAGES, *_FILTERS),
    "ConvTranspose": (_IMAGES, *_FILTERS),
    "InstanceNormalization": (_IMAGES,),
    "MatMul": _MATRICES,
    "MatMulInteger": _MATRICES,
}
"""The orders of axes to try, by operator."""

_TAKES_FLAT: Final = frozenset({"Gemm", "MatMul"})
"""The operators of layers whose input 0 may lack a Flatten."""


def _transposed(node: Node, operands: Operands, index: int, perm: Sequence[int]) -> Change:
    given = operands.fact(index)
    shape = given.shape or ()
    return Change(
        f"a Transpose of {describe_input(node, index)} with perm={perm}",
        lambda _: transposed(node, index, perm),
        inputs={index: fact(given.kind, tuple([shape[axis] for axis in perm]))},
    )


def _flattened(node: Node, operands: Operands, shape: Dims) -> Change:
    sizes = [dim for dim in shape[1:] if isinstance(dim, int)]
    columns = prod(sizes) if len(sizes) == len(shape) - 1 else None
    made = fact(operands.fact(0).kind, (shape[0], columns))
    return Change(f"a Flatten of {describe_input(node, 0)}", lambda _: flattened(node, 0), inputs={0: made})


def _with_trailing_axes(node: Node, operands: Operands, indices: tuple[int, int]) -> Iterator[Change]:
    """Yield the input of fewer dimensions with trailing axes of 1, as a number for each channel needs them."""
    fewer, most = sorted(indices, key=lambda index: len(operands.fact(index).shape or ()))
    shape, other = operands.fact(fewer).shape, operands.fact(most).shape
    if not shape or not other:
        return
    for count in _counts_of_trailing_axes(shape, other):
        yield _unsqueezed(node, operands, fewer, [*range(len(shape), len(shape) + count)])


def _counts_of_trailing_axes(shape: Dims, other: Dims) -> Sequence[int]:
    """Return how many axes to add to a shape that is broadcast with another one.

    A vector must get to axis 1, and no other axis may have as many elements: it would not be known which it is for.
    """
    if len(shape) > 1 or len(other) < _LEAST_RANK_WITH_CHANNELS:
        return range(1, len(other) - len(shape) + 1)
    return [len(other) - 2] if other.count(shape[0]) == 1 else []


def _with_one_axis(node: Node, operands: Operands, index: int) -> Iterator[Change]:
    for axis in range(len(operands.fact(index).shape or ()) + 1):
        yield _unsqueezed(node, operands, index, [axis], must_add_no_finding=True)


def _unsqueezed(
    node: Node, operands: Operands, index: int, axes: Sequence[int], *, must_add_no_finding: bool = False
) -> Change:
    given = operands.fact(index)
    dims = list(given.shape or ())
    for axis in axes:
        dims.insert(axis, 1)
    return Change(
        f"an Unsqueeze (axes={[*axes]}) of {describe_input(node, index)}",
        lambda operators: unsqueezed(node, index, axes, operators),
        inputs={index: fact(given.kind, tuple(dims))},
        must_add_no_finding=must_add_no_finding,
    )
