# SPDX-License-Identifier: Apache-2.0
"""Findings of one cause are one in a report, and each by itself for a baseline."""

from __future__ import annotations

from itertools import permutations

import pytest
from support.models.places import place_at
from support.reports.made_up_report import error

from onnx_lint.common.record import replace
from onnx_lint.ir.places.place import EnclosingNames
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.finding_counts import fixes_of
from onnx_lint.report.findings import Diagnostic, ProposedFix
from onnx_lint.report.folding import fold, unfold
from onnx_lint.spec.clauses import Severity


def _of_node(index: int, cause: str | None = "Add B: NotBroadcast", **changes: object) -> Diagnostic:
    return error(
        at=place_at(f"graph.node[{index}].input[1]"), message=f"node {index}", cause=cause, related=(), **changes
    )


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
        (found,) = fold([replace(_of_node(0), at=place_at(place)) for place in order])
        assert [found.place, *(related.place for related in found.related)] == places


def test_another_rule_clause_severity_or_cause_is_another_finding():
    others = [
        _of_node(1, rule="another"),
        _of_node(2, clause="NOD-8"),
        _of_node(3, severity=Severity.WARNING),
        _of_node(4, cause="Add A: NotBroadcast"),
    ]
    assert fold([_of_node(0), *others]) == (_of_node(0), *others)


def test_rules_share_a_cause_only_if_both_say_so():
    """Each of them says that its cause is that of other rules as well."""
    pair = [_of_node(0, is_cause_shared=True), _of_node(1, rule="another", is_cause_shared=True)]
    (found,) = fold(pair)
    assert found.message == "node 0; 1 more fault has this cause"
    for apart in ([pair[0], _of_node(1, rule="another")], [_of_node(0), pair[1]]):
        assert fold(apart) == tuple(apart)


def test_a_shared_cause_of_one_rule_is_told_by_nodes_unless_a_node_has_it_twice():
    one, other, again = (
        replace(_of_node(0, is_cause_shared=True), at=place_at(f"graph.node[{node}].attribute[{index}]"))
        for node, index in ((0, 0), (1, 0), (0, 1))
    )
    assert fold([one, other])[0].message == "node 0; 1 more node has this fault"
    assert fold([one, again, other])[0].message == "node 0; 2 more faults have this cause"


@pytest.mark.parametrize(
    ("places", "word"),
    [
        (["graph.initializer[0]", "graph.initializer[1].name"], "initializer"),
        (["graph.node[0].attribute[0].g", "graph.node[1].attribute[0].g"], "subgraph"),
        (["graph.input[0]", "graph.input[1].type"], "input"),
        (["graph.input[0]", "graph.node[1].input[0]"], "place"),
        (["opset_import[0]", "opset_import[0]"], "node"),
        (["graph.initializer[0]", "graph.initializer[0]", "graph.initializer[1]"], "node"),
        (["functions[0]", "functions[1]"], "function"),
        (["graph.quantization_annotation[0]", "graph.quantization_annotation[1].tensor_name"], "annotation"),
        (["metadata_props[0]", "metadata_props[1]"], "place"),
        (["tensor_values[0].data_type", "tensor_values[1].data_type"], "place"),  # of a file without nodes
    ],
)
def test_what_else_has_the_fault_is_named(places: list[str], word: str):
    (found,) = fold([replace(_of_node(0), at=place_at(place)) for place in places])
    behind = f"1 more {word} has" if len(places) == 2 else f"{len(places) - 1} more {word}s have"
    assert found.message == f"node 0; {behind} this fault"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a", "b"], "1 more node has this fault: 'b'"),
        (["a", "b", "c", "d"], "3 more nodes have this fault: 'b', 'c', 'd'"),
        (["a", "b", "c", "d", "e"], "4 more nodes have this fault: 'b', 'c', 'd', ..."),
        ([None, "b", None], "2 more nodes have this fault: 'b', ..."),
        ([None, None], "1 more node has this fault"),
        (["a", "a", "b"], "2 more nodes have this fault: 'b', ..."),
    ],
)
def test_the_next_few_nodes_are_named(names: list[str | None], said: str):
    members = [replace(_of_node(index), around=EnclosingNames(node=name)) for index, name in enumerate(names)]
    assert fold(members)[0].message == f"node 0; {said}"


def test_findings_without_a_cause_stay_apart():
    alike = (_of_node(0, cause=None), _of_node(0, cause=None))
    assert fold(alike) == alike


def test_the_faults_of_one_node_count_each():
    assert fold([_of_node(0, count=4), _of_node(1, count=4)])[0].count == 8


def test_what_is_unfolded_is_what_was_folded():
    found = (_of_node(0), _of_node(1), _of_node(2, cause=None))
    assert unfold(fold(found)) == found
    assert fold(unfold(fold(found))) == fold(found)


def test_findings_of_one_cause_are_one_that_can_be_fixed():
    safe, unsafe = ProposedFix("a", is_safe=True), ProposedFix("b", is_safe=False)
    for fixes, wanted in (((safe, safe), {True: 1}), ((unsafe, safe), {True: 1}), ((unsafe, None), {False: 1})):
        found = fold([_of_node(index, fix=fix) for index, fix in enumerate(fixes)])
        assert fixes_of(FileReport("m.onnx", 9, found)) == wanted
