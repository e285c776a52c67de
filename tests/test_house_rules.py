# SPDX-License-Identifier: Apache-2.0
"""The worked rules of docs/plugins.md have the findings of their fixtures, and the page shows them as they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from support.project.checkout import ROOT

from onnx_lint.engine.plugins import use_files
from onnx_lint.testing import Fixture, check_fixture, find_fixtures

RULES = ROOT / "docs" / "house_rules" / "house_rules.py"
FIXTURES = find_fixtures(RULES.parent / "fixtures")


@pytest.fixture(autouse=True)
def _leave_no_plugin() -> Iterator[None]:
    """Other tests see the rules and clauses of onnx-lint alone."""
    yield
    use_files(())


@pytest.mark.parametrize("fixture", FIXTURES, ids=str)
def test_a_fixture_has_the_findings_that_it_expects(fixture: Fixture, request: pytest.FixtureRequest):
    check_fixture(fixture, [RULES], request)


def test_each_rule_has_a_valid_and_an_invalid_fixture():
    tree = ast.parse(RULES.read_text(encoding="utf-8"))
    rules = {each.name.replace("_", "-") for each in tree.body if isinstance(each, ast.FunctionDef)}
    assert len(rules) == 5
    assert {(each.rule, each.is_valid) for each in FIXTURES} == {
        (rule, kind) for rule in rules for kind in (True, False)
    }


def test_the_page_shows_the_rules_as_they_are():
    page = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    code = RULES.read_text(encoding="utf-8")
    worked = [
        block for block in re.findall(r"^```python\n(.*?)\n```", page, re.MULTILINE | re.DOTALL) if block[0] == "@"
    ]
    assert len([block for block in worked if block.startswith("@rule")]) == 5
    for block in worked:
        assert block.startswith("@pytest") or block in code
