# SPDX-License-Identifier: Apache-2.0
"""The rules that settings select are those whose clauses they select, also where the index has the answer."""

from __future__ import annotations

from typing import Any

import pytest
from support.project.each_case import each_case

from onnx_lint.engine import selection
from onnx_lint.engine.registry import registry
from onnx_lint.engine.selection import Selection, applies, presence
from onnx_lint.engine.settings import Settings
from onnx_lint.spec.clauses import EDITIONS, Severity, clauses
from onnx_lint.spec.standard import Standard
from onnx_lint.spec.target import target_of

CASES: dict[str, dict[str, Any]] = {
    "the defaults": {},
    "another limit": {"external_data": False},
    "select": {"select": ("name",)},
    "ignore": {"ignore": ("warning", "graph")},
    "extend_select": {"extend_select": ("hygiene",)},
    "set_aside": {"set_aside": ("node",)},
    "pedantic": {"pedantic": True},
    "severities": {"severities": {"non-c90-name": Severity.ERROR}},
    "target": {"target": target_of(["onnx.checker"])},
    **{f"edition {edition}": {"standard": Standard(edition)} for edition in EDITIONS},
}


@each_case("case", CASES)
def test_the_rules_are_those_with_a_clause_that_the_settings_select(case: str):
    settings = Settings(**CASES[case], parts=())
    found = Selection(settings, registry())
    assert [entry.id for entry in found.entries] == [
        entry.id for entry in registry().values() if applies(entry, settings)
    ]
    edition = settings.standard.edition
    for entry in found.entries:
        cited = [clauses()[name] for name in entry.clauses]
        ways = {presence(entry, clause, settings) for clause in cited if edition in clause.keyword}
        are_counted = "listed" not in ways and all(clause.counted for clause in cited)
        assert (entry.id in found._idle) == are_counted, entry.id


@each_case(
    "rule, clause, level", [("overridable-initializer", "INI-6", "listed"), ("unbound-required-input", "FUN-20b", None)]
)
def test_a_severity_lists_a_rule_that_is_silent_as_a_whole(rule: str, clause: str, level: str | None):
    """Not the pedantic clause of a rule that is on: the severity is meant for its other findings."""
    settings = Settings(severities={rule: Severity.ERROR})
    assert presence(registry()[rule], clauses()[clause], settings) == level
    assert presence(registry()[rule], clauses()[clause], Settings()) is None


def test_the_default_settings_read_no_clause(monkeypatch: pytest.MonkeyPatch):
    usual, other = Settings(), Settings(pedantic=True)
    rules = registry()

    def asked() -> None:
        raise AssertionError("a clause was read")

    monkeypatch.setattr(selection, "clauses", asked)
    assert len(Selection(usual, rules).entries) > 100
    with pytest.raises(AssertionError, match="a clause was read"):
        Selection(other, rules)
