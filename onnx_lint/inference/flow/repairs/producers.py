# SPDX-License-Identifier: Apache-2.0
"""Changes of the node that produces an input of a wrong size: a Reshape or a Concat."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.repairs.change import Change, describe_input
from onnx_lint.inference.flow.repairs.edits import with_attributes, with_list
from onnx_lint.inference.flow.repairs.lists import with_element
from onnx_lint.inference.shapes.dims import Dims
from onnx_lint.inference.shapes.expression import factor_of_dividend
from onnx_lint.inference.shapes.fact import Fact, fact
from onnx_lint.inference.shapes.operands import Operands
from onnx_lint.inference.shapes.problem import InputDimension, NotBroadcast, PlainProblem, Unequal
from onnx_lint.inference.shapes.stated import content_of
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.wording import describe_list

if TYPE_CHECKING:
    from onnx_lint.schema import Proto


class _WantedSize(Record):
    """A dimension of an input, and the size with which it would fit."""

    dimension: InputDimension
    size: int


class _WrongSize(Record):
    """A dimension of an input that another size would fit, and the node that produces the input."""

    dimension: InputDimension
    wanted: int
    given: Fact
    """The fact of the input, with a shape."""
    producer: Node

    @property
    def shape(self) -> Dims:
        """The shape of the input."""
        return self.given.shape or ()


def changes_of_producers(node: Node, operands: Operands, problem: PlainProblem) -> Iterator[Change]:
    """Yield changes of the nodes that produce the inputs of the wrong size."""
    for wanted in _wanted_sizes(problem):
        definition = node.graph.definition_of(node.inputs[wanted.dimension.operand])
        producer = None if definition is None else definition.node
        given = operands.fact(wanted.dimension.operand)
        if producer is None or producer.domain or given.shape is None:
            continue
        wrong = _WrongSize(wanted.dimension, wanted.size, given=given, producer=producer)
        if producer.op_type == "Reshape":
            yield from _size_of_reshape(wrong)
        elif producer.op_type == "Concat":
            yield from _axis_of_concat(wrong)


def _wanted_sizes(problem: PlainProblem) -> list[_WantedSize]:
    """Return both dimensions of a problem that should be equal, each with the size of the other one."""
    if isinstance(problem, NotBroadcast):
        return [_WantedSize(problem.one, problem.other.size), _WantedSize(problem.other, problem.one.size)]
    if isinstance(problem, Unequal) and isinstance(problem.by, InputDimension):
        return [_WantedSize(problem.place, problem.expected), _WantedSize(problem.by, problem.place.size)]
    return []


def _axis_of_concat(wrong: _WrongSize) -> Iterator[Change]:
    """Yield the other axis of a Concat of equal parts with which a dimension has the wanted size."""
    producer, dims, axis = wrong.producer, list(wrong.shape), wrong.dimension.axis
    count = len(producer.inputs)
    given = next((each.i for each in producer.attribute_protos if each.name == "axis"), 0)
    before = given + len(dims) if given < 0 else given
    if before >= len(dims) or before == axis or wrong.dimension.size * count != wrong.wanted:
        return
    joined = dims[before]
    dims[before] = joined // count if isinstance(joined, int) and joined % count == 0 else None
    dims[axis] = wrong.wanted
    yield Change(
        f"axis={axis} of {producer.describe()}",
        lambda _: with_attributes(producer, {"axis": axis}),
        inputs={wrong.dimension.operand: fact(wrong.given.kind, tuple(dims))},
        must_add_no_finding=True,
    )


def _size_of_reshape(wrong: _WrongSize) -> Iterator[Change]:
    """Yield the other size that a Reshape needs, if it gives each sample one row, and the given size does not.

    A shape such as `((72*N)//64, 64)` shows that: the Reshape to [-1, 64] gets 72 * N elements. It must keep N: with
    [-1, 36] each sample would become two.
    """
    producer, shape, axis = wrong.producer, wrong.shape, wrong.dimension.axis
    content = _constant_list(producer.graph, producer.inputs[1]) if len(producer.inputs) > 1 else ()
    if len(content) != len(shape) or content[axis] != wrong.dimension.size or content.count(-1) != 1:
        return
    computed = shape[content.index(-1)]
    elements_of_sample = factor_of_dividend(computed) if isinstance(computed, str) else None
    sizes = with_element(content, axis, wrong.wanted)
    if elements_of_sample == prod(each for each in sizes if each > 0):
        made = tuple([None if size < 1 else size for size in sizes])
        yield Change(
            f"{describe_list(sizes)} as {describe_input(producer, 1)} of {producer.describe()}",
            lambda _: with_list(producer, 1, sizes),
            inputs={wrong.dimension.operand: fact(wrong.given.kind, made)},
            must_add_no_finding=True,
        )


def _constant_list(graph: Graph, name: str) -> tuple[int, ...]:
    """Return the integers of a small initializer or Constant; none for any other value."""
    proto = _stored_tensor(graph, name)
    content = () if proto is None else content_of(proto, tuple(proto.dims)) or ()
    integers = tuple([each for each in content if isinstance(each, int)])
    return integers if len(integers) == len(content) else ()


def _stored_tensor(graph: Graph, name: str) -> Proto | None:
    definition = graph.definition_of(name)
    if definition is None:
        return None
    if definition.field == "initializer":
        return definition.graph.message_at("initializer", definition.index)
    if definition.node is None or definition.node.op_type != "Constant":
        return None
    return next((each.t for each in definition.node.attribute_protos if each.name == "value"), None)
