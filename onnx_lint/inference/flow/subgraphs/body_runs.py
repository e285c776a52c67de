# SPDX-License-Identifier: Apache-2.0
"""Tries runs of the body of a control-flow node."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.frames import NestedGraph, Walk
from onnx_lint.inference.flow.kept_walks import TrialState
from onnx_lint.inference.shapes.fact import Fact, Facts
from onnx_lint.inference.types.subgraph_types import Types

_MAX_RUN_NODES: Final = 128
"""The most nodes in all runs of a body that is followed run by run."""

WalkSubgraph = Callable[[NestedGraph, tuple[Fact | None, ...] | None], Walk]
"""Walks a subgraph, with the facts of the inputs that its operator supplies."""


class BodyRun(Record):
    """The outputs of a body in one run, and whether that run meets a fault."""

    outputs: Facts
    has_failed: bool


class BodyRuns:
    """Walks over a body whose results are dropped, to know what its runs make of their inputs."""

    def __init__(self, body: NestedGraph, types: Types, trials: TrialState, walk_subgraph: WalkSubgraph) -> None:
        self.graph = body.graph
        self.types = types
        """The types of the inputs of the body."""
        self._body = body
        self._trials = trials
        self._walk_subgraph = walk_subgraph

    @property
    def has_budget(self) -> bool:
        """True if trials may still be made."""
        return self._trials.has_budget

    @property
    def can_follow_each(self) -> bool:
        """True if runs may be followed one by one: not those of a graph that a call passes."""
        return not self._body.is_passed_by_call

    @property
    def most(self) -> int:
        """The most runs to follow one by one."""
        return _MAX_RUN_NODES // max(len(self.graph.forms), 1)

    def run(self, inputs: Facts) -> Generator[Walk, Facts, BodyRun]:
        """Walk the body with these inputs, without keeping anything of the walk."""
        failing = self._trials.failing_bodies
        failing.discard(id(self.graph))
        is_trial, self._trials.is_trial = self._trials.is_trial, True
        outputs = yield self._walk_subgraph(self._body, inputs)
        self._trials.is_trial = is_trial
        # In a graph nested in the body a fault may be in a branch that this run does not take.
        return BodyRun(outputs, id(self.graph) in failing)
