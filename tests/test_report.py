# SPDX-License-Identifier: Apache-2.0
"""Findings of one cause are one in a report, and each by itself for a baseline."""

from __future__ import annotations

from itertools import permutations

from support.reports.made_up_report import error

from onnx_lint.common.record import replace
from onnx_lint.report import Diagnostic, fold, unfold
from onnx_lint.spec.clauses import Severity


def _of_node(index: int, cause: str | None = "Add B: NotBroadcast", **changes: object) -> Diagnostic:
    return error(place=f"graph.node[{index}].input[1]", message=f"node {index}", cause=cause, related=(), **changes)


def test_findings_of_one_cause_are_the_first_of_them_with_a_count_and_the_next_three_places():
    found = fold([_of_node(index) for index in range(6)])
    assert [(each.place, each.count, each.message) for each in found] == [
        ("graph.node[0].input[1]", 6, "node 0; 5 more nodes have this fault")
    ]
    assert [(each.place, each.message) for each in found[0].related] == [
        (f"graph.node[{index}].input[1]", f"node {index}") for index in (1, 2, 3)
    ]


def test_the_least_place_is_the_first():
    """In whatever order the file has its fields."""
    places = ["graph.node[2].input[0]", "graph.node[2].attribute[0].g.node[0].input[0]", "graph.node[10].input[0]"]
    for order in permutations(places):
        (found,) = fold([replace(_of_node(0), place=place) for place in order])
        assert [found.place, *(related.place for related in found.related)] == places


def test_another_rule_clause_severity_or_cause_is_another_finding():
    others = [
        _of_node(1, rule="another"),
        _of_node(2, clause="NOD-8"),
        _of_node(3, severity=Severity.WARNING),
        _of_node(4, cause="Add A: NotBroadcast"),
    ]
    assert fold([_of_node(0), *others]) == (_of_node(0), *others)


def test_findings_without_a_cause_stay_apart():
    alike = (_of_node(0, cause=None), _of_node(0, cause=None))
    assert fold(alike) == alike


def test_the_faults_of_one_node_count_each():
    assert fold([_of_node(0, count=4), _of_node(1, count=4)])[0].count == 8


def test_what_is_unfolded_is_what_was_folded():
    found = (_of_node(0), _of_node(1), _of_node(2, cause=None))
    assert unfold(fold(found)) == found
    assert fold(unfold(fold(found))) == fold(found)
