# SPDX-License-Identifier: Apache-2.0
"""The numbers of attributes that exporters get wrong, and those to try instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import starmap
from typing import Final

from onnx_lint.common.record import EMPTY
from onnx_lint.inference.flow.joining import shapes_contradict
from onnx_lint.inference.flow.repairs.change import AttributeNumber, Change, change_of_attributes
from onnx_lint.inference.shapes.dims import Dims, are_sizes
from onnx_lint.inference.shapes.operands import Operands
from onnx_lint.inference.shapes.problem import AxisOutOfRange, Element, Indivisible, PlainProblem
from onnx_lint.inference.shapes.stated import fact_of_type
from onnx_lint.ir.graph import Node
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.operators.attribute_values import RUNTIME_DOMAIN

TriedNumbers = Callable[[Operands], Iterable[AttributeNumber]]
"""Returns the numbers to try for an attribute of a node."""

_MAX_DISTANCE: Final = 9
"""How far a divisor may be from the number of the attribute."""

_MAX_SCAN_INPUTS: Final = 20

_LEAST_RANK_OF_IMAGES: Final = 4


def attribute_changes(node: Node, operands: Operands, problem: PlainProblem) -> Iterator[Change]:
    """Yield the changes of attributes to try for a problem of a node."""
    yield from changes_to_other_numbers(node, operands)
    if isinstance(problem, AxisOutOfRange):
        yield from _axes_in_range(node, problem)
    if operands.operator == "Scan":
        yield from _counts_of_scan_inputs(node, operands)
    if isinstance(problem, Indivisible):
        yield from _divisors(node, operands, problem)
    if "broadcast" in operands.schema.attributes:
        for axis in range(_rank(operands, 0) - _rank(operands, 1) + 1):
            yield change_of_attributes(node, {"broadcast": 1, "axis": axis})


def changes_to_other_numbers(node: Node, operands: Operands) -> Iterator[Change]:
    """Yield the usual numbers of attributes that the node does not have."""
    for name, numbers in _tried_numbers(operands.schema).items():
        if name not in operands.schema.attributes:
            continue
        given = operands.integer(name, 0)
        for number in numbers(operands):
            if number != given:
                yield change_of_attributes(node, {name: number})


def changes_of_missing_attribute(node: Node, operands: Operands, name: str) -> Iterator[Change]:
    """Yield the numbers to try for an attribute that the node lacks, its default first; none for most attributes."""
    numbers = _tried_numbers(operands.schema).get(name)
    if numbers is not None:
        for number in (operands.integer(name, 0), *numbers(operands)):
            yield change_of_attributes(node, {name: number})


def change_of_permutation(node: Node, operands: Operands, shape: Dims) -> Iterator[Change]:
    """Yield the order of the axes of a Transpose that makes a shape, if no two of its dimensions are equal."""
    given = operands.fact(0).shape
    if operands.operator != "Transpose" or given is None or None in given or len(set(given)) < len(given):
        return
    if len(shape) == len(given) and all(dim in given for dim in shape):
        yield change_of_attributes(node, {"perm": tuple([given.index(dim) for dim in shape])})


def _rank(operands: Operands, index: int) -> int:
    """Return the rank of an input; 0 if it is unknown, so that no axes of it are tried."""
    return len(operands.fact(index).shape or ())


def _zero_and_one(_: Operands) -> Iterable[int]:
    return 0, 1


def _other_axes(operands: Operands) -> Iterable[int]:
    rank, given = _rank(operands, 0), operands.integer("axis", 0)
    return [axis for axis in range(rank) if given not in (axis, axis - rank)]


def _axes_of_channels(operands: Operands) -> Iterable[int]:
    """Return the other axes. Of images only those that may have the channels: parts of one height have one width."""
    rank = _rank(operands, 0)
    return [axis for axis in _other_axes(operands) if rank < _LEAST_RANK_OF_IMAGES or axis in (1, rank - 1)]


def _groups(operands: Operands) -> Iterable[int]:
    """Return the number of groups that fits the channels of the data and of the weights.

    An exporter that writes group=1 means it: weights with fewer channels are pruned ones, unless depthwise.
    """
    sizes = [size for index in (0, 1) for size in (operands.fact(index).shape or ())[1:2]]
    match sizes:
        case [int(channels), int(channels_of_group)] if channels_of_group:
            is_meant = operands.has("group") and operands.integer("group") == 1
            return [] if is_meant and channels_of_group > 1 else [channels // channels_of_group]
    return []


def _block_sizes(_: Operands) -> Iterable[int]:
    return [2**power for power in range(4, 9)]


def _kernel_of(weights: int) -> TriedNumbers:
    """Return a function that returns the kernel shape of the weights, which are the input of that index."""

    def kernel_shapes(operands: Operands) -> Iterable[AttributeNumber]:
        kernel = (operands.fact(weights).shape or ())[2:]
        return [kernel] if kernel and are_sizes(kernel) else []

    return kernel_shapes


def _hidden_sizes(operands: Operands) -> Iterable[int]:
    """Return the size of the recurrence weights."""
    return [size for size in (operands.fact(2).shape or ())[2:] if isinstance(size, int)]


_NUMBERS: Final[Mapping[str, Mapping[str, TriedNumbers]]] = {
    "Concat": {"axis": _axes_of_channels},
    "Conv": {"group": _groups, "kernel_shape": _kernel_of(1)},
    "ConvInteger": {"kernel_shape": _kernel_of(1)},
    "ConvTranspose": {"kernel_shape": _kernel_of(1)},
    "DequantizeLinear": {"axis": _other_axes, "block_size": _block_sizes},
    "Gemm": {"transA": _zero_and_one, "transB": _zero_and_one},
    "GRU": {"hidden_size": _hidden_sizes, "layout": _zero_and_one},
    "LSTM": {"hidden_size": _hidden_sizes, "layout": _zero_and_one},
    "QLinearConv": {"kernel_shape": _kernel_of(3)},
    "QuantizeLinear": {"axis": _other_axes, "block_size": _block_sizes},
    "RNN": {"hidden_size": _hidden_sizes, "layout": _zero_and_one},
    "Split": {"num_outputs": lambda operands: [operands.output_count]},
}
"""The numbers of attributes that are tried, by operator of ONNX."""

_NUMBERS_OF_RUNTIME: Final[Mapping[str, TriedNumbers]] = {
    "block_size": _block_sizes,
    "group": _groups,
    "kernel_shape": _kernel_of(1),
    "transA": _zero_and_one,
    "transB": _zero_and_one,
}
"""The same of com.microsoft, whose operators have these attributes from those of ONNX that they extend."""


def _tried_numbers(schema: OperatorSchema) -> Mapping[str, TriedNumbers]:
    """Return the numbers that are tried for attributes of an operator."""
    own = _NUMBERS.get(schema.name, EMPTY)
    return _NUMBERS_OF_RUNTIME if schema.domain == RUNTIME_DOMAIN and not own else own


def _axes_in_range(node: Node, problem: AxisOutOfRange) -> Iterator[Change]:
    """Yield all axes for an attribute that is one axis."""
    if isinstance(problem.place.source, str) and problem.place.index is None:
        for axis in range(problem.rank):
            yield change_of_attributes(node, {problem.place.source: axis})


def _counts_of_scan_inputs(node: Node, operands: Operands) -> Iterator[Change]:
    """Yield the numbers of scan inputs with which all inputs have the shapes that the body declares for its own.

    The shape rule only compares the lengths of the scan inputs. Nothing is tried if attributes say their axes.
    """
    body = next((proto.g for proto in node.attribute_protos if proto.name == "body"), None)
    if body is None or operands.integers("scan_input_axes") or len(body.input) != len(operands.facts):
        return
    given = [each.shape for each in operands.facts]
    declared = [fact_of_type(each.type).shape for each in body.input]
    if None in declared:
        return
    for count in range(1, min(len(given), _MAX_SCAN_INPUTS) + 1):
        elements = [shape and shape[1:] for shape in given[-count:]]
        supplied = given[:-count] + elements
        if None not in supplied and not any(starmap(shapes_contradict, zip(supplied, declared, strict=True))):
            yield change_of_attributes(node, {"num_scan_inputs": count})


def _divisors(node: Node, operands: Operands, problem: Indivisible) -> Iterator[Change]:
    """Yield other values of the attribute that does not divide a dimension, the nearest first.

    Attributes with numbers of heads change together if they are equal.
    """
    by = problem.by
    if not isinstance(by, Element) or not isinstance(by.source, str) or not isinstance(by.value, int):
        return
    heads = [name for name in operands.schema.attributes if name.endswith("num_heads")]
    names = [name for name in heads if operands.integer(name) == by.value] if by.source in heads else [by.source]
    for distance in range(1, _MAX_DISTANCE + 1):
        for value in (by.value - distance, by.value + distance):
            if value > 1:
                yield change_of_attributes(node, dict.fromkeys(names, value), is_of_several=True)
