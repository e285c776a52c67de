# SPDX-License-Identifier: Apache-2.0
"""The scopes of dimension variables: the main graph with all that surely runs, and other nested graphs in each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from onnx_lint.inference.flow.reachability import GraphInCall
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walks import Call
from onnx_lint.ir.graph import Graph, GraphKind

Known = TypeVar("Known")

VariableScope = tuple[GraphInCall, ...]
"""The enclosing nested graphs that may not run, from the outermost one on; empty for the main graph."""

APART: Final[VariableScope] = ((-1, -1),)
"""The root of the scopes in an initialization graph, which does not see the main graph."""

_DEEPEST: Final = 64
"""The deepest nesting that is followed. No parser reads a file with more, except through functions."""

_MAX_SCOPES: Final = 64
"""The most scopes with equal calls that are distinguished."""


class Scopes:
    """Finds the scopes in which a graph is run. A function has those of its callers."""

    def __init__(self, flow: ValueFlow) -> None:
        self._equal_calls = flow.kept.equal_calls
        self._sure = flow.reachability.sure_graphs
        self._of_calls: dict[int, Sequence[VariableScope]] = {}
        """The scopes around a call and those with the same arguments, by its identity."""

    def of(self, graph: Graph, call: Call | None) -> Sequence[VariableScope]:
        """Return the scopes of a graph in a call, or outside of functions. Scopes beyond `_DEEPEST` are left out."""
        if call is not None:
            self._find(call)
        return self._of_graph(graph, call)

    def _find(self, call: Call) -> None:
        """Find the scopes around a call, after those around the calls of the functions that have it or an equal one."""
        left, begun = [call], set()
        while left:
            current = left.pop()
            if id(current) in self._of_calls:
                continue
            equal = self._equal_calls.get(id(current), [current])
            around = [each.around for each in equal if each.around is not None and id(each.around) not in begun]
            unknown = [each for each in around if id(each) not in self._of_calls]
            if unknown and id(current) not in begun:
                begun.add(id(current))
                left += [current, *unknown]
                continue
            found = [scope for each in equal for scope in self._of_graph(each.node.graph, each.around)]
            self._of_calls[id(current)] = list(dict.fromkeys(found))[:_MAX_SCOPES]

    def _of_graph(self, graph: Graph, call: Call | None) -> Sequence[VariableScope]:
        """Return the scopes of a graph, if those around the call are known."""
        around: list[GraphInCall] = []
        while graph.parent is not None and graph.kind is GraphKind.NESTED:
            if (id(graph), id(call)) not in self._sure:
                around.append((id(graph), id(call)))
            graph = graph.parent
        inner = tuple(reversed(around))
        if graph.is_function:
            outer = self._of_calls.get(id(call), ()) if call is not None else ()
        else:
            outer = [APART if graph.kind is GraphKind.INITIALIZATION else ()]
        return [(*each, *inner) for each in outer if len(each) + len(inner) <= _DEEPEST]


def innermost_around(scope: VariableScope, known: Mapping[VariableScope, Known]) -> Known | None:
    """Return what is known of the innermost scope around another one."""
    least = len(APART) if scope[:1] == APART else 0
    return next((known[scope[:end]] for end in range(len(scope) - 1, least - 1, -1) if scope[:end] in known), None)
