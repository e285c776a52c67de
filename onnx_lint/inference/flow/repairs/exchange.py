# SPDX-License-Identifier: Apache-2.0
"""Finds the two inputs of a node that were exchanged, by trying it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Final, TypeVar

from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import Record
from onnx_lint.inference.flow.repairs.fitting import declared_fact, fitting_outputs
from onnx_lint.inference.flow.repairs.search import attribute_value_for_output
from onnx_lint.inference.shapes.fact import Facts
from onnx_lint.inference.shapes.operands import Outputs
from onnx_lint.inference.types.typed_operator import typed_operator
from onnx_lint.ir.graph import Node
from onnx_lint.ir.operators.proposals import Proposal, exchange_edits
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.wording import quote

if TYPE_CHECKING:
    from onnx_lint.inference.flow.shape_conflict import DeclaredShapeConflict
    from onnx_lint.inference.flow.value_flow import ValueFlow
    from onnx_lint.ir.operators.operators import Operators


MAX_TRIED_INPUTS: Final = 9
"""The most inputs of a node whose exchange is proposed: those of QLinearConv."""

_MAX_INPUTS: Final = 4
"""The most inputs of a node for any other finding: a model may have many declared shapes that are wrong."""

_MAX_PERMUTED: Final = 5
"""The most inputs for which an exchange is compared with all other orders."""

_Order = tuple[int, ...]
"""For each input of a node, the number of the input that takes its place."""

T = TypeVar("T")

_QUANTIZING: Final = frozenset({"DequantizeLinear", "QuantizeLinear"})
_VALUE_AND_ZERO_POINT: Final = (0, 2)
"""The inputs of these that nobody exchanges: a zero point of a wrong size would only seem to be the value."""


class Exchange(Record):
    """Two inputs of a node that must be exchanged: types and shapes then fit the operator and the declarations."""

    node: Node
    pair: tuple[int, int]
    shapes: Outputs
    """The shapes of the outputs that the node then has."""

    @property
    def proposal(self) -> Proposal:
        """The exchange as a change to try."""
        one, other = (f"{index} {quote(self.node.inputs[index])}" for index in self.pair)
        text = f"inputs {one} and {other} of {self.node.describe()} exchanged"
        return Proposal(text, lambda _: exchange_edits(self.node, self.pair))


def exchange_for_declaration(conflict: DeclaredShapeConflict, operators: Operators, flow: ValueFlow) -> Exchange | None:
    """Return the exchange of two inputs of the node with which its output has exactly the declared shape."""
    definition = conflict.definition
    if definition is None or definition.node is None or definition.graph is not conflict.graph:
        return None
    exchange = exchange_of(definition.node, operators, flow)
    is_it = exchange is not None and exchange.shapes[definition.index] == conflict.declared.shape
    return exchange if is_it else None


def value_for_declaration(conflict: DeclaredShapeConflict, operators: Operators, flow: ValueFlow) -> Proposal | None:
    """Return the one value of an attribute of the node with which its output has exactly the declared shape."""
    definition, shape = conflict.definition, conflict.declared.shape
    node = None if definition is None else definition.node
    if definition is None or node is None or shape is None or conflict.call is not None:
        return None
    schema = operators.operator(node).schema
    if schema is None:
        return None
    facts = tuple([flow.fact_of(name, node.graph) for name in node.inputs])
    change = attribute_value_for_output(node, schema, facts, output=definition.index, shape=shape)
    if change is None:
        return None
    return Proposal(f"{change.text} of {node.describe()}", change.edits, must_add_no_finding=True)


def exchange_of(node: Node, operators: Operators, flow: ValueFlow, most_inputs: int = _MAX_INPUTS) -> Exchange | None:
    """Return the one exchange of two inputs with which everything fits; None if there is none, or more than one.

    None also if another order of the inputs fits: it would compute something else, and nothing says which is meant.
    Inputs of one type and shape fit in any order. They keep theirs: an exporter that mixes up its operands has them in
    another order as a whole.
    """
    schema, facts = operators.operator(node).schema, tuple([flow.fact_of(name, node.graph) for name in node.inputs])
    if schema is None or len(facts) > most_inputs or not _inputs_decide_types(node, schema, facts):
        return None
    fitting = _fitting_exchanges(node, schema, facts)
    if len(fitting) != 1:
        return None
    ((order, exchange),) = fitting.items()
    if not _keeps_interchangeable(order, facts):
        return None
    rivals = {each for each in _orders(len(facts)) if each != order and _keeps_interchangeable(each, facts)}
    is_only_one = all(_shapes_in_order(each, node, schema, facts) is None for each in sorted(rivals))
    return exchange if is_only_one else None


def _inputs_decide_types(node: Node, schema: OperatorSchema, facts: Facts) -> bool:
    """Return whether the types of the inputs are known and alone decide those of the outputs, without attributes."""
    names = {proto.name for proto in node.attribute_protos}
    return all(each.kind for each in facts) and typed_operator(schema, binds=True).attributes.isdisjoint(names)


def _fitting_exchanges(node: Node, schema: OperatorSchema, facts: Facts) -> dict[_Order, Exchange]:
    """Return the exchanges of two inputs with which types and shapes fit."""
    found: dict[_Order, Exchange] = {}
    for pair in combinations(range(len(facts)), 2):
        if pair == _VALUE_AND_ZERO_POINT and node.op_type in _QUANTIZING:
            continue
        order = _exchanged(len(facts), pair)
        shapes = _shapes_in_order(order, node, schema, facts)
        if shapes is not None:
            found[order] = Exchange(node, pair, shapes)
    return found


def _exchanged(count: int, pair: tuple[int, int]) -> _Order:
    order = list(range(count))
    one, other = pair
    order[one], order[other] = other, one
    return tuple(order)


def _orders(count: int) -> Iterator[_Order]:
    """Yield the other orders of so many inputs; of many inputs only those in which one has another place."""
    unchanged = tuple(range(count))
    if count <= _MAX_PERMUTED:
        yield from (each for each in permutations(unchanged) if each != unchanged)
        return
    for moved, place in permutations(unchanged, 2):
        others = [each for each in unchanged if each != moved]
        yield (*others[:place], moved, *others[place:])


def _keeps_interchangeable(order: _Order, facts: Facts) -> bool:
    """Return whether all inputs of one type and shape come one after the other as before."""
    last: dict[object, int] = {}
    for each in order:
        key = facts[each].kind, facts[each].shape
        if each < last.get(key, 0):
            return False
        last[key] = each
    return True


def _in_order(order: _Order, inputs: Sequence[T]) -> tuple[T, ...]:
    return tuple([inputs[each] for each in order])


def _shapes_in_order(order: _Order, node: Node, schema: OperatorSchema, facts: Facts) -> Outputs | None:
    """Return the shapes of the outputs with the inputs in another order; None if types or shapes do not fit."""
    check_deadline()
    ordered = _in_order(order, facts)
    kinds = tuple([each.kind for each in ordered])
    outcome = typed_operator(schema, binds=True).outcome(kinds, (), len(node.outputs))
    if outcome.problems or any(
        kind is not None and declared_fact(node.graph, name).kind not in (None, kind)
        for name, kind in zip(node.outputs, outcome.outputs, strict=False)
    ):
        return None
    return fitting_outputs(node, schema, ordered)
