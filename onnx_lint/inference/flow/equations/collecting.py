# SPDX-License-Identifier: Apache-2.0
"""Collects the equations between dimensions, from the nodes of each scope and the declarations of their outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.declared_facts import declared_values
from onnx_lint.inference.flow.equations.equation import DimensionEquation
from onnx_lint.inference.flow.equations.origins import (
    KINDS_OF_OPERANDS,
    ComparedOperand,
    ConcatOperand,
    DeclaredOutput,
    GemmRows,
    ReshapedOperand,
)
from onnx_lint.inference.flow.joining import joined_shapes
from onnx_lint.inference.flow.outcome_memo import NodeOutcome
from onnx_lint.inference.flow.scopes import Scopes, VariableScope
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walks import Call, WalkResult
from onnx_lint.inference.shapes.dims import Dims, is_natural, is_positive, product
from onnx_lint.inference.shapes.expression import variables_in
from onnx_lint.inference.shapes.fact import UNKNOWN, Fact, Facts, is_complete
from onnx_lint.ir.crashes import Crashes
from onnx_lint.ir.graph import Node

ACTIVITY: Final = "comparing dimension variables"
"""What a crash report says that onnx-lint was doing."""

_ROWS_OF_BIAS: Final = (2, -2)
"""The input and the axis of the rows in the bias of a Gemm."""


def scoped_equations(flow: ValueFlow, crashes: Crashes) -> Mapping[VariableScope, Sequence[DimensionEquation]]:
    """Return the equations of each scope, collected once; those of the main graph also if there are none."""
    known: Mapping[VariableScope, Sequence[DimensionEquation]] | None = flow.equations
    if known is None:
        found: dict[VariableScope, list[DimensionEquation]] = {(): []}
        scopes = Scopes(flow)
        for walked in flow.running:
            with crashes.at(ACTIVITY, walked.graph.place):
                equations = list(equations_in(flow, walked, crashes))
                for scope in scopes.of(walked.graph, walked.call) if walked.unequal else ():
                    found.setdefault(scope, []).extend(equations)
        flow.equations = known = found
    return known


class _InferredNode(Record):
    """A node with the facts of its inputs and outputs."""

    node: Node
    inputs: Facts
    outcome: NodeOutcome
    call: Call | None


def equations_in(flow: ValueFlow, walked: WalkResult, crashes: Crashes) -> Iterator[DimensionEquation]:
    """Yield the equations of a walked graph."""
    if not walked.unequal:
        return
    graph = walked.graph
    declarations = {} if graph.is_function else declared_values(graph)
    for index in sorted(set(walked.unequal)):
        node = graph.nodes[index]
        memo = walked.memos[node.form]
        if memo.operator is None or memo.operator.by_subgraphs:
            continue
        inputs = flow.walks.inputs(walked, node.inputs)
        with crashes.at(ACTIVITY, node):
            outcome = memo.outcomes.get(inputs) or memo.outcome(inputs)
            inferred = _InferredNode(node, inputs, outcome, walked.call)
            yield from _equations_of_declarations(inferred, declarations)
            yield from _EQUATIONS_BY_OPERATOR.get(node.op_type, _equations_of_operands)(inferred)


def _equations_of_declarations(inferred: _InferredNode, stated: Mapping[str, Fact]) -> Iterator[DimensionEquation]:
    node = inferred.node
    is_checked_reshape = node.op_type == "Reshape" and bool(inferred.inputs) and not inferred.outcome.shape_problems
    for name, produced in zip(node.outputs, inferred.outcome.outputs, strict=False):
        declared = stated.get(name, UNKNOWN)
        yield from _equations_of_declaration(node, name, produced, declared)
        if is_checked_reshape:
            yield from _equation_of_element_counts(node, name, inferred.inputs[0], produced, declared)


def _equations_of_declaration(node: Node, name: str, produced: Fact, declared: Fact) -> Iterator[DimensionEquation]:
    """Yield that the dimensions of an output are the declared ones, unless both are equal, unknown or sizes."""
    if produced.shape is None or declared.shape is None or len(produced.shape) != len(declared.shape):
        return
    for axis, (left, right) in enumerate(zip(declared.shape, produced.shape, strict=True)):
        if left is None or right is None or left == right:
            continue
        if isinstance(left, str) or isinstance(right, str):
            yield DimensionEquation(left, right, _declaration(node, name, axis))


def _equation_of_element_counts(
    node: Node, name: str, data: Fact, produced: Fact, declared: Fact
) -> Iterator[DimensionEquation]:
    """Yield that a Reshape to an unknown shape keeps the number of elements, if both numbers have a common variable."""
    shape, conflict = joined_shapes(produced.shape, declared.shape)
    if data.shape is None or shape is None or conflict or is_complete(produced):
        return
    left, right = product(shape), product(data.shape)
    if left is None or right is None or left == right:
        return
    if variables_in(left) & variables_in(right):
        yield DimensionEquation(left, right, _declaration(node, name, None))


def _declaration(node: Node, name: str, axis: int | None) -> DeclaredOutput:
    return DeclaredOutput(node=node, axis=axis, call=None, name=name)


def _equations_of_operands(inferred: _InferredNode) -> Iterator[DimensionEquation]:
    """Yield what a node requires of the dimensions of its operands."""
    node = inferred.node
    for (index, axis), left, right in inferred.outcome.equated:
        is_of_rows = node.op_type == "Gemm" and (index, axis) == _ROWS_OF_BIAS
        kind = GemmRows if is_of_rows else KINDS_OF_OPERANDS.get(node.op_type, ComparedOperand)
        place = _axis_from_start(inferred, index, axis)
        origin = kind(node=node, axis=place, call=inferred.call, index=index)
        yield DimensionEquation(left, right, origin)


def _equations_of_reshape(inferred: _InferredNode) -> Iterator[DimensionEquation]:
    """Yield that a Reshape keeps the number of elements."""
    outputs = inferred.outcome.outputs
    made = outputs[0].shape if outputs else None
    for (index, axis), left, right in inferred.outcome.equated:
        shape = inferred.inputs[index].shape or ()
        copied = tuple([dim for dim in made or () if isinstance(dim, str) and dim in shape])
        origin = ReshapedOperand(
            node=inferred.node,
            axis=_axis_from_start(inferred, index, axis),
            call=inferred.call,
            index=index,
            copied=copied,
        )
        yield DimensionEquation(left, right, origin)


def _equations_of_concat(inferred: _InferredNode) -> Iterator[DimensionEquation]:
    """Yield that the operands of a Concat agree in the axes along which it does not join.

    Two variables, or a 0, beside an empty operand such as the past of a first step are often meant.
    """
    if not inferred.outcome.equated:
        return
    joined = tuple([each.shape for each in inferred.inputs if each.shape is not None])
    may_be_0 = _dims_that_may_be_0(joined)
    for (index, axis), left, right in inferred.outcome.equated:
        is_empty = 0 in (inferred.inputs[index].shape or ())
        has_size = any(isinstance(side, int) and side for side in (left, right))
        if is_empty and not has_size:
            continue
        names = variables_in(left) | variables_in(right)
        origin = ConcatOperand(
            node=inferred.node,
            axis=_axis_from_start(inferred, index, axis),
            call=inferred.call,
            index=index,
            dims_that_may_be_0=tuple([dim for dim in may_be_0 if not names.isdisjoint(variables_in(dim))]),
            is_empty=is_empty,
            joined=joined,
        )
        yield DimensionEquation(left, right, origin)


_EQUATIONS_BY_OPERATOR: Final = {"Concat": _equations_of_concat, "Reshape": _equations_of_reshape}
"""The functions for the operators whose operands have other conditions."""


def _axis_from_start(inferred: _InferredNode, index: int, axis: int | None) -> int | None:
    """Return the axis of an input, counted from the first; None for the number of elements."""
    shape = inferred.inputs[index].shape or ()
    return None if axis is None else axis % len(shape)


def _dims_that_may_be_0(shapes: Sequence[Dims]) -> list[str]:
    """Return the dimensions that may be 0. One that may be below 0 is left out: windows do not fit in there."""
    dims = {dim for shape in shapes for dim in shape if isinstance(dim, str)}
    return sorted(dim for dim in dims if is_natural(dim) and not is_positive(dim))
