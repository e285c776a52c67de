# SPDX-License-Identifier: Apache-2.0
"""The types that a value of unknown type may have: an Optional of anything is an optional, and a Neg makes a tensor.

The inference knows a type or nothing. Models with sequences, maps or optionals are walked once more here, and a value
whose type is unknown gets the set of the types that the signatures on its way leave.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.conflict_recorder import ConflictRecorder
from onnx_lint.inference.flow.declared_facts import declaration_of
from onnx_lint.inference.flow.frames import FlowInput
from onnx_lint.inference.flow.outcome_memo import OutcomeMemo, takes
from onnx_lint.inference.flow.type_sets import (
    ANY_TENSOR,
    NO_VALUE,
    Possible,
    PossibleOutcome,
    common,
    element_or_self,
    pattern_of,
    possible_outcome,
    sequences_of,
    while_carried,
)
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walks import WalkResult
from onnx_lint.inference.shapes.fact import fact
from onnx_lint.inference.types.argument import UNKNOWN, Arguments
from onnx_lint.inference.types.problem import Disallowed, TypeProblem
from onnx_lint.inference.types.subgraph_types import LOOP_HEAD, Mismatch, SubgraphRole
from onnx_lint.inference.types.type_string import BOOL
from onnx_lint.inference.types.typed_operator import TypedOperator
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Function, Graph, Node
from onnx_lint.ir.operators.control_flow import attribute_name
from onnx_lint.ir.operators.operators import Operators

_MAX_DEPTH: Final = 100
"""The most graphs and function bodies around one that is followed."""


def record_possible_types(found: ValueFlow, recorder: ConflictRecorder, flow_input: FlowInput) -> None:
    """Record the nodes and subgraphs that no type of a value of unknown type satisfies."""
    walk = _TypesWalk(found, recorder, flow_input.operators)
    scope = _Scope()
    if flow_input.main is not None:
        walk.graph(flow_input.main, scope)
    for graph in flow_input.training:
        walk.graph(graph, scope.new_child() if graph.parent is not None else _Scope())
    for function in flow_input.functions:
        if function.index not in walk.entered:
            walk.graph(function.body, _Scope())


_Scope = ChainMap[str, Possible]
"""The types of the values that a graph sees: its own, and those of the graphs around it."""


class _TypesWalk:
    """The walk over the graphs of a model."""

    def __init__(self, found: ValueFlow, recorder: ConflictRecorder, operators: Operators) -> None:
        self._found = found
        self._recorder = recorder
        self._operators = operators
        self.entered: set[int] = set()
        """The functions whose bodies have been walked."""
        self._outcomes: dict[tuple[object, ...], PossibleOutcome] = {}
        self._summaries: dict[int, tuple[Possible, ...]] = {}
        self._depth = 0
        self._faulty = {(id(each.node.graph), each.node.index) for each in found.operands}
        self._faulty |= {(id(each.node.graph), each.node.index) for each in found.subgraphs}
        self._misdeclared = {(id(each.graph), each.subject) for each in found.declarations}

    # --- graphs

    def graph(self, graph: Graph, known: _Scope, given: Sequence[Possible] = ()) -> tuple[Possible, ...]:
        """Return the types that the outputs of a graph may have.

        `known`: the types of the values that the graph sees, which gets its own. `given`: the types of its inputs, as
        far as they are known.
        """
        walked = self._found.walks.of(graph, None)
        if graph.function is not None and graph.is_function:
            self.entered.add(graph.function.index)
        known.update(dict.fromkeys(graph.positions))
        known[""] = NO_VALUE
        if walked is None or graph.table.has_redefinitions or self._depth >= _MAX_DEPTH:
            return (None,) * len(graph.output_names)
        self._depth += 1
        for name in graph.names_before_nodes:
            known[name] = _of_fact(walked, name) if name else NO_VALUE
        for name, types in zip(graph.input_names, given, strict=False):
            known[name] = known[name] or types
        for index, form in enumerate(graph.forms):
            self._node(graph, index, walked, form, known)
        for nested in graph.nested_by_node.get(len(graph.forms), ()):
            self.graph(nested, known.new_child())  # the default of a parameter
        self._depth -= 1
        return tuple([known.get(name) for name in graph.output_names])

    def _node(self, graph: Graph, index: int, walked: WalkResult, form: NodeForm, known: _Scope) -> None:
        """Add the types of the outputs of a node to the known types."""
        names = graph.table.outputs[index]
        facts = [_of_fact(walked, name) if name else NO_VALUE for name in names]
        inputs = tuple([known.get(name) for name in graph.table.inputs[index]])
        nested = graph.nested_by_node.get(index, ())
        is_known = None not in facts and all(each is not None and len(each) == 1 for each in inputs)
        if not is_known or nested:
            made = self._made(graph, index, walked, inputs, known)
            facts = [own or types for own, types in zip(facts, made, strict=False)]
            self._compare(graph, walked, index, made)
        for name, types in zip(names, facts, strict=False):
            known[name] = None if (id(graph), name) in self._misdeclared else types

    def _compare(self, graph: Graph, walked: WalkResult, index: int, made: tuple[Possible, ...]) -> None:
        """Record the outputs of a node with a declared type that the node can never produce."""
        for name, types in zip(graph.table.outputs[index], made, strict=False):
            known = walked.fact(name)
            if not name or types is None or not known.kind or known.kind in types:
                continue
            entry = declaration_of(graph, name)
            if entry is not None:
                self._recorder.record_declared(entry, known, fact(pattern_of(types)), walked.call)
                self._misdeclared.add((id(graph), name))

    def _made(
        self,
        graph: Graph,
        index: int,
        walked: WalkResult,
        inputs: tuple[Possible, ...],
        known: _Scope,
    ) -> tuple[Possible, ...]:
        """Return the types that the outputs of a node may have, by the types that its inputs may have."""
        form, nested = graph.table.forms[index], graph.nested_by_node.get(index, ())
        nothing: tuple[Possible, ...] = (None,) * len(form.outputs)
        memo = walked.memos.get(form)
        operator = memo.operator if memo is not None else None
        if memo is None or operator is None or not takes(operator.schema, form):
            for each in nested:
                self.graph(each, known.new_child())
            function = self._operators.operator_in(graph, form).function
            return nothing if function is None else self._called(function, graph.nodes[index], walked, inputs)
        if (id(graph), index) in self._faulty or memo.has_faulty_attribute:
            for each in nested:
                self.graph(each, known.new_child())
            return nothing
        outcome = self._outcome(operator, memo.arguments, form, inputs)
        if outcome.wrong is not None:
            self._note(walked, graph.nodes[index], operator, outcome.wrong, inputs)
            return nothing
        if not nested:
            return outcome.outputs
        return self._of_subgraphs(graph.nodes[index], walked, nested, inputs, known) or outcome.outputs

    def _note(
        self, walked: WalkResult, node: Node, operator: TypedOperator, wrong: int, inputs: tuple[Possible, ...]
    ) -> None:
        self._faulty.add((id(node.graph), node.index))
        facts = tuple([fact(None if types is None else pattern_of(types)) for types in inputs])
        problem: TypeProblem = Disallowed(wrong)
        self._recorder.record_operand_types(node, operator.schema, problem, facts, walked.call)

    # --- operators

    def _outcome(
        self, operator: TypedOperator, arguments: Arguments, form: NodeForm, inputs: tuple[Possible, ...]
    ) -> PossibleOutcome:
        key = operator, arguments, len(form.outputs), inputs
        found = self._outcomes.get(key)
        if found is None:
            found = self._outcomes[key] = possible_outcome(operator, arguments, len(form.outputs), inputs)
        return found

    # --- subgraphs

    def _of_subgraphs(
        self,
        node: Node,
        walked: WalkResult,
        nested: Sequence[Graph],
        inputs: tuple[Possible, ...],
        known: _Scope,
    ) -> tuple[Possible, ...]:
        """Return the types that the outputs of a control-flow node may have; empty if they are not followed."""
        carried: tuple[Possible, ...] = ()
        supplied: tuple[Possible, ...] = ()
        if node.op_type == "Loop":
            carried = tuple(map(while_carried, inputs[LOOP_HEAD:]))
            supplied = None, None, *carried
        elif node.op_type == "SequenceMap":
            supplied = tuple(map(element_or_self, inputs))
        elif node.op_type == "Scan":
            supplied = (ANY_TENSOR,) * len(inputs)
        graphs: dict[str, Graph] = {}
        types: dict[str, tuple[Possible, ...]] = {}
        for graph in nested:
            name = attribute_name(node.attribute_protos, graph)
            graphs[name] = graph
            types[name] = self.graph(graph, known.new_child(), supplied if name == "body" else ())
        match node.op_type:
            case "If" if types.keys() == {"then_branch", "else_branch"}:
                return self._of_branches(
                    node,
                    walked,
                    graphs["else_branch"],
                    then_types=types["then_branch"],
                    else_types=types["else_branch"],
                )
            case "Loop" if "body" in types:
                return self._of_loop(node, walked, graphs["body"], types=types["body"], initial=inputs[LOOP_HEAD:])
            case "SequenceMap" if "body" in types:
                return tuple(map(sequences_of, types["body"]))
        return ()

    def _of_branches(
        self,
        node: Node,
        walked: WalkResult,
        other: Graph,
        *,
        then_types: tuple[Possible, ...],
        else_types: tuple[Possible, ...],
    ) -> tuple[Possible, ...]:
        outputs: list[Possible] = []
        if len(then_types) != len(node.outputs) or len(else_types) != len(node.outputs):
            return ()
        for index, (first, second) in enumerate(zip(then_types, else_types, strict=True)):
            both = None if first is None or second is None else first & second
            outputs.append(both or None)
            if first is not None and second is not None and not both:
                mismatch = Mismatch("else_branch", SubgraphRole.BRANCH, index, pattern_of(second), pattern_of(first))
                self._recorder.record_subgraph_type(node, other, mismatch, walked.call)
        return tuple(outputs)

    def _of_loop(
        self,
        node: Node,
        walked: WalkResult,
        body: Graph,
        *,
        types: tuple[Possible, ...],
        initial: tuple[Possible, ...],
    ) -> tuple[Possible, ...]:
        if len(types) != len(node.outputs) + 1:
            return ()
        expected = _expected_of_loop(initial, len(types))
        outputs: list[Possible] = []
        for index, (last, each) in enumerate(zip(types, expected, strict=False)):
            both = common(last, each.types)
            # Without a run of the body, the value is what it began as.
            outputs.append((each.types if each.role is SubgraphRole.CARRIED else both) or None)
            if last and each.types and not both:
                mismatch = Mismatch("body", each.role, index, pattern_of(last), each.words)
                self._recorder.record_subgraph_type(node, body, mismatch, walked.call)
        return tuple(outputs[1:])

    # --- functions

    def _called(
        self, function: Function, node: Node, walked: WalkResult, inputs: tuple[Possible, ...]
    ) -> tuple[Possible, ...]:
        """Return the types that the outputs of a call may have."""
        nothing: tuple[Possible, ...] = (None,) * len(node.outputs)
        body = self._found.walks.of(function.body, None)
        if body is None:
            return nothing
        if body.call is not None and body.call.node == node and body.call.around is walked.call:
            outputs = nothing if function.index in self.entered else self.graph(function.body, _Scope(), inputs)
        else:
            outputs = self._summary(function, body)
        return outputs[: len(node.outputs)] + nothing[len(outputs) :]

    def _summary(self, function: Function, body: WalkResult) -> tuple[Possible, ...]:
        """Return the types that the outputs of any call of a function may have."""
        if function.index not in self._summaries:
            graph = function.body
            self._summaries[function.index] = (None,) * len(graph.output_names)  # a call of itself
            if self._depth >= _MAX_DEPTH:
                return self._summaries[function.index]
            self._depth += 1
            known: dict[str, Possible] = {**dict.fromkeys(graph.positions), "": NO_VALUE}
            for index, form in enumerate(graph.forms):
                names, made = graph.table.outputs[index], self._made_by_any_call(graph, index, body, form, known)
                known.update(zip(names, made, strict=False))
            self._summaries[function.index] = tuple([known.get(name) for name in graph.output_names])
            self._depth -= 1
        return self._summaries[function.index]

    def _made_by_any_call(
        self, graph: Graph, index: int, body: WalkResult, form: NodeForm, known: Mapping[str, Possible]
    ) -> tuple[Possible, ...]:
        nothing: tuple[Possible, ...] = (None,) * len(form.outputs)
        memo = body.memos.get(form)
        if memo is None or memo.operator is None or not takes(memo.operator.schema, form):
            function = self._operators.operator_in(graph, form).function
            called = None if function is None else self._found.walks.of(function.body, None)
            outputs = () if function is None or called is None else self._summary(function, called)
            return outputs[: len(nothing)] + nothing[len(outputs) :]
        if (id(graph), index) in self._faulty or memo.operator.by_subgraphs:
            return nothing
        inputs = tuple([known.get(name) for name in graph.table.inputs[index]])
        outcome = self._outcome(memo.operator, _of_any_call(memo, form), form, inputs)
        return nothing if outcome.wrong is not None else outcome.outputs


class _ExpectedTypes(Record):
    """The types that an output of the body of a Loop must have."""

    role: SubgraphRole
    types: Possible
    words: str


def _expected_of_loop(initial: Sequence[Possible], count: int) -> list[_ExpectedTypes]:
    """Return the types of so many outputs of a body: the condition, the carried values, and the scan outputs."""
    carried = [
        _ExpectedTypes(SubgraphRole.CARRIED, while_carried(types), "" if types is None else pattern_of(types))
        for types in initial
    ]
    condition = _ExpectedTypes(SubgraphRole.CONDITION, frozenset({BOOL}), BOOL)
    scan_output = _ExpectedTypes(SubgraphRole.SCAN_OUTPUT, ANY_TENSOR, "a tensor")
    return [condition, *carried, *[scan_output] * (count - 1 - len(carried))]


def _of_any_call(memo: OutcomeMemo, form: NodeForm) -> Arguments:
    """Return the arguments of a node. Arguments that calls decide are unknown."""
    given = {proto.name for proto in form.attributes if proto.ref_attr_name}
    if not given:
        return memo.arguments
    assert memo.operator is not None
    own = tuple((name, argument) for name, argument in memo.arguments if name not in given)
    return own + tuple((name, UNKNOWN) for name in sorted(given & memo.operator.attributes))


def _of_fact(walked: WalkResult, name: str) -> Possible:
    """Return the only type of a value whose type is known, and the tensor types for one whose shape is."""
    known = walked.fact(name)
    if known.kind:
        return frozenset({known.kind})
    return ANY_TENSOR if known.shape is not None else None
