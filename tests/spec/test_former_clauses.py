# SPDX-License-Identifier: Apache-2.0
"""The clauses under which older versions reported findings."""

from onnx_lint.spec.clauses import clauses
from onnx_lint.spec.former_clauses import FORMER_CLAUSES, former_clauses, has_changed_since, rows_known


def test_each_row_has_clauses_of_its_rule():
    for rule, now, formers in FORMER_CLAUSES:
        assert formers, now
        for clause in (now, *formers):
            assert rule in clauses()[clause].rules, (rule, clause)


def test_no_clause_leads_to_itself():
    current = {(rule, now) for rule, now, _ in FORMER_CLAUSES}
    assert len(current) == len(FORMER_CLAUSES)
    assert current.isdisjoint((rule, former) for rule, _, formers in FORMER_CLAUSES for former in formers)


def test_a_row_is_only_for_entries_of_before():
    rule = "duplicate-value-info"
    assert former_clauses(rule, "FUN-22a") == ("FUN-22",)
    assert former_clauses(rule, "FUN-22") == former_clauses("cycle", "FUN-22a") == ()
    assert has_changed_since(0, rule, "FUN-22a", "FUN-22")
    assert not has_changed_since(0, rule, "FUN-22", "FUN-22a")
    assert rows_known(rule, "FUN-22") == len(FORMER_CLAUSES)
    assert not has_changed_since(rows_known(rule, "FUN-22"), rule, "FUN-22a", "FUN-22")
    assert rows_known(rule, "FUN-22a") == 0
