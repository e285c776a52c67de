# SPDX-License-Identifier: Apache-2.0
"""The worked rules of docs/plugins.md have the findings of their fixtures, and the page shows them as they are."""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.project.checkout import ROOT

from onnx_lint import lint
from onnx_lint.engine.plugins import use_files

RULES = ROOT / "docs" / "house_rules" / "house_rules.py"
FIXTURES = sorted((RULES.parent / "fixtures").glob("*/*/*.textproto"))
PAGE, _, TESTING = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8").partition("## Testing a rule")
BLOCKS = r"^```python\n(.*?)\n```"
WORKED = {
    found[1].replace("_", "-"): block
    for block in re.findall(BLOCKS, PAGE, re.MULTILINE | re.DOTALL)
    if (found := re.search(r"^def (\w+)\(", block, re.MULTILINE)) is not None
}


@pytest.fixture(autouse=True)
def _leave_no_plugin() -> Iterator[None]:
    """Other tests see the rules and clauses of onnx-lint alone."""
    yield
    use_files(())


def _run_the_test_of_the_page() -> int:
    """Run the test that the page shows on the fixtures below the working directory; return how many there are."""
    shown = re.search(BLOCKS, TESTING, re.MULTILINE | re.DOTALL)
    assert shown is not None
    names: dict[str, object] = {}
    exec(shown[1], names)
    test, paths = names["test_fixture"], names["FIXTURES"]
    assert callable(test)
    assert isinstance(paths, list)
    for path in paths:
        test(path)
    return len(paths)


def test_the_fixtures_have_the_findings_that_they_expect(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(RULES.parent)
    assert _run_the_test_of_the_page() == len(FIXTURES)


def test_each_rule_has_a_valid_and_an_invalid_fixture():
    tree = ast.parse(RULES.read_text(encoding="utf-8"))
    rules = {each.name.replace("_", "-") for each in tree.body if isinstance(each, ast.FunctionDef)}
    assert len(rules) == 5
    assert {(path.parent.parent.name, path.parent.name) for path in FIXTURES} == {
        (rule, kind) for rule in rules for kind in ("valid", "invalid")
    }


def test_an_option_names_the_key_of_the_licence():
    model = FIXTURES[-1].read_bytes() + b' metadata_props { key: "license" value: "MIT" }'
    for key, expected in (("license", 0), ("licence", 1)):
        options = {"missing-licence": {"key": key}}
        report = lint(model, {"plugins": RULES, "options": options}, select="missing-licence")
        assert len(report.diagnostics) == expected


@pytest.mark.parametrize("rule", sorted({path.parent.parent.name for path in FIXTURES}))
def test_each_rule_of_the_page_runs_as_printed(rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The rule itself is that of the file; the page shows each with its imports and its clause."""
    block = WORKED[rule]
    assert block[block.index("@rule") :] in RULES.read_text(encoding="utf-8")
    (tmp_path / "house_rules.py").write_text(block, encoding="utf-8")
    shutil.copytree(RULES.parent / "fixtures" / rule, tmp_path / "fixtures" / rule)
    monkeypatch.chdir(tmp_path)
    assert _run_the_test_of_the_page()
