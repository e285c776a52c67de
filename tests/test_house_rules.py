# SPDX-License-Identifier: Apache-2.0
"""The worked rules of docs/plugins.md have the findings of their fixtures, and the page shows them as they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

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


PAGE = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
WORKED = {
    found[1].replace("_", "-"): block
    for block in re.findall(r"^```python\n(.*?)\n```", PAGE.partition("## Testing a rule")[0], re.MULTILINE | re.DOTALL)
    if (found := re.search(r"^def (\w+)\(", block, re.MULTILINE)) is not None
}


@pytest.mark.parametrize("fixture", FIXTURES, ids=str)
def test_each_rule_of_the_page_runs_as_printed(fixture: Fixture, request: pytest.FixtureRequest, tmp_path: Path):
    """The rule itself is that of the file; the page shows each with its imports and its clause."""
    block = WORKED[fixture.rule]
    assert block[block.index("@rule") :] in RULES.read_text(encoding="utf-8")
    (tmp_path / "house_rules.py").write_text(block, encoding="utf-8")
    check_fixture(fixture, [tmp_path / "house_rules.py"], request)
