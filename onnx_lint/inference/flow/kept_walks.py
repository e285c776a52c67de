# SPDX-License-Identifier: Apache-2.0
"""Which walks over graphs are kept: the first one over each graph, and later ones that may give dimensions sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.inference.flow.knowledge import unknown_shapes
from onnx_lint.inference.flow.reachability import Reachability
from onnx_lint.inference.flow.walks import MAX_FURTHER, Call, WalkResult, Walks
from onnx_lint.inference.shapes.fact import Fact, Facts
from onnx_lint.ir.graph import Graph, GraphKind

if TYPE_CHECKING:
    from onnx_lint.inference.flow.frames import Frame


class TrialState:
    """The trials of bodies of loops: walks that only try a run, and whose results are dropped."""

    def __init__(self) -> None:
        self.is_trial = False
        """True during a trial."""
        self.walked_nodes = 0
        """The number of nodes that trials have walked so far."""
        self.failing_bodies: set[int] = set()
        """The identities of the graphs that have a faulty node in a trial."""

    @property
    def has_budget(self) -> bool:
        """True until trials have walked `_MAX_TRIED_NODES` nodes.

        Trials contain trials, so their time could double at each depth of nested loops.
        """
        return self.walked_nodes < _MAX_TRIED_NODES


class KeptWalks:
    """The walks that are kept, and the calls that may give dimensions sizes.

    A call may do that if it passes dimension variables to the function, or if nodes of the body make dimensions equal.
    """

    def __init__(self, reachability: Reachability, trials: TrialState, *, keeps_all: bool) -> None:
        """`keeps_all`: whether to keep every walk over a function body, not only the first."""
        self.walks = Walks()
        self._reachability = reachability
        self._trials = trials
        self._keeps_all = keeps_all
        self._with_sizes: list[WalkResult] = []
        """The later walks that run their graph and may give dimensions sizes, if not all walks are kept."""
        self.equal_calls: dict[int, list[Call]] = {}
        """A call whose body may give dimensions sizes, and those with the same arguments, by its identity."""
        self.sizing_count = 0
        """The number of walks in calls that may give dimensions sizes, and of such calls with a known result."""
        self._repeated_nodes = 0
        """The number of nodes in walks over a graph that was walked before."""

    @property
    def running(self) -> list[WalkResult]:
        """The walks that run their graph and may give dimensions sizes: the first one over each, then later ones."""
        first = [walked for walked in self.walks.first if self._reachability.runs_at_first(walked.graph)]
        return [*first, *self._with_sizes]

    @property
    def nodes_walked_again(self) -> int:
        """The number of nodes in walks after the first one over their graph, and in trials."""
        return self._trials.walked_nodes + self._repeated_nodes

    def keep(
        self, graph: Graph, frame: Frame, known: Mapping[str, Fact], *, has_unknown: bool, unequal: Sequence[int] = ()
    ) -> None:
        """Keep a walk over a graph if it is the first or may give sizes. Only count the nodes of a trial.

        `has_unknown`: whether there may be values of unknown shape. `unequal`: see `WalkResult`.
        """
        if self._trials.is_trial:
            self._trials.walked_nodes += len(graph.forms)
            return
        is_first = graph not in self.walks
        self._reachability.record_walk(graph, is_first=is_first)
        may_give_sizes = self._may_give_sizes(frame.call, unequal)
        if may_give_sizes:
            self.sizing_count += 1
        if is_first or self._keeps_all:
            # The values of inner graphs are removed from `known` after their walk; for others `known` can be kept.
            own = _own_values(graph, known) if graph.kind in _INNER else known
            unknown = unknown_shapes(graph, known) if has_unknown else _NONE_UNKNOWN
            self.walks.add(
                WalkResult(graph=graph, facts=own, unknown=unknown, memos=frame.memos, unequal=unequal, call=frame.call)
            )
            return
        self._repeated_nodes += len(graph.forms)
        if may_give_sizes and len(self._with_sizes) < _MAX_WITH_SIZES:
            self._with_sizes.append(_walk_with_sizes(graph, frame, known, unequal))

    def keep_equal_call(self, first: Call, call: Call) -> None:
        """Keep a call with the arguments of another one, whose body may give dimensions sizes."""
        self.sizing_count += 1
        calls = self.equal_calls.setdefault(id(first), [first])
        if len(calls) <= MAX_FURTHER:
            calls.append(call)

    def _may_give_sizes(self, call: Call | None, unequal: Sequence[int]) -> bool:
        if call is None or self._reachability.idle_parts:
            return False
        return bool(unequal) or _have_variables(call.arguments)


def _own_values(graph: Graph, known: Mapping[str, Fact]) -> dict[str, Fact]:
    return {name: known[name] for name in graph.positions if name in known}


def _walk_with_sizes(graph: Graph, frame: Frame, known: Mapping[str, Fact], unequal: Sequence[int]) -> WalkResult:
    """Return what the equations between dimensions need of a later walk over a graph."""
    memos = {graph.forms[index]: frame.memos[graph.forms[index]] for index in unequal}
    if not graph.is_function:  # the values of a nested graph, and outer ones, are removed from `known` later
        names = {name for inputs in graph.node_inputs for name in inputs}
        known = {name: known[name] for name in names if name in known}
    return WalkResult(graph=graph, facts=known, unknown=(), memos=memos, unequal=unequal, call=frame.call)


def _have_variables(facts: Facts) -> bool:
    """Return whether a dimension in some facts is a variable."""
    return any(isinstance(dim, str) for each in facts for dim in each.shape or ())


_INNER: Final = (GraphKind.NESTED, GraphKind.INITIALIZATION, GraphKind.ALGORITHM)
"""The kinds of graphs whose values are forgotten after the walk."""

_MAX_TRIED_NODES: Final = 20_000
"""The budget of all trials, in nodes."""

_MAX_WITH_SIZES: Final = 5_000
"""The most later walks over graphs that are kept."""

_NONE_UNKNOWN: Final[frozenset[str]] = frozenset()
