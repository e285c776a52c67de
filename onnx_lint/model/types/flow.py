# SPDX-License-Identifier: Apache-2.0
"""Follows the types from inputs, initializers and attributes through every node, nested graph and function body.

Each walk over a graph is a generator. It yields the walks that it needs the output types of, and `_run` keeps the pile
of them, so that functions may call one another as deep as a file has it without any deep recursion here.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from onnx_lint.model.columns.nodes import NodeForm
from onnx_lint.model.graph import BEFORE_NODES, Function, Graph, Node
from onnx_lint.model.operators.control_flow import ControlFlow
from onnx_lint.model.operators.imports import Imports
from onnx_lint.model.operators.operators import Operators
from onnx_lint.model.types.argument import UNKNOWN, Arguments, Bindings, argument_of, read_arguments
from onnx_lint.model.types.call_memory import CallMemory
from onnx_lint.model.types.declared import declared_inputs, declared_values, initializer_types
from onnx_lint.model.types.distinct_types import TypeIndex
from onnx_lint.model.types.problem import DisallowedOutput
from onnx_lint.model.types.type_flow import Call, TypeFlow
from onnx_lint.model.types.type_string import ABSENT, ValueType
from onnx_lint.model.types.typed_operator import Inputs, Outcome, TypedOperator, typed_operator
from onnx_lint.record import Record
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.releases import newest_opset_version

if TYPE_CHECKING:
    from onnx_lint.model.types.subgraph_types import Subgraphs

Types = dict[str, ValueType | None]
Outputs = tuple[ValueType | None, ...]
Walk = Generator["Walk", Outputs, Outputs]


TypedOperators = dict[NodeForm, TypedOperator | None]
"""What nodes stand for under one set of imports; None for what has no signature."""


class _Cell:
    """What is known of the nodes of one form in a frame."""

    __slots__ = ("arguments", "operator", "outcomes")

    def __init__(self, operator: TypedOperator | None, arguments: Arguments, outcomes: dict[Inputs, Outcome]) -> None:
        self.operator = operator
        self.arguments = arguments
        self.outcomes = outcomes
        """The outcomes so far, of nodes without subgraphs."""


Cells = dict[NodeForm, _Cell]


class _Frame(Record):
    """What holds for all nodes of a function body, or of the graphs outside of functions."""

    operators: TypedOperators
    cells: Cells
    bindings: Bindings | None = None
    call: Call | None = None


class Ground(Record):
    """What the types flow over: the graphs in which they start, and what is known of operators and declared types."""

    main: Graph | None
    training: Sequence[Graph]
    functions: Sequence[Function]
    operators: Operators
    imports: Imports
    types: TypeIndex
    control_flow: ControlFlow


def follow_types(ground: Ground) -> TypeFlow:
    """Follow the types through the whole model.

    The main graph goes first, with the functions that it calls, then the training graphs, and functions that nothing
    calls, whose arguments are unknown.
    """
    flow = _Flow(ground)
    if ground.main is not None:
        known: Types = {"": ABSENT}
        _run(flow.walk(ground.main, flow.top, known, None))
        for graph in ground.training:
            # The algorithm sees the values of the inference graph, the initialization stands alone.
            _run(flow.walk_nested(graph, flow.top, {"": ABSENT} if graph.parent is None else known, None))
        flow.found.types = known
        for function in ground.functions:
            if not flow.was_entered(function):
                _run(flow.uncalled(function))
    return flow.found


def _run(walk: Walk) -> Outputs:
    pile = [walk]
    handed: Outputs | None = None
    while True:
        try:
            # The first step of a generator takes None, which the type of what is handed to later steps has no room for.
            pile.append(next(pile[-1]) if handed is None else pile[-1].send(handed))
            handed = None
        except StopIteration as stop:
            pile.pop()
            handed = stop.value
            if not pile:
                return stop.value  # type: ignore[no-any-return]  # StopIteration does not know the generator's type


class _Flow:
    """The state of one pass over a model."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.found = TypeFlow(ground.operators.schemas)
        self.top = _Frame({}, {})
        self._frames: dict[int, tuple[TypedOperators, Cells]] = {}
        """What functions share that import the same versions; cells where they have no attribute parameters too."""
        self._calls = CallMemory(self._operator_of)
        self._called = {function.name for function in ground.functions}

    # --- graphs

    def walk(self, graph: Graph, frame: _Frame, known: Types, supplied: Outputs | None) -> Walk:
        """Follow the types through a graph and return those of its outputs.

        `known` holds the types of the values that the graph sees and takes in those of its own. `supplied` are the
        types of a subgraph's inputs as far as the operator gives them.
        """
        declared = {} if graph.is_function else self._enter(graph, known, supplied)
        nested = _nested_by_position(graph) if graph.nested else {}
        cells, get = frame.cells, known.get
        outputs_of = graph.table.outputs
        for index, (form, inputs_of) in enumerate(zip(graph.table.forms, graph.table.inputs, strict=True)):
            cell = cells.get(form) or self._cell(graph, form, frame)
            inputs = tuple(map(get, inputs_of))
            outcome = cell.outcomes.get(inputs)
            if outcome is None:
                operator = cell.operator
                if operator is None or operator.by_subgraphs:
                    node = graph.nodes[index]
                    outcome = yield from self._special(node, cell, inputs, frame, known, nested.get(index, ()))
                elif operator.by_inputs:
                    outcome = operator.outcome_of_inputs(inputs)
                else:
                    outcome = cell.outcomes[inputs] = operator.outcome(inputs, cell.arguments, len(form.outputs))
            names, kinds = outputs_of[index], outcome.outputs
            if len(names) == 1 and kinds and names[0]:
                # Most nodes have one output, and a loop over one costs as much as all the rest.
                known[names[0]] = kinds[0] or declared.get(names[0])
            else:
                pairs = zip(names, kinds, strict=False)
                known.update([(name, kind or declared.get(name)) for name, kind in pairs if name])
            if outcome.problems and cell.operator is not None:
                self._report(graph.nodes[index], cell.operator.schema, inputs, outcome, frame, known)
        differing = self._compare(graph, declared, known, frame)
        # What is declared as something else is reported so, and a subgraph hands it on as unknown.
        return tuple([None if name in differing else get(name) for name in graph.output_names])

    def _enter(self, graph: Graph, known: Types, supplied: Outputs | None) -> Mapping[str, ValueType]:
        """Take in the types of inputs and initializers; return the declared types of the other values."""
        inputs = declared_inputs(graph, supplied)
        known.update(inputs)
        for name, kind in initializer_types(graph):
            # Where input and default value contradict each other, which has a finding of its own, nothing is known.
            known[name] = kind if known.get(name) in (None, kind) or name not in inputs else None
        return declared_values(self.ground.types, graph)

    def _compare(self, graph: Graph, declared: Mapping[str, ValueType], known: Types, frame: _Frame) -> set[str]:
        """Note the values that are declared as another type than their node makes, and return their names."""
        if not declared:
            return set()
        get = known.get
        differing = {name for name, kind in declared.items() if get(name, kind) != kind}
        # What is declared of inputs and initializers is compared elsewhere; a value from outside has no position here.
        differing = {name for name in differing if known[name] and graph.positions.get(name) != BEFORE_NODES}
        if not differing:
            return differing
        noted: set[str] = set()
        for field, names in (("output", graph.output_names), ("value_info", graph.value_info_names)):
            for index, name in enumerate(names):
                inferred = known[name] if name in differing and name not in noted else None
                if inferred:
                    noted.add(name)
                    self.found.note_declaration(graph, field, index, declared[name], inferred, frame.call)
        return differing

    def _report(
        self, node: Node, schema: OperatorSchema, inputs: Inputs, outcome: Outcome, frame: _Frame, known: Types
    ) -> None:
        for problem in outcome.problems:
            # An output that the node leaves out is of no type.
            if not isinstance(problem, DisallowedOutput) or any(node.outputs[problem.index : problem.index + 1]):
                self.found.note_operand(node, schema, problem, inputs, frame.call)
        # A declared type does not take the place of what cannot be told: one fault, one finding.
        known.update(
            {name: None for name, kind in zip(node.outputs, outcome.outputs, strict=False) if name and not kind}
        )

    # --- operators

    def _cell(self, graph: Graph, form: NodeForm, frame: _Frame) -> _Cell:
        operator = self._operator(graph, form, frame.operators)
        arguments: Arguments = ()
        outcomes: dict[Inputs, Outcome] = {}
        if operator is not None:
            arguments = read_arguments(form.attributes, operator.attributes, frame.bindings)
            outcomes = operator.outcomes if operator.by_inputs else {}
        cell = frame.cells[form] = _Cell(operator, arguments, outcomes)
        return cell

    def _operator(self, graph: Graph, form: NodeForm, operators: TypedOperators) -> TypedOperator | None:
        if form in operators:
            return operators[form]
        operator = self.ground.operators.operator_in(graph, form)
        typed = None
        if operator.schema is not None and operator.opset_version is not None:
            newest = newest_opset_version(operator.domain)
            # A deprecated operator is no part of the operator set, and what later operator sets say is not known.
            binds = not operator.schema.deprecated and (newest is None or operator.opset_version <= newest)
            typed = typed_operator(operator.schema, binds=binds)
        operators[form] = typed
        return typed

    def _special(
        self,
        node: Node,
        cell: _Cell,
        inputs: Inputs,
        frame: _Frame,
        known: Types,
        nested: Sequence[Graph],
    ) -> Generator[Walk, Outputs, Outcome]:
        """A node with subgraphs, a call, or a node that nothing is known of."""
        operator = cell.operator
        if operator is not None:
            from onnx_lint.model.types.subgraph_types import Subgraphs

            outcome = operator.outcome(inputs, cell.arguments, len(node.outputs))
            subgraphs = Subgraphs(self.ground.control_flow, node, inputs, cell.arguments)
            outputs = yield from self._control_flow(subgraphs, frame, known, nested)
            return operator.handed_on(outcome, outputs)
        for graph in nested:
            yield self.walk_nested(graph, frame, known, None)
        function = self.ground.operators.operator(node).function if node.op_type in self._called else None
        outputs = () if function is None else (yield from self._call(function, node, inputs, frame))
        # An unknown operator leaves room for what is declared.
        return Outcome(outputs + (None,) * (len(node.outputs) - len(outputs)))

    def _control_flow(
        self, subgraphs: Subgraphs, frame: _Frame, known: Types, nested: Sequence[Graph]
    ) -> Generator[Walk, Outputs, Outputs]:
        from onnx_lint.model.types.subgraph_types import outputs_of

        node = subgraphs.node
        found: dict[str, Outputs] = {}
        graphs: dict[str, Graph] = {}
        for graph in nested:
            name = _attribute_name(node, graph)
            supplied = subgraphs.supplied(name, graph)
            for mismatch in subgraphs.mismatched_inputs(name, graph, supplied):
                self.found.note_subgraph(node, graph, mismatch, frame.call)
            found[name] = yield self.walk_nested(graph, frame, known, supplied)
            graphs[name] = graph
        outputs, mismatches = outputs_of(subgraphs, found)
        for mismatch in mismatches:
            self.found.note_subgraph(node, graphs[mismatch.attribute], mismatch, frame.call)
        return outputs

    def walk_nested(self, graph: Graph, frame: _Frame, known: Types, supplied: Outputs | None) -> Walk:
        """Walk a nested graph, whose names are gone afterwards."""
        hidden = {name: known[name] for name in graph.positions if name in known}
        outputs = yield from self.walk(graph, frame, known, supplied)
        for name in graph.positions:
            known.pop(name, None)
        known.update(hidden)
        return outputs

    # --- functions

    def _call(self, function: Function, node: Node, inputs: Inputs, frame: _Frame) -> Generator[Walk, Outputs, Outputs]:
        """The types of the outputs of a call: those of the body, for these types and arguments, walked once."""
        attributes = node.attribute_protos
        given = read_arguments(attributes, self._calls.deciding(function), frame.bindings) if attributes else ()
        # A function may have thousands of inputs, of which thousands of calls leave out all but a few.
        inputs = _without_absent_end(inputs[: len(function.body.input_names)])
        known = self._calls.outputs(function, inputs, given)
        if known is not None:
            return known
        if not self._calls.may_enter(function):
            return ()
        outputs = yield self._body(function, inputs, given, (node, inputs))
        self._calls.remember(function, inputs, given, outputs)
        return outputs

    def was_entered(self, function: Function) -> bool:
        """Whether the body has been walked."""
        return self._calls.was_entered(function)

    def uncalled(self, function: Function) -> Walk:
        """Walk the body of a function that no call has led to, with arguments of which nothing is known."""
        self._calls.may_enter(function)
        given = tuple((name, UNKNOWN) for name in function.attribute_names)
        return (yield from self._body(function, (None,) * len(function.body.input_names), given, None))

    def _body(self, function: Function, inputs: Inputs, given: Arguments, call: Call | None) -> Walk:
        names = function.body.input_names
        known: Types = dict(zip(names, inputs, strict=False))
        known.update(dict.fromkeys(names[len(inputs) :], ABSENT))
        known[""] = ABSENT
        bindings = {default.name: argument_of(default) for default in function.attribute_defaults}
        bindings.update(given)
        operators, cells = self._shared(function)
        self._calls.enter(function)
        frame = _Frame(operators, {} if bindings else cells, bindings, call)
        outputs = yield from self.walk(function.body, frame, known, None)
        self._calls.leave(function)
        return outputs

    def _shared(self, function: Function) -> tuple[TypedOperators, Cells]:
        scope = self.ground.imports.number_of(function)
        if scope not in self._frames:
            self._frames[scope] = {}, {}
        return self._frames[scope]

    def _operator_of(self, graph: Graph, form: NodeForm) -> TypedOperator | None:
        function = graph.function
        operators = self.top.operators if function is None else self._shared(function)[0]
        return self._operator(graph, form, operators)


def _without_absent_end(inputs: Inputs) -> Inputs:
    """The arguments but for those at the end that are left out, which is as if the call ended before them."""
    count = len(inputs)
    while count and inputs[count - 1] == ABSENT:
        count -= 1
    return inputs[:count]


def _nested_by_position(graph: Graph) -> dict[int, list[Graph]]:
    found: dict[int, list[Graph]] = {}
    for nested in graph.nested:
        found.setdefault(nested.position, []).append(nested)
    return found


def _attribute_name(node: Node, graph: Graph) -> str:
    """The name of the attribute that holds the graph; empty for one of a list of graphs."""
    attribute = graph.place.parent
    if attribute is None or attribute.index is None or graph.place.field != "g":
        return ""
    proto: Any = node.attribute_protos[attribute.index]
    return str(proto.name)
