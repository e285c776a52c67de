# SPDX-License-Identifier: Apache-2.0
"""Finds the change of a node with which its shapes would fit, by trying a few that exporters get wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import Record
from onnx_lint.inference.flow.repairs.attributes import (
    attribute_changes,
    change_of_permutation,
    changes_of_missing_attribute,
    changes_to_other_numbers,
)
from onnx_lint.inference.flow.repairs.change import Change
from onnx_lint.inference.flow.repairs.fitting import TriedNode, tried_node
from onnx_lint.inference.flow.repairs.layouts import changes_with_axes, layout_changes
from onnx_lint.inference.flow.repairs.lists import list_changes
from onnx_lint.inference.flow.repairs.producers import changes_of_producers
from onnx_lint.inference.flow.repairs.weights import exchanged_weights
from onnx_lint.inference.shapes.dims import Dims, Shape
from onnx_lint.inference.shapes.fact import Facts
from onnx_lint.inference.shapes.operands import Operands, Outputs, OutputShape
from onnx_lint.inference.shapes.problem import PlainProblem
from onnx_lint.ir.graph import Node
from onnx_lint.spec.operators import OperatorSchema

_MAX_CHANGES: Final = 20
_MAX_FITTING: Final = 4
"""The most changes of a node that are tried, and that may fit. More are of no use, and a model may be made to take
long.
"""

_MAX_OF_SEVERAL: Final = 2
"""The most changes that are proposed if all are of a kind of which several may be."""


class _FittingChange(Record):
    """A change with which the shapes of a node fit, and the shapes of its outputs then."""

    change: Change
    outputs: Outputs


def repairs_of(node: Node, schema: OperatorSchema, inputs: Facts, problem: PlainProblem) -> list[Change]:
    """Return the changes with which the shapes of a node fit, at most _MAX_FITTING.

    The shape rule runs again for each change. It must find nothing, and the outputs must fit the declarations.
    """
    tried = tried_node(node, schema, inputs)
    if tried is None:
        return []
    operands = tried.operands
    fitting = _fitting_changes(tried, _changes(node, operands, problem))
    if operands.operator == "Reshape":
        fitting = _with_distinct_outputs(fitting, operands.fact(0).shape)
    if all(each.change.is_of_several for each in fitting):
        fitting = fitting[:_MAX_OF_SEVERAL]
    return _unless_too_many([each.change for each in fitting])


def numbers_of_missing_attribute(node: Node, schema: OperatorSchema, inputs: Facts, name: str) -> list[Change]:
    """Return the numbers of an attribute that a node lacks, with which its shapes fit."""
    tried = tried_node(node, schema, inputs)
    if tried is None:
        return []
    fitting = _fitting_changes(tried, changes_of_missing_attribute(node, tried.operands, name))
    return _unless_too_many([each.change for each in fitting])


def attribute_value_for_output(
    node: Node, schema: OperatorSchema, inputs: Facts, *, output: int, shape: Dims
) -> Change | None:
    """Return the one other value of an attribute with which an output has exactly this shape; None without one."""
    tried = tried_node(node, schema, inputs)
    if tried is None:
        return None
    operands = tried.operands
    changes = (*change_of_permutation(node, operands, shape), *changes_to_other_numbers(node, operands))
    found = [each.change for each in _fitting_changes(tried, changes) if each.outputs[output] == shape]
    return found[0] if len(found) == 1 else None


def _changes(node: Node, operands: Operands, problem: PlainProblem) -> Iterator[Change]:
    """Yield the changes to try, the likely ones first."""
    exchanged = list(exchanged_weights(node, operands))
    if exchanged:
        yield from exchanged  # a change of the node would also fit, and compute with the wrong weight
        return
    yield from attribute_changes(node, operands, problem)
    yield from list_changes(node, operands)
    yield from changes_of_producers(node, operands, problem)
    yield from layout_changes(node, operands)
    yield from changes_with_axes(node, operands, problem)


def _fitting_changes(tried: TriedNode, changes: Iterable[Change]) -> list[_FittingChange]:
    """Return those of the first changes with which the shapes of the node fit, each text once."""
    fitting: dict[str, _FittingChange] = {}
    for change in islice(changes, _MAX_CHANGES):
        check_deadline()
        outputs = tried.outputs_after(change)
        if outputs is not None:
            fitting[change.text] = _FittingChange(change, outputs)
    return list(fitting.values())


def _unless_too_many(changes: list[Change]) -> list[Change]:
    return changes if len(changes) <= _MAX_FITTING else []


def _with_distinct_outputs(fitting: Iterable[_FittingChange], given: Shape) -> list[_FittingChange]:
    """Return the first of the changes with each shape of the output: -1 and 0 may be two ways to write one shape.

    `given`: the shape of the input. If its first dimension is a variable, that is the number of samples, which is kept.
    """
    found: dict[str, _FittingChange] = {}
    for each in fitting:
        if _keeps_samples(each.outputs[0], given):
            found.setdefault(repr(each.outputs), each)
    return list(found.values())


def _keeps_samples(made: OutputShape, given: Shape) -> bool:
    """Return whether a shape has the first dimension of the given one, if that is a variable."""
    if not given or not isinstance(given[0], str) or not made or not isinstance(made, tuple):
        return True
    return made[0] in (None, given[0])
