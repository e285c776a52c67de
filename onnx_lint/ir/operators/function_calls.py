# SPDX-License-Identifier: Apache-2.0
"""Finds the nodes that call model-local functions. Functions are looked up, never expanded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import Record
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Function, Graph, GraphKind, Node
from onnx_lint.spec.releases import normalized_domain

OVERLOADS_SINCE = 10
"""The first IR version in which the overload distinguishes functions; before, only domain and name do (FUN-3)."""

MAX_COUNT = 10**18
"""The largest count of expanded nodes. It keeps the number printable if functions double their nodes repeatedly."""

NodeCall = tuple[Node, Function]
"""A node and the function that it calls."""

FunctionKey = tuple[str, str, str]
"""Domain, name and overload. The default domain is empty. The overload is empty if the IR version has none."""


def attribute_parameters(function: Function) -> dict[str, None]:
    """Return the names of all attribute parameters, with and without default, in the order of the file."""
    return dict.fromkeys([*function.attribute_names, *(default.name for default in function.attribute_defaults)])


class Recursion(Record):
    """A circle of functions: each calls the next one, and the last one calls the first."""

    functions: tuple[Function, ...]
    nodes: tuple[Node, ...]
    """For each function the node that calls the next."""


class Calls:
    """The calls of model-local functions among the nodes of `graphs`.

    A function has priority over an operator of the same domain and name, also in the domains that ONNX publishes. If
    several functions have one identity, the first is called. The specification leaves both open.
    """

    def __init__(self, functions: Sequence[Function], graphs: Iterable[Graph], ir_version: int) -> None:
        self.has_overloads = ir_version >= OVERLOADS_SINCE
        """True if the overload distinguishes functions."""
        self._functions = functions
        self._graphs = graphs
        self._by_name: dict[tuple[str, str], list[Function]] = {}
        for function in functions:
            self._by_name.setdefault((normalized_domain(function.domain), function.name), []).append(function)
        self._by_form: dict[NodeForm, Function | None] = {}

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all functions, in all domains."""
        return frozenset([name for _, name in self._by_name])

    @cached_property
    def _by_key(self) -> dict[FunctionKey, Function]:
        found: dict[FunctionKey, Function] = {}
        for function in self._functions:
            found.setdefault(self.key(function.domain, function.name, function.overload), function)
        return found

    @property
    def has_namesakes(self) -> bool:
        """True if functions share domain and name, with the same or different overloads."""
        return len(self._by_name) < len(self._functions)

    def key(self, domain: str, name: str, overload: str) -> FunctionKey:
        """Return what identifies a function of this domain, name and overload in this model."""
        return normalized_domain(domain), name, overload if self.has_overloads else ""

    def namesakes(self, node: Node | NodeForm) -> list[Function]:
        """Return the functions with the node's domain and op_type, with any overload."""
        return self._by_name.get((normalized_domain(node.domain), node.op_type), [])

    def function_of(self, node: Node | NodeForm) -> Function | None:
        """Return the function that the node calls; None for an operator."""
        form = node if isinstance(node, NodeForm) else node.form
        if form not in self._by_form:
            self._by_form[form] = self._called_by(form)
        return self._by_form[form]

    def _called_by(self, node: NodeForm) -> Function | None:
        namesakes = self.namesakes(node)
        if not namesakes:
            return None
        if self.has_overloads and len(namesakes) > 1:
            return self._by_key.get(self.key(node.domain, node.op_type, node.overload))
        only = namesakes[0]
        return only if not self.has_overloads or only.overload == node.overload else None

    @cached_property
    def all(self) -> list[NodeCall]:
        """Every call, in the order of the graphs."""
        if not self._functions:
            return []
        # Most nodes are operators, which the op_type alone shows.
        forms = set[NodeForm]().union(*[graph.form_counts for graph in self._graphs])
        functions = {form: self.function_of(form) for form in forms if form.op_type in self.names}
        called = {form: function for form, function in functions.items() if function is not None}
        graphs = (graph for graph in self._graphs if not called.keys().isdisjoint(graph.form_counts))
        return [(node, called[node.form]) for graph in graphs for node in graph.nodes_of(called)]

    @cached_property
    def callees(self) -> list[dict[int, Node]]:
        """For each function, the index of each function that its body calls (nested graphs included), with the node.

        If the body calls a function several times, it is the first node.
        """
        callees: list[dict[int, Node]] = [{} for _ in self._functions]
        for node, function in self.all:
            if node.graph.function is not None:
                callees[node.graph.function.index].setdefault(function.index, node)
        return callees

    @cached_property
    def called(self) -> set[int]:
        """The indices of the functions that a graph outside of functions calls, itself or through other functions."""
        stack = [function.index for node, function in self.all if node.graph.function is None]
        found = set(stack)
        while stack:
            new = self.callees[stack.pop()].keys() - found
            found |= new
            stack += new
        return found

    @cached_property
    def running(self) -> dict[int, list[Node]]:
        """The calls that inference runs, by the index of their function."""
        found: dict[int, list[Node]] = {}
        for node, function in self.all:
            if self.is_run(node.graph):
                found.setdefault(function.index, []).append(node)
        return found

    def is_run(self, graph: Graph) -> bool:
        """Return whether inference runs the graph: it is no training graph, and its function is called."""
        if graph.function is not None:
            return graph.function.index in self.called
        while graph.parent is not None and graph.kind is GraphKind.NESTED:
            graph = graph.parent
        return graph.kind not in (GraphKind.INITIALIZATION, GraphKind.ALGORITHM)

    def expanded_nodes(self) -> int:
        """Return the number of nodes of the model after the inlining of all calls, MAX_COUNT at most.

        Each function is expanded once, however often it is called. A call inside of a circle counts as one node.
        """
        outside = Counter(function.index for node, function in self.all if node.graph.function is None)
        sizes = [0] * len(self._functions)
        nodes = 0
        for graph in self._graphs:
            if graph.function is None:
                nodes += len(graph.forms)
            else:
                sizes[graph.function.index] += len(graph.forms)
        if any(self.callees):
            self._expand(sizes)
        return min(nodes + sum(calls * (sizes[callee] - 1) for callee, calls in outside.items()), MAX_COUNT)

    def _expand(self, sizes: list[int]) -> None:
        """Add to the size of each function body the expanded size of the calls in it."""
        bodies: dict[int, Counter[int]] = {}
        for node, function in self.all:
            if node.graph.function is not None:
                bodies.setdefault(node.graph.function.index, Counter())[function.index] += 1
        # A component has a greater number than those that it calls.
        for index in sorted(range(len(sizes)), key=self._component.__getitem__):
            for callee, calls in bodies.get(index, {}).items():
                if self._component[callee] != self._component[index]:
                    sizes[index] += calls * (sizes[callee] - 1)
            sizes[index] = min(sizes[index], MAX_COUNT)

    @cached_property
    def _component(self) -> Sequence[int]:
        """The number of the strong component of each function: functions in one component call one another."""
        from onnx_lint.ir.names.digraph import digraph, strong_components

        return strong_components(digraph(self.callees))

    def recursions(self) -> list[Recursion]:
        """Return a shortest circle for each set of functions that call one another, through its first function."""
        if not any(self.callees):
            return []
        from onnx_lint.ir.names.digraph import shortest_way

        component = self._component
        inside = [
            [callee for callee in callees if component[callee] == component[index]]
            for index, callees in enumerate(self.callees)
        ]
        # The shortest way from a node to itself is that one node. So the search begins at `entrance`, which has the
        # callees of the start.
        entrance = len(inside)
        inside.append([])
        seen: set[int] = set()
        found: list[Recursion] = []
        for start in range(entrance):
            if inside[start] and component[start] not in seen:
                seen.add(component[start])
                inside[entrance] = inside[start]
                found.append(self._recursion(shortest_way(inside, entrance, start)))
        return found

    def _recursion(self, way: list[int]) -> Recursion:
        """Return the circle in `way`, which begins outside of it and ends at its start."""
        indices = [way[-1], *way[1:-1]]
        nodes = [self.callees[here][there] for here, there in zip(indices, way[1:], strict=True)]
        return Recursion(tuple(self._functions[index] for index in indices), tuple(nodes))
