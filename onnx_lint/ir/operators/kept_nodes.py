# SPDX-License-Identifier: Apache-2.0
"""The nodes that surely remain when ONNX Runtime rewrites a model, which it does before it looks for kernels.

It puts the branch that runs in place of an If with a constant condition, deletes what only led to the shape of a value,
and deletes nodes that hand on their first input. So a node without a kernel may be gone before it is missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Definition, Graph, GraphKind, Node
from onnx_lint.ir.names.uses import ValueUses
from onnx_lint.ir.operators.function_calls import Calls
from onnx_lint.spec.releases import normalized_domain

_NEEDS_NO_DATA: Final = frozenset({"OptionalHasElement", "Shape", "Size"})
"""The operators whose outputs may be known without the elements of their inputs."""
_HANDS_ON: Final = frozenset(
    {"Cast", "Dropout", "Expand", "Identity", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"}
)
"""The operators that may be deleted or replaced. Then only the first input is used."""


class KeptNodes:
    """What surely remains of the nodes; of other nodes nothing is known."""

    def __init__(self, graphs: Sequence[Graph], calls: Calls) -> None:
        """`graphs`: each before those nested in it."""
        self._calls = calls
        bodies = [(graph, graph.function) for graph in graphs if graph.function is not None]
        self._functions_skip_data = any(
            len(function.body.output_names) != 1 or any(_is_of(form, _NEEDS_NO_DATA) for form in graph.form_counts)
            for graph, function in bodies
        )
        """True if a function may need no elements of an input, though its call is kept."""
        self._uses = ValueUses(graphs, (), self._inputs_as_data)

    def is_kept(self, node: Node) -> bool:
        """Return whether a node surely remains: an output of the model needs it as data, and no branch may go."""
        function = node.graph.function
        if _is_of(node.form, _HANDS_ON) or not self._is_kept_in_its_root(node):
            return False
        return function is None or function.index in self._kept_functions

    def is_in_no_dropped_branch(self, node: Node) -> bool:
        """Return whether no If around a node, or around a call of its function, may have a constant condition."""
        pending, seen = [node], set[int]()
        while pending:
            graph = pending.pop().graph
            if any(index >= len(outer.forms) or self._may_choose(outer, index) for outer, index in graph.scopes()):
                return False
            function = graph.function
            if function is not None and function.index not in seen:
                seen.add(function.index)
                pending += [call for call, called in self._calls.all if called.index == function.index]
        return True

    def _is_kept_in_its_root(self, node: Node) -> bool:
        """Return whether it remains if the main graph, or the function whose body it is in, is kept as a whole."""
        function = node.graph.function
        if function is not None and len(function.body.output_names) != 1:  # a call may need the other output only
            return False
        places = [(node.graph, node.index), *node.graph.scopes()]
        if any(index >= len(graph.forms) for graph, index in places):  # in the default of an attribute
            return False
        is_kept = not any(self._may_choose(graph, index) for graph, index in places[1:])
        return is_kept and self._uses.is_needed(node)

    @cached_property
    def _kept_functions(self) -> frozenset[int]:
        """The functions with a call that is kept: in the main graph, or in a function that is kept itself."""
        callees: dict[int | None, set[int]] = {}
        for node, function in self._calls.all:
            if self._is_kept_in_its_root(node):
                callees.setdefault(node.graph.function_index, set()).add(function.index)
        found = set(callees.get(None, ()))
        pending = list(found)
        while pending:
            new = callees.get(pending.pop(), set()) - found
            found |= new
            pending += new
        return frozenset(found)

    def _may_choose(self, graph: Graph, index: int) -> bool:
        """Return whether a node around others is an If whose condition may be constant."""
        return _is_of(graph.forms[index], frozenset({"If"})) and not self._is_variable(graph.nodes[index])

    def _is_variable(self, node: Node) -> bool:
        """Return whether the condition of an If needs the elements of an input of the model, or of a loop."""
        if node.graph.function is not None:  # every call may have constant arguments
            return False
        pending = [node.graph.definition_of(name) for name in node.inputs if name]
        seen = set[tuple[Graph, str, int]]()
        while pending:
            found = pending.pop()
            if found is None or (found.graph, found.field, _number(found)) in seen:
                continue
            seen.add((found.graph, found.field, _number(found)))
            if found.field == "input" and found.graph.kind in (GraphKind.MAIN, GraphKind.NESTED):
                if found.graph.input_names[found.index] not in found.graph.initializer_index:
                    return True
            elif found.node is not None and found.node.index not in found.graph.nested_by_node:
                names = self._as_data(found.node.form, found.node.inputs)
                pending += [found.graph.definition_of(name) for name in names if name]
        return False

    def _inputs_as_data(self, graph: Graph) -> Sequence[Sequence[str]]:
        """Return the inputs of each node of a graph whose elements it needs."""
        return [self._as_data(form, names) for form, names in zip(graph.forms, graph.node_inputs, strict=True)]

    def _as_data(self, form: NodeForm, names: Sequence[str]) -> Sequence[str]:
        """Return the inputs of a node whose elements it needs."""
        if _is_of(form, _NEEDS_NO_DATA) or (self._functions_skip_data and self._calls.function_of(form) is not None):
            return ()
        return names[:1] if _is_of(form, _HANDS_ON) else names


def _is_of(form: NodeForm, names: frozenset[str]) -> bool:
    return form.op_type in names and not normalized_domain(form.domain)


def _number(found: Definition) -> int:
    """Return what distinguishes a definition from others of its list."""
    return found.index if found.node is None else found.node.index
