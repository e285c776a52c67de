# SPDX-License-Identifier: Apache-2.0
"""Follows the types from inputs, initializers and attributes through every node, nested graph and function body.

Each walk over a graph is a generator. It yields the walks that it needs the output types of, and `_run` keeps the pile
of them, so that functions may call one another as deep as a file has it without any deep recursion here.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final

from onnx_lint.model.graph import BEFORE_NODES, Function, Graph, Node
from onnx_lint.model.model import Model
from onnx_lint.model.typing.argument import UNKNOWN, Arguments, Bindings, argument_of, read_arguments
from onnx_lint.model.typing.conflict import (
    CallSite,
    DeclarationConflict,
    OperandConflict,
    SubgraphConflict,
    SubgraphRole,
    TypeFlow,
)
from onnx_lint.model.typing.control_flow import Subgraphs, outputs_of
from onnx_lint.model.typing.declared import declared_inputs, declared_values, initializer_types
from onnx_lint.model.typing.typed_operator import Inputs, Outcome, TypedOperator, typed_operator
from onnx_lint.model.typing.value_type import ABSENT, ValueType
from onnx_lint.record import Record
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.releases import newest_opset_version

Types = dict[str, ValueType | None]
Outputs = tuple[ValueType | None, ...]
Walk = Generator["Walk", Outputs, Outputs]

REPEATED_NODES: Final = 50_000
"""How many nodes of function bodies are visited for further tuples of argument types, when each body has been visited
once. Whoever writes a model that has more distinct calls than that gets unknown types for the rest of them."""


class _Frame(Record):
    """What holds for all nodes of a function body, or of the graphs outside of functions."""

    operators: dict[tuple[str, str], TypedOperator | None]
    """By the node's domain and op_type; None for what has no signature."""
    bindings: Bindings | None = None
    site: CallSite | None = None


def follow_types(model: Model) -> TypeFlow:
    """Follow the types through the whole model.

    The main graph goes first, with the functions that it calls, then the training graphs, and functions that nothing
    calls, whose arguments are unknown.
    """
    flow = _Flow(model)
    if model.graphs:
        known: Types = {"": ABSENT}
        _run(flow.walk(model.main_graph, flow.top, known, None))
        for graph in model.training_graphs:
            # The algorithm sees the values of the inference graph, the initialization stands alone.
            _run(flow.walk(graph, flow.top, {"": ABSENT} if graph.parent is None else dict(known), None))
        flow.found.types = known
        for function in model.functions:
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

    def __init__(self, model: Model) -> None:
        self.model = model
        self.found = TypeFlow()
        self.top = _Frame({})
        self._frames: dict[int, dict[tuple[str, str], TypedOperator | None]] = {}
        self._calls: dict[tuple[int, Inputs, Arguments], Outputs] = {}
        self._parameters: dict[int, frozenset[str]] = {}
        self._visited: set[int] = set()
        self._open: set[int] = set()
        self._budget = REPEATED_NODES
        self._reported: set[tuple[object, ...]] = set()
        self._called = {function.name for function in model.functions}

    # --- graphs

    def walk(self, graph: Graph, frame: _Frame, known: Types, supplied: Outputs | None) -> Walk:
        """Follow the types through a graph and return those of its outputs.

        `known` holds the types of the values that the graph sees and takes in those of its own. `supplied` are the
        types of a subgraph's inputs as far as the operator gives them.
        """
        declared = {} if graph.is_function else self._enter(graph, known, supplied)
        nested = _nested_by_position(graph)
        operators, get = frame.operators, known.get
        for node in graph.nodes:
            try:
                operator = operators[node.domain, node.op_type]
            except KeyError:
                operator = self._operator(node, frame)
            inputs = tuple(map(get, node.inputs))
            if operator is None or operator.by_subgraphs:
                outcome = yield from self._special(node, operator, inputs, frame, known, nested.get(node.index, ()))
            elif operator.by_inputs:
                outcome = operator.outcomes.get(inputs) or operator.outcome_of_inputs(inputs)
            else:
                arguments = read_arguments(node.attribute_protos, operator.attributes, frame.bindings)
                outcome = operator.outcome(inputs, arguments, len(node.outputs))
            for name, kind in zip(node.outputs, outcome.outputs):  # noqa: B905 - a keyword costs as much as the rest
                if name:
                    known[name] = kind or declared.get(name)
            if outcome.problems and operator is not None:
                self._report(node, operator.schema, inputs, outcome, frame, known)
        differing = self._compare(graph, declared, known, frame)
        # What is declared as something else is reported so, and a subgraph hands it on as unknown.
        return tuple([None if name in differing else get(name) for name in graph.output_names])

    def _enter(self, graph: Graph, known: Types, supplied: Outputs | None) -> Mapping[str, ValueType]:
        """Take in the types of inputs and initializers; return the declared types of the other values."""
        known.update(declared_inputs(graph, supplied))
        for name, kind in initializer_types(graph):
            # Where input and default value contradict each other, which has a finding of its own, nothing is known.
            known[name] = kind if known.get(name) in (None, kind) or name not in graph.input_names else None
        return declared_values(self.model, graph)

    def _compare(self, graph: Graph, declared: Mapping[str, ValueType], known: Types, frame: _Frame) -> set[str]:
        """Note the values that are declared as another type than their node makes, and return their names."""
        get = known.get
        differing = {name for name, kind in declared.items() if get(name, kind) != kind}
        # What is declared of inputs and initializers is compared elsewhere.
        differing = {name for name in differing if known[name] and graph.positions.get(name, BEFORE_NODES) >= 0}
        if not differing:
            return differing
        reported: set[str] = set()
        for field, names in (("output", graph.output_names), ("value_info", graph.value_info_names)):
            for index, name in enumerate(names):
                inferred = known[name] if name in differing and name not in reported else None
                if inferred and self._is_new(graph, field, index):
                    reported.add(name)
                    conflict = DeclarationConflict(graph, field, index, name, declared[name], inferred, frame.site)
                    self.found.declarations.append(conflict)
        return differing

    def _report(
        self, node: Node, schema: OperatorSchema, inputs: Inputs, outcome: Outcome, frame: _Frame, known: Types
    ) -> None:
        for problem in outcome.problems:
            if self._is_new(node.graph, node.index, problem):
                self.found.operands.append(OperandConflict(node, schema, problem, inputs, frame.site))
        # A declared type does not take the place of what cannot be told: one fault, one finding.
        known.update(
            {name: None for name, kind in zip(node.outputs, outcome.outputs, strict=False) if name and not kind}
        )

    def _is_new(self, graph: Graph, *what: object) -> bool:
        """Whether this is found for the first time; a function body is walked for each tuple of argument types."""
        key = (id(graph), *what)
        is_new = key not in self._reported
        self._reported.add(key)
        return is_new

    # --- operators

    def _operator(self, node: Node, frame: _Frame) -> TypedOperator | None:
        operator = self.model.signatures.operator(node)
        typed = None
        if operator.schema is not None and operator.opset_version is not None:
            newest = newest_opset_version(operator.domain)
            # A deprecated operator is no part of the operator set, and what later operator sets say is not known.
            binds = not operator.schema.deprecated and (newest is None or operator.opset_version <= newest)
            typed = typed_operator(operator.schema, binds=binds)
        if node.op_type not in self._called:
            # A name that functions have may stand for several of them, and for none, by overload.
            frame.operators[node.domain, node.op_type] = typed
        return typed

    def _special(
        self,
        node: Node,
        operator: TypedOperator | None,
        inputs: Inputs,
        frame: _Frame,
        known: Types,
        nested: Sequence[Graph],
    ) -> Generator[Walk, Outputs, Outcome]:
        """A node with subgraphs, a call, or a node that nothing is known of."""
        if operator is not None:
            arguments = read_arguments(node.attribute_protos, operator.attributes, frame.bindings)
            outcome = operator.outcome(inputs, arguments, len(node.outputs))
            subgraphs = Subgraphs(self.model, node, inputs, arguments)
            outputs = yield from self._control_flow(subgraphs, frame, known, nested)
            return operator.handed_on(outcome, outputs)
        for graph in nested:
            yield self._walk_nested(graph, frame, known, None)
        function = self.model.calls.function_of(node) if node.op_type in self._called else None
        outputs = () if function is None else (yield self._call(function, node, inputs, frame))
        # An unknown operator leaves room for what is declared.
        return Outcome(outputs + (None,) * (len(node.outputs) - len(outputs)))

    def _control_flow(
        self, subgraphs: Subgraphs, frame: _Frame, known: Types, nested: Sequence[Graph]
    ) -> Generator[Walk, Outputs, Outputs]:
        node = subgraphs.node
        found: dict[str, Outputs] = {}
        for graph in nested:
            name = _attribute_name(node, graph)
            supplied = subgraphs.supplied(name, graph)
            for index, declared, expected in subgraphs.mismatched_inputs(graph, supplied):
                self._subgraph(SubgraphConflict(node, graph, SubgraphRole.INPUT, index, declared, expected, frame.site))
            found[name] = yield self._walk_nested(graph, frame, known, supplied)
        graphs = {_attribute_name(node, graph): graph for graph in nested}
        outputs, mismatches = outputs_of(subgraphs, found)
        for mismatch in mismatches:
            graph = graphs[mismatch.attribute]
            self._subgraph(
                SubgraphConflict(
                    node, graph, mismatch.role, mismatch.index, mismatch.found, mismatch.expected, frame.site
                )
            )
        return outputs

    def _subgraph(self, conflict: SubgraphConflict) -> None:
        if self._is_new(conflict.graph, conflict.role, conflict.index):
            self.found.subgraphs.append(conflict)

    def _walk_nested(self, graph: Graph, frame: _Frame, known: Types, supplied: Outputs | None) -> Walk:
        """Walk a nested graph, whose names are gone afterwards."""
        hidden = {name: known[name] for name in graph.positions if name in known}
        outputs = yield self.walk(graph, frame, known, supplied)
        for name in graph.positions:
            known.pop(name, None)
        known.update(hidden)
        return outputs

    # --- functions

    def _call(self, function: Function, node: Node, inputs: Inputs, frame: _Frame) -> Walk:
        """The types of the outputs of a call: those of the body, for these types and arguments, walked once."""
        given = read_arguments(node.attribute_protos, self._deciding(function), frame.bindings)
        count = len(function.body.input_names)
        inputs = (*inputs[:count], *(ABSENT,) * (count - len(inputs)))
        key = (function.index, inputs, given)
        if key in self._calls:
            return self._calls[key]
        if function.index in self._open or not self._afford(function):
            return ()
        outputs = yield self._body(function, inputs, given, CallSite(node, inputs))
        self._calls[key] = outputs
        return outputs

    def uncalled(self, function: Function) -> Walk:
        """Walk the body of a function that no call has led to, with arguments of which nothing is known."""
        if function.index in self._visited:
            return ()
        self._visited.add(function.index)
        given = tuple((name, UNKNOWN) for name in function.attribute_names)
        return (yield self._body(function, (None,) * len(function.body.input_names), given, None))

    def _body(self, function: Function, inputs: Inputs, given: Arguments, site: CallSite | None) -> Walk:
        defaults = {default.name: argument_of(default) for default in function.attribute_defaults}
        operators = self._frames.setdefault(function.index, {})
        known: Types = {"": ABSENT}
        known.update((name, kind) for name, kind in zip(function.body.input_names, inputs, strict=True) if name)
        self._open.add(function.index)
        outputs = yield self.walk(function.body, _Frame(operators, {**defaults, **dict(given)}, site), known, None)
        self._open.discard(function.index)
        return outputs

    def _afford(self, function: Function) -> bool:
        """Whether the body may be walked, which the first time is free."""
        if function.index not in self._visited:
            self._visited.add(function.index)
            return True
        self._budget -= 1 + _size(function.body)
        return self._budget >= 0

    def _deciding(self, function: Function) -> frozenset[str]:
        """The attribute parameters of a function that types in its body, or in bodies that it calls, may depend on."""
        if function.index not in self._parameters:
            frame = _Frame(self._frames.setdefault(function.index, {}))
            self._parameters[function.index] = frozenset(self._references(function.body, frame))
        return self._parameters[function.index]

    def _references(self, graph: Graph, frame: _Frame) -> list[str]:
        found: list[str] = []
        for node in graph.nodes:
            references = [(proto.name, proto.ref_attr_name) for proto in node.attribute_protos if proto.ref_attr_name]
            if references:
                operator = self._operator(node, frame)
                found += [name for own, name in references if operator is None or own in operator.attributes]
        for nested in graph.nested:
            found += self._references(nested, frame)
        return found


def _size(graph: Graph) -> int:
    return len(graph.nodes) + sum(map(_size, graph.nested))


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
