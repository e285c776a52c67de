# SPDX-License-Identifier: Apache-2.0
"""Counts the values with known shapes, and finds the causes of unknown ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.outcome_memo import OutcomeMemo
from onnx_lint.inference.flow.walks import WalkedValue, WalkResult, Walks, arguments_for
from onnx_lint.inference.shapes.fact import UNKNOWN, Fact, Facts
from onnx_lint.inference.shapes.problem import is_warning
from onnx_lint.inference.shapes.rules import has_shape_rule
from onnx_lint.inference.types.type_string import optional_element, sequence_element
from onnx_lint.ir.crashes import Crashes
from onnx_lint.ir.graph import BEFORE_NODES, Graph, GraphKind, Node
from onnx_lint.ir.operators.operators import Operators, OperatorStatus
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES

Kind = Literal[
    "operator-without-import",
    "operator-without-signature",
    "operator-without-rule",
    "budget",
    "input",
    "undecided",
    "finding",
    "internal-error",
]
"""The kinds of causes of unknown shapes: an operator has no import, is unknown, or has no shape rule; a function has
more calls than are followed; an input has no shape; values of the run decide the shape; the node has a finding, so that
its outputs are unknown; onnx-lint crashed at the node or before it."""

Cause = tuple[Kind, str]
"""The kind of cause, and the name of the operator, function or input."""


class Knowledge(Record):
    """The number of values, the number with unknown shape, and the causes."""

    values: int
    unknown: int
    causes: tuple[tuple[Cause, int], ...]
    """The MAX_CAUSES causes with the most values, each with the number of values."""


def unknown_shapes(graph: Graph, known: Mapping[str, Fact]) -> Collection[str]:
    """Return the values that a graph defines and whose rank is unknown, if values of their type have one."""
    names = graph.positions
    facts = list(map(known.get, names))
    # Facts are interned: there are far fewer of them than values.
    without = {each for each in set(facts) if not has_known_shape(each or UNKNOWN)}
    if not without:
        return ()
    return frozenset([name for name, each in zip(names, facts, strict=True) if each in without])


def have_known_shapes(names: Iterable[str], known: Mapping[str, Fact]) -> bool:
    """Return whether the shapes of these values are known. Values without a shape count as known."""
    return all(has_known_shape(each or UNKNOWN) for each in set(map(known.get, names)))


def has_known_shape(fact: Fact) -> bool:
    """Return whether the rank of a value, or of its content, is known. A value without a rank counts as known."""
    while fact.shape is None and fact.kind is not None:
        element = sequence_element(fact.kind) or optional_element(fact.kind)
        if element is None:
            return not fact.kind.startswith(("tensor(", "sparse_tensor("))
        if fact.inside is None:
            return element.startswith("map(")
        fact = fact.inside
    return fact.shape is not None


MAX_CAUSES: Final = 100
"""The number of causes in a report, those with the most values."""


class Origins:
    """Finds the cause of each value of unknown shape, by steps to the one value before it."""

    def __init__(self, walks: Walks, operators: Operators, crashes: Crashes) -> None:
        self._walks = walks
        self._operators = operators
        self._crashed = {node for site in crashes for node in site.seen}
        """The nodes at which onnx-lint crashed, as identities of graphs and indices."""
        self._of_nodes: dict[tuple[int, int], WalkedValue | Cause] = {}
        """The results for nodes with several outputs, which have one cause and may have many inputs."""
        self._found: dict[int, dict[str, Cause | None]] = {}
        """The causes of values, by the walk over their graph; None while one is searched for."""
        self._causes: dict[Cause, Cause] = {}
        self._parameters: dict[int, dict[str, int]] = {}

    def knowledge(self) -> Knowledge:
        """Return the numbers for the whole model; for a function those of its first call."""
        first = self._walks.first
        values = sum(len(walked.graph.positions) for walked in first)
        unknown = sum(len(walked.unknown) for walked in first)
        if not unknown:
            return Knowledge(values, unknown, ())
        from heapq import nsmallest

        ordered = nsmallest(MAX_CAUSES, self._values_by_cause(first), key=lambda item: (-item[1], item[0]))
        return Knowledge(values, unknown, tuple(ordered))

    def _values_by_cause(self, first: Iterable[WalkResult]) -> Iterator[tuple[Cause, int]]:
        """Yield each cause and the number of values of unknown shape that have it."""
        counts: Counter[Cause] = Counter()
        for walked in first:
            counts.update(self.cause(walked, name) for name in walked.unknown if not _is_main_input(walked, name))
        # Each input of the main graph is its own cause. They are not cached, since their number is not limited.
        main_inputs = [name for walked in first for name in walked.unknown if _is_main_input(walked, name)]
        causing = {name for kind, name in counts if kind == "input"}
        counts.update(("input", name) for name in main_inputs if name in causing)
        yield from counts.items()
        yield from ((("input", name), 1) for name in main_inputs if name not in causing)

    def cause(self, walked: WalkResult, name: str) -> Cause:
        """Return the cause of a value of unknown shape."""
        passed: list[WalkedValue] = []
        value = WalkedValue(walked, name)
        while True:
            known = self._found.setdefault(id(value.walked), {})
            if value.name in known:
                # It is being searched for: a function that calls itself, or a cycle of nodes, which is another finding.
                found = known[value.name] or (_UNDECIDED, "")
                break
            known[value.name] = None
            passed.append(value)
            before = self._before(value.walked, value.name)
            if not isinstance(before, WalkedValue):
                found = before
                break
            value = before
        found = self._causes.setdefault(found, found)
        for each in passed:
            self._found[id(each.walked)][each.name] = found
        return found

    def _before(self, walked: WalkResult, name: str) -> WalkedValue | Cause:
        graph = walked.graph
        position = graph.positions[name]
        if position != BEFORE_NODES:
            if len(graph.table.outputs[position]) == 1:
                return self._before_node(walked, graph.nodes[position])
            key = id(walked), position
            if key not in self._of_nodes:
                self._of_nodes[key] = self._before_node(walked, graph.nodes[position])
            return self._of_nodes[key]
        if graph.is_function and walked.call is not None:
            node = walked.call.node
            caller = self._walks.of(node.graph, walked.call.around)
            index = self._parameter(graph, name)
            return self._first_unknown(caller, node.inputs[index : index + 1]) or ("input", name)
        if graph.parent is not None and 0 <= graph.position < len(graph.parent.forms):
            return _UNDECIDED, self._operator(graph.parent.nodes[graph.position])
        return "input", name

    def _before_node(self, walked: WalkResult, node: Node) -> WalkedValue | Cause:
        memo = walked.memos.get(node.form)
        name = self._operator(node)
        if memo is None or (id(node.graph), node.index) in self._crashed:
            return "internal-error", name  # without a memo the crash ended the walk before the node
        if memo.operator is None:
            return self._before_call(walked, node, name)
        if not has_shape_rule(memo.operator.schema):
            return "operator-without-rule", name
        for nested in node.graph.nested_by_node.get(node.index, ()):
            inner = self._first_unknown(self._walks.of(nested, walked.call), nested.output_names)
            if inner is not None:
                return inner
        before = self._first_unknown(walked, node.inputs) or self._missing_graph(walked, node)
        if before is not None:
            return before
        return ("finding" if _has_finding(memo, self._walks.inputs(walked, node.inputs)) else _UNDECIDED), name

    def _before_call(self, walked: WalkResult, node: Node, name: str) -> WalkedValue | Cause:
        """Return the step before a node whose operator is a function, or is not known. `name`: of the operator."""
        operator = self._operators.operator(node)
        if operator.status is OperatorStatus.UNBOUND:
            return "operator-without-import", name
        function = operator.function
        if function is None:
            return "operator-without-signature", name
        arguments = arguments_for(function, self._walks.inputs(walked, node.inputs))
        body = self._walks.of_arguments(function.body, arguments)
        inner = self._first_unknown(body, function.body.output_names)
        return inner or self._first_unknown(walked, node.inputs) or ("budget", name)

    def _missing_graph(self, walked: WalkResult, node: Node) -> Cause | None:
        """Return the cause if a node has a graph that the call of its function passes, and this graph is unknown.

        Nothing calls the function then, or there are more calls than are followed.
        """
        for proto in node.attribute_protos:
            if proto.ref_attr_name and proto.type == ATTRIBUTE_TYPE_CODES["GRAPH"]:
                if walked.call is None:
                    return "input", proto.ref_attr_name
                if self._walks.are_graphs_left_out:
                    return "budget", self._operator(walked.call.node)
        return None

    def _first_unknown(self, walked: WalkResult | None, names: Sequence[str]) -> WalkedValue | None:
        """Return the first of these values whose shape is unknown, in the walk over the graph that defines it."""
        if walked is None:
            return None
        for name in names:
            scope = self._walks.scope(walked, name)
            if scope is not None and name in scope.unknown:
                return WalkedValue(scope, name)
        return None

    def _operator(self, node: Node) -> str:
        found = self._operators.operator(node)
        return f"{found.domain}::{found.op_type}" if found.domain else found.op_type

    def _parameter(self, graph: Graph, name: str) -> int:
        if id(graph) not in self._parameters:
            self._parameters[id(graph)] = {each: index for index, each in enumerate(graph.input_names)}
        return self._parameters[id(graph)][name]


def _has_finding(memo: OutcomeMemo, inputs: Facts) -> bool:
    """Return whether a node contradicts its operator, so that its outputs are unknown."""
    if memo.has_faulty_attribute:
        return True
    if memo.operator is None or memo.operator.by_subgraphs:
        return False
    outcome = memo.outcome(inputs)
    return bool(outcome.problems) or not all(map(is_warning, outcome.shape_problems))


def _is_main_input(walked: WalkResult, name: str) -> bool:
    """Return whether the value is an input or initializer of the main graph, whose shape can only be declared."""
    return walked.graph.kind is GraphKind.MAIN and walked.graph.positions[name] == BEFORE_NODES


_UNDECIDED: Final = "undecided"
