# SPDX-License-Identifier: Apache-2.0
"""Explains how a value was inferred: the values that decide it, back to the statements of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.knowledge import Cause, Origins, has_known_shape
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walks import WalkedValue, WalkResult, arguments_for
from onnx_lint.inference.shapes.fact import UNKNOWN, Content, Fact, fact
from onnx_lint.inference.shapes.stated import fact_of_type
from onnx_lint.ir.graph import BEFORE_NODES, Definition, Graph, Node
from onnx_lint.ir.operators.operators import Operators
from onnx_lint.ir.places.place import Place

MOST_STEPS: Final = 1_000
"""The most values of an explanation."""

_MOST_TRIED: Final = 16
"""The most inputs of a node that are tested for deciding an output; for more, all count as deciding."""


class Declared(Record):
    """The declaration of a node's output in the list `output` or `value_info` of a graph."""

    field: str
    place: Place
    fact: Fact


_RANK_OF_MATRICES: Final = 2


class Value(Record):
    """A value with its fact."""

    walked: WalkResult
    name: str
    definition: Definition
    fact: Fact
    cause: Cause | None
    """The cause if the shape is unknown; None if it is known, or the value has none."""

    @property
    def elements(self) -> Content:
        """The elements of a scalar or a list, if they are followed."""
        shape = self.fact.shape
        return self.fact.content if shape is not None and len(shape) < _RANK_OF_MATRICES else None


class BackwardStep(Record):
    """A step of an explanation: a value that decides the ones before it."""

    value: Value
    version: int | None
    """The version of the operator of its node; None if it has no known signature."""
    declared: Declared | None
    """The declaration of the value, besides its node."""
    sources: tuple[int, ...]
    """The values that decide it, by their index among the steps."""


class Way(Record):
    """The explanation of a value, which is the first step.

    Steps refer to later ones, or to ones they have in common.
    """

    steps: tuple[BackwardStep, ...]
    is_cut: bool
    """True if there are further values after the last step."""


class Provenance:
    """Explains the values of all graphs and function bodies; for bodies once for each call that was followed."""

    def __init__(self, flow: ValueFlow, operators: Operators, graphs: Sequence[Graph]) -> None:
        self._walks = flow.walks
        self._crashes = flow.crashes
        self._graphs = graphs
        self._operators = operators
        self._origins = Origins(flow.walks, operators, flow.crashes)
        self._declarations: dict[int, dict[str, tuple[str, int]]] = {}

    def walks(self) -> list[WalkResult]:
        """Return the walks over all graphs and function bodies, in the order of the model's graphs."""
        order = {id(graph): number for number, graph in enumerate(self._graphs)}
        # For a model without a graph an empty one is walked.
        there = [walked for walked in self._walks if id(walked.graph) in order]
        return sorted(there, key=lambda walked: order[id(walked.graph)])

    def values(self, walked: WalkResult) -> Iterator[Value]:
        """Yield the values that a graph defines: inputs, initializers, and the outputs of nodes in order."""
        seen: set[str] = set()
        for name, definition in walked.graph.definitions():
            if name not in seen:
                seen.add(name)
                yield self._value(walked, name, definition)

    def _value(self, walked: WalkResult, name: str, definition: Definition) -> Value:
        known = walked.fact(name)
        cause = None
        if not has_known_shape(known):
            with self._crashes.at("explaining a value", definition.place):
                cause = self._origins.cause(walked, name)
        return Value(walked, name, definition, known, cause)

    def way(self, walked: WalkResult, name: str) -> Way:
        """Return the explanation of a value that the graph defines."""
        numbers: dict[tuple[int, str], int] = {(id(walked), name): 0}
        found: list[WalkedValue] = [(walked, name)]
        steps: list[BackwardStep] = []
        is_cut = False
        while len(steps) < len(found):
            at, of = found[len(steps)]
            sources: list[int] = []
            for source in self._sources(at, of):
                key = id(source[0]), source[1]
                if key not in numbers and len(found) < MOST_STEPS:
                    numbers[key] = len(found)
                    found.append(source)
                if key in numbers:
                    sources.append(numbers[key])
                else:
                    is_cut = True
            definition = at.graph.first_definition(of)
            assert definition is not None, "a way leads through values that graphs define"
            value = self._value(at, of, definition)
            declared = self._declared(at.graph, of)
            steps.append(BackwardStep(value, _version(value), declared, tuple(dict.fromkeys(sources))))
        return Way(tuple(steps), is_cut)

    # --- declarations

    def _declared(self, graph: Graph, name: str) -> Declared | None:
        if graph.is_function or graph.positions[name] == BEFORE_NODES:
            # A declaration in a function does not bind its calls, and an input is its own declaration.
            return None
        if id(graph) not in self._declarations:
            lists = {"value_info": graph.value_info_names, "output": graph.output_names}
            self._declarations[id(graph)] = {
                each: (field, index) for field, names in lists.items() for index, each in enumerate(names)
            }
        if name not in self._declarations[id(graph)]:
            return None
        field, index = self._declarations[id(graph)][name]
        stated = fact_of_type(graph.message_at(field, index).type)
        return Declared(field, graph.at(field, index), stated) if stated is not UNKNOWN else None

    # --- the values before one

    def _sources(self, walked: WalkResult, name: str) -> list[WalkedValue]:
        graph = walked.graph
        position = graph.positions[name]
        if position != BEFORE_NODES:
            node = graph.nodes[position]
            return self._sources_of_output(walked, node, node.outputs.index(name))
        if name not in graph.input_names:
            return []
        index = graph.input_names.index(name)
        if graph.is_function:
            call = walked.call
            caller = None if call is None else self._walks.of(call.node.graph, call.around)
            return [] if call is None else self._resolved(caller, call.node.inputs[index : index + 1])
        if graph.parent is None or not 0 <= graph.position < len(graph.parent.forms):
            return []
        around = self._walks.of(graph.parent, walked.call)
        return self._resolved(around, _supplying(graph.parent.nodes[graph.position], graph, index))

    def _sources_of_output(self, walked: WalkResult, node: Node, index: int) -> list[WalkedValue]:
        memo = walked.memos.get(node.form)
        if memo is None:
            return []  # a bug ended the walk before it
        if memo.operator is None:
            function = self._operators.operator(node).function
            if function is None:
                return []
            arguments = arguments_for(function, self._walks.inputs(walked, node.inputs))
            body = self._walks.of_arguments(function.body, arguments)
            names = function.body.output_names[index : index + 1]
            return self._resolved(body, names) or self._resolved(walked, node.inputs)
        found: list[WalkedValue] = []
        for nested in node.graph.nested_by_node.get(node.index, ()) if memo.operator.by_subgraphs else ():
            handed_on = index + (node.op_type == "Loop")  # the first output of a body is its condition
            names = nested.output_names[handed_on : handed_on + 1]
            found += self._resolved(self._walks.of(nested, walked.call), names)
        if node.op_type == "If" and found:
            return found
        return found + self._resolved(walked, self._deciding(walked, node, index))

    def _resolved(self, walked: WalkResult | None, names: Sequence[str]) -> list[WalkedValue]:
        """Return the values of names used by nodes of a graph, without undefined names."""
        if walked is None:
            return []
        scopes = [(self._walks.scope(walked, name), name) for name in names if name]
        return [(scope, name) for scope, name in scopes if scope is not None]

    def _deciding(self, walked: WalkResult, node: Node, index: int) -> list[str]:
        """Return the inputs whose shape and content an output depends on; all if no single input matters."""
        memo = walked.memos[node.form]
        facts = self._walks.inputs(walked, node.inputs)
        if memo.operator is None or memo.operator.by_subgraphs or len(facts) > _MOST_TRIED:
            return list(node.inputs)
        made = memo.outcome(facts).outputs[index : index + 1]
        found = []
        for place, each in enumerate(facts):
            less = (*facts[:place], fact(each.kind), *facts[place + 1 :])
            if memo.outcome(less).outputs[index : index + 1] != made:
                found.append(node.inputs[place])
        return found or list(node.inputs)


def _version(value: Value) -> int | None:
    node = value.definition.node
    memo = None if node is None else value.walked.memos.get(node.form)
    return None if memo is None or memo.operator is None else memo.operator.schema.since_version


def _supplying(node: Node, body: Graph, index: int) -> list[str]:
    """Return the input of a control-flow node that supplies an input of its body."""
    if node.op_type == "Scan":
        # The first input of version 8 is the lengths of the sequences.
        index += len(node.inputs) - len(body.input_names)
    elif node.op_type == "Loop" and index == 0:
        return []  # the number of the iteration
    return list(node.inputs[index : index + 1]) if index >= 0 else []
