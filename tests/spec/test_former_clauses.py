# SPDX-License-Identifier: Apache-2.0
"""The clauses under which older versions reported findings."""

from onnx_lint.spec.clauses import clauses
from onnx_lint.spec.former_clauses import FORMER_CLAUSES, former_clauses, has_changed_since, rows_known


def test_each_row_has_clauses_of_one_rule():
    for now, formers in FORMER_CLAUSES:
        assert formers, now
        for former in formers:
            assert set(clauses()[now].rules) & set(clauses()[former].rules), (now, former)


def test_no_clause_leads_to_itself():
    current = {now for now, _ in FORMER_CLAUSES}
    assert current.isdisjoint(former for _, formers in FORMER_CLAUSES for former in formers)


def test_a_row_is_only_for_entries_of_before():
    assert former_clauses("FUN-22a") == ("FUN-22",)
    assert former_clauses("FUN-22") == ()
    assert has_changed_since(0, "FUN-22a", "FUN-22")
    assert not has_changed_since(0, "FUN-22", "FUN-22a")
    assert rows_known("FUN-22") == len(FORMER_CLAUSES)
    assert not has_changed_since(rows_known("FUN-22"), "FUN-22a", "FUN-22")
    assert rows_known("FUN-22a") == 0


def test_a_row_that_comes_again_is_for_entries_that_were_written_in_between():
    rows = [number for number, (now, _) in enumerate(FORMER_CLAUSES) if now == "NOD-8g"]
    assert len(rows) == 2
    assert len(set(former_clauses("NOD-8g"))) == len(former_clauses("NOD-8g"))
    assert has_changed_since(rows[1], "NOD-8g", "NOD-8c")
    assert not has_changed_since(rows[1], "NOD-8g", "SHP-7")
    assert not has_changed_since(rows_known("NOD-8c"), "NOD-8g", "NOD-8c")
