# SPDX-License-Identifier: Apache-2.0
"""Finds the equations that cannot be satisfied, in all scopes of a model."""

from __future__ import annotations

from collections.abc import Mapping

from onnx_lint.common.record import replace
from onnx_lint.inference.flow.equations.collecting import ACTIVITY, scoped_equations
from onnx_lint.inference.flow.equations.contradiction import Contradiction
from onnx_lint.inference.flow.equations.solving import Budget, Solution
from onnx_lint.inference.flow.scopes import APART, Scopes, VariableScope, innermost_around
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.shapes.problem import TwoSizes
from onnx_lint.ir.crashes import Crashes
from onnx_lint.ir.graph import Graph


def contradictions(flow: ValueFlow, crashes: Crashes) -> list[Contradiction]:
    """Return the equations that cannot be satisfied, each variable once. They are looked for once.

    After a bug only the equations of a node or of a scope are missing; the crash is recorded.
    """
    if flow.contradictions is None:
        flow.contradictions = _contradictions(flow, crashes)
    found: list[Contradiction] = flow.contradictions
    return found


def _contradictions(flow: ValueFlow, crashes: Crashes) -> list[Contradiction]:
    solutions: dict[VariableScope, Solution] = {}
    equations = scoped_equations(flow, crashes)
    budget = Budget()
    found: list[Contradiction] = []
    for scope in sorted(equations, key=len):
        solution = solutions[scope] = Solution(innermost_around(scope, solutions), budget)
        with crashes.at(ACTIVITY):
            of_scope = [_in_scope(each, flow, scope) for each in solution.contradictions(equations[scope])]
            found.extend(each for each in of_scope if not (each.is_declared and each.is_nested))
    found += _not_broadcast(flow, solutions, crashes)
    # Two sizes within one node are an error there.
    in_one_node = {each.problem.variable for each in flow.shapes if isinstance(each.problem, TwoSizes)}
    return [each for each in found if each.subject not in in_one_node]


def _not_broadcast(
    flow: ValueFlow, solutions: Mapping[VariableScope, Solution], crashes: Crashes
) -> list[Contradiction]:
    """Return the operands that do not broadcast with the sizes that the solutions give their variables."""
    known = {scope: solution for scope, solution in solutions.items() if solution.values.have_sizes}
    if not known:
        return []
    from onnx_lint.inference.flow.equations.broadcasting import operands_not_broadcast

    scopes = Scopes(flow)
    found: list[Contradiction] = []
    for walked in flow.running:
        for scope in scopes.of(walked.graph, walked.call):
            if scope not in known:
                continue
            with crashes.at(ACTIVITY, walked.graph.place):
                of_graph = operands_not_broadcast(flow, walked, known[scope])
                found.extend(_in_scope(each, flow, scope) for each in of_graph)
    return found


def _in_scope(contradiction: Contradiction, flow: ValueFlow, scope: VariableScope) -> Contradiction:
    """Return the contradiction with the graph of its scope, if that may not run."""
    return replace(contradiction, conditional_graph=_conditional_graph(flow, scope))


def _conditional_graph(flow: ValueFlow, scope: VariableScope) -> Graph | None:
    """Return the innermost graph of a scope, which may not run; None if the scope is not that of a nested graph."""
    if scope in ((), APART):
        return None
    innermost, _ = scope[-1]
    return next((each.graph for each in flow.running if id(each.graph) == innermost), None)
