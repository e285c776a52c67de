# SPDX-License-Identifier: Apache-2.0
"""Whether graphs run: constants may decide it for the branches of an If and the body of a loop."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from onnx_lint.inference.flow.walks import Call
from onnx_lint.ir.graph import Graph

if TYPE_CHECKING:
    from onnx_lint.inference.flow.frames import Walk

GraphInCall = tuple[int, int]
"""A nested graph in a call of the function that has it: the identities of both."""


class Reachability:
    """What never runs, and what is sure to run whenever the graph around it does."""

    def __init__(self) -> None:
        self.idle_parts: list[str] = []
        """What never runs around the current walk, the outermost first: "branch" of an If, or "body" of a loop."""
        self.uncertain_depth = 0
        """The number of subgraphs around the current walk, within the function body, that are not sure to run."""
        self._idle_graphs: set[int] = set()
        """The identities of the graphs that no walk runs."""
        self._idle_at_first: set[int] = set()
        """The identities of the graphs that their first walk does not run."""
        self._sure_graphs: dict[GraphInCall, Call | None] = {}
        """The nested graphs that are sure to run in some walk. The calls must live as long as their identities."""
        self._doubtful_graphs: dict[GraphInCall, Call | None] = {}
        """The nested graphs that are not sure to run in some walk; in another one they may be."""

    @property
    def sure_graphs(self) -> Set[GraphInCall]:
        """The nested graphs that are sure to run in each walk if the graph around them does."""
        return self._sure_graphs.keys() - self._doubtful_graphs.keys()

    def never_runs(self, graph: Graph) -> bool:
        """Return whether a graph is in a branch or body that never runs, because constants decide so."""
        return id(graph) in self._idle_graphs

    def runs_at_first(self, graph: Graph) -> bool:
        """Return whether the first walk over a graph runs it."""
        return id(graph) not in self._idle_at_first

    def uncertain_walk(self, walk: Walk) -> Walk:
        """Walk a subgraph that is not sure to run."""
        self.uncertain_depth += 1
        outputs = yield walk
        self.uncertain_depth -= 1
        return outputs

    def idle_walk(self, walk: Walk, part: str) -> Walk:
        """Walk a subgraph that never runs: a "branch" or a "body"."""
        self.idle_parts.append(part)
        self.uncertain_depth += 1
        outputs = yield walk
        self.uncertain_depth -= 1
        self.idle_parts.pop()
        return outputs

    def record_walk(self, graph: Graph, *, is_first: bool) -> None:
        """Record whether a walk runs its graph. It may be idle in one call of a function, and run in another."""
        if not self.idle_parts:
            self._idle_graphs.discard(id(graph))
        elif is_first:
            self._idle_graphs.add(id(graph))
            self._idle_at_first.add(id(graph))

    def record_nested(self, graph: Graph, call: Call | None, *, is_sure: bool) -> None:
        """Record whether a nested graph surely runs in a call, if the graph around it does."""
        graphs = self._sure_graphs if is_sure else self._doubtful_graphs
        graphs[id(graph), id(call)] = call
