# SPDX-License-Identifier: Apache-2.0
"""No recipe takes the name of a file for an option or a command: in pages, rules, scripts, the hook and the action."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from support.project.built_in_rules import RULES
from support.project.checkout import ROOT
from support.project.each_case import each_case
from support.project.recipes import calls, code_of_page, safe_calls, unsafe_calls, unsafe_hooks, yaml_of_page

FOLDERS = ("benchmarks", "conformance", "docs", "fixtures", "fuzz", "onnx_lint", "rules", "tests", "tools")
PAGES = [*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))]
SCRIPTS = [
    ROOT / "action.yml",
    ROOT / "Containerfile",
    *(ROOT / ".ci").iterdir(),
    *(ROOT / ".github").rglob("*.yml"),
    *(ROOT / "tools").glob("*.sh"),
]
HOOK = ROOT / ".pre-commit-hooks.yaml"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _codes() -> dict[str, str]:
    """Return the code of each page, script and rule."""
    codes = {str(page.relative_to(ROOT)): code_of_page(_text(page)) for page in PAGES}
    codes |= {str(script.relative_to(ROOT)): _text(script) for script in SCRIPTS}
    return codes | {name: code_of_page(entry.documentation) for name, entry in RULES.items()}


def test_no_recipe_takes_a_name_for_an_option():
    codes = _codes()
    assert sum(len(list(calls(code))) for code in codes.values()) > 100
    assert {place: found for place, code in codes.items() if (found := unsafe_calls(code))} == {}


def test_the_arguments_of_each_hook_end_the_options():
    (hook,) = yaml.safe_load(_text(HOOK))
    assert hook["args"] == ["--"]
    shown = {page.name: yaml_of_page(_text(page)) for page in PAGES}
    assert str(shown).count("'--']") >= 2, "the page on CI, and that on fixes"
    assert {name: found for name, content in shown.items() if (found := unsafe_hooks(content))} == {}


def test_each_recipe_would_be_found_without_its_protection():
    """The test above can fail: without `--`, or with the names in place of their list, the same recipe is reported."""
    protected = {place: found for place, code in _codes().items() if (found := safe_calls(code))}
    assert {"action.yml", "docs/continuous_integration.md", "docs/many_models.md", "docs/terminal.md"} <= {*protected}
    for call in (call for found in protected.values() for call in found):
        bare = re.sub(r"--files-from (\S+)", r'"$(cat \1)"', call)
        if bare == call and re.search(r"[*$]", call.partition(" -- ")[2]):
            bare = call.replace(" -- ", " ")
        if bare != call:
            assert unsafe_calls(bare) == [bare]
            assert unsafe_calls(call) == []


def test_each_hook_would_be_found_without_its_protection():
    assert unsafe_hooks(yaml.safe_load(_text(HOOK))) == []
    assert len(unsafe_hooks(yaml.safe_load(_text(HOOK).replace('args: ["--"]', "args: []")))) == 1
    for name in ("continuous_integration.md", "fixing.md"):
        page = _text(ROOT / "docs" / name)
        assert len(unsafe_hooks(yaml_of_page(page.replace(', "--"]', "]")))) == 1


UNSAFE = (
    "onnx-lint *.onnx",
    "onnx-lint check --pedantic models/*",
    'onnx-lint "$MODEL"',
    "onnx-lint fix ${MODELS}",
    "onnx-lint $(git diff --name-only HEAD^)",
    "onnx-lint `git ls-files`",
    "onnx-lint %MODEL%",
    "git diff --name-only -z | xargs -0 onnx-lint check --cache",
    "find . -name '*.onnx' -exec onnx-lint {} +",
    "find . -name '*.onnx' -exec .venv/bin/onnx-lint fix {} ';'",
    'for model in *.onnx; do onnx-lint --cache "$model"; done',
    'python -I -m onnx_lint check "$@"',
    "- run: ~/onnx-lint/bin/onnx-lint check \\\n    --cache $FILES",
    "sh '.venv/bin/onnx-lint -o junit=onnx-lint.xml ${MODEL}'",
    'onnx-lint --fail-on warning "$MODEL" -- other.onnx',
    "python3 out/onnx-lint.pyz *.onnx",
)
SAFE = (
    "onnx-lint -- *.onnx",
    "onnx-lint 'models/*.onnx' --exclude \"*-old.onnx\"",
    'onnx-lint models/ -o "markdown=$GITHUB_STEP_SUMMARY" --plugin "$rules/house_rules.py"',
    "git diff --name-only -z | xargs -0 onnx-lint check --cache --",
    "find . -name '*.onnx' -exec onnx-lint -- {} +",
    "git ls-files -z -- '*.onnx' | onnx-lint --files-from -",
    'onnx-lint --files-from "$RUNNER_TEMP/changed"',
    "onnx-lint models/ | xargs echo",
    "echo *.onnx; onnx-lint models/ # not *.onnx",
)


@each_case("recipe", UNSAFE)
def test_names_from_outside_are_seen(recipe: str):
    assert len(unsafe_calls(recipe)) == 1
    assert len(unsafe_calls(code_of_page(f"A recipe:\n\n```sh\n{recipe}\n```\n"))) == 1
    indented = "".join(f"    {line}\n" for line in recipe.splitlines())
    assert len(unsafe_calls(code_of_page(f"A recipe:\n\n{indented}\nMore.\n"))) == 1


@pytest.mark.parametrize("recipe", SAFE)
def test_names_of_the_author_are_left_alone(recipe: str):
    assert len(list(calls(recipe))) == 1
    assert unsafe_calls(recipe) == []


@pytest.mark.parametrize(
    ("content", "count"),
    [
        ("hooks: [{id: onnx-lint}]", 0),
        ("hooks: [{id: onnx-lint, args: [--fix]}]", 1),
        ("hooks: [{id: onnx-lint, args: ['--', --fix]}]", 1),
        ("hooks: [{id: onnx-lint, args: [--fix, '--']}]", 0),
        ("hooks: [{id: mine, entry: onnx-lint check}]", 1),
        ("hooks: [{id: mine, entry: onnx-lint check --}]", 0),
        ("hooks: [{id: mine, entry: onnx-lint models/, pass_filenames: false}]", 0),
        ("hooks: [{id: another, args: [--fix]}]", 0),
        ("args: [--fail-on, warning]", 1),
    ],
)
def test_hooks_are_read(content: str, count: int):
    assert len(unsafe_hooks([yaml.safe_load(content)])) == count
