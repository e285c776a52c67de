# SPDX-License-Identifier: Apache-2.0
"""What every rule keeps to, and what holds the rules, the clauses, the fixtures and the documents together."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from support.project.checkout import ROOT
from support.project.fixture_files import FIXTURES, Fixture, diagnostics_of, fixtures, fixtures_of
from support.project.syntax_trees import files, tree_of

from onnx_lint.cli.check import check_command
from onnx_lint.common.cached import cached_property
from onnx_lint.engine.registry import INDEX, Registered, registry
from onnx_lint.ir.documents.kinds import KINDS, MODEL
from onnx_lint.model import Model
from onnx_lint.spec.clauses import Clause, clauses
from tools.catalogue import catalogue, index

SHADOWED: dict[tuple[str, str], str] = {}
"""Clauses that a rule cites and no fixture can show by itself, each with the reason."""

SECTIONS = ["### Why it matters", "### What is allowed", "### Example", "### How to fix"]

INSTRUCTIONS = ("avoid", "check", "disallow", "do", "ensure", "must", "never", "no", "prefer", "require", "use")

RULES = {name: entry for name, entry in registry().items() if entry.plugin is None}

each_rule = pytest.mark.parametrize("entry", RULES.values(), ids=RULES)


def _path(entry: Registered) -> Path:
    return ROOT / "rules" / Path(*entry.module.rpartition(".rules.")[2].split(".")).with_suffix(".py")


def _fixtures(entry: Registered) -> tuple[Fixture, ...]:
    return fixtures_of(entry.rule.id)


def test_every_file_of_rules_holds_one_rule():
    files = {path for path in (ROOT / "rules").rglob("*.py") if path.name != "__init__.py"}
    assert sorted(files) == sorted(_path(entry) for entry in RULES.values())


@each_rule
def test_id_function_file_and_folder_agree(entry: Registered):
    path = _path(entry)
    assert path.stem.replace("_", "-") == entry.rule.id
    assert path.parent.name.replace("_", "-") == entry.chapter
    assert entry.chapter in {clause.chapter for clause in clauses().values()}
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", entry.rule.id)


@each_rule
def test_the_id_names_a_matter_and_no_instruction(entry: Registered):
    assert entry.rule.id.partition("-")[0] not in INSTRUCTIONS


@each_rule
def test_the_documentation_is_complete(entry: Registered):
    lines = entry.rule.documentation.splitlines()
    assert lines[0].endswith(".")
    assert not lines[0].endswith("..")
    assert lines[1] == "", "the summary is one line and an empty one after it"
    prose = re.sub(r"^```\n.*?^```$", "", entry.rule.documentation, flags=re.MULTILINE | re.DOTALL)
    assert [line for line in prose.splitlines() if line.startswith("#")] == SECTIONS
    bodies = re.split(r"^### .*$", entry.rule.documentation, flags=re.MULTILINE)[1:]
    assert all(body.strip() for body in bodies)


@each_rule
def test_the_clauses_of_the_rule_name_the_rule(entry: Registered):
    assert entry.rule.clauses
    assert len(set(entry.rule.clauses)) == len(entry.rule.clauses)
    assert [name for name in entry.rule.clauses if entry.rule.id not in clauses()[name].rules] == []


def test_the_rules_that_a_clause_names_cite_it():
    wrong = [
        (clause.id, rule)
        for clause in clauses().values()
        for rule in clause.rules
        if rule not in RULES or clause.id not in RULES[rule].rule.clauses
    ]
    assert wrong == []


def _is_undecided(clause: Clause) -> bool:
    return clause.static in {"yes", "partly"} and not clause.rules and not clause.reason


def test_what_a_file_shows_has_a_rule_or_a_reason():
    assert [clause.id for clause in clauses().values() if _is_undecided(clause)] == []


@each_rule
def test_there_is_a_valid_and_an_invalid_fixture(entry: Registered):
    assert {fixture.is_valid for fixture in _fixtures(entry)} == {True, False}


@each_rule
def test_each_clause_has_an_invalid_fixture(entry: Registered):
    shown = {
        diagnostic.clause
        for fixture in _fixtures(entry)
        if not fixture.is_valid
        for diagnostic in diagnostics_of(fixture)
        if diagnostic.rule == entry.rule.id
    }
    shadowed = {clause for rule, clause in SHADOWED if rule == entry.rule.id}
    assert sorted(set(entry.rule.clauses) - shown - shadowed) == []
    assert sorted(shadowed & shown) == [], "a clause that a fixture shows is not shadowed"


def test_shadowed_clauses_are_cited_and_explained():
    assert [key for key in SHADOWED if key[1] not in RULES[key[0]].rule.clauses] == []
    assert [key for key, reason in SHADOWED.items() if not reason.endswith(".")] == []


def test_each_kind_of_document_has_a_valid_and_an_invalid_fixture():
    shown = {(fixture.proto or MODEL, fixture.is_valid) for fixture in fixtures()}
    assert {(kind, is_valid) for kind in KINDS for is_valid in (True, False)} - shown == set()


def test_every_folder_of_fixtures_belongs_to_a_rule():
    assert sorted(path.name for path in FIXTURES.iterdir() if path.is_dir() and path.name not in RULES) == []


@each_rule
def test_the_changelog_names_the_rule(entry: Registered):
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"`{entry.rule.id}`" in changelog


def test_the_catalogue_is_current():
    written = (ROOT / "rules" / "README.md").read_text(encoding="utf-8")
    assert written == catalogue(), "run python -m tools.catalogue"


def test_the_index_is_current():
    written = (ROOT / "rules" / INDEX).read_text(encoding="utf-8")
    assert written == index(), "run python -m tools.catalogue"


def test_chapters_say_nothing_of_their_rules():
    """What has to be known of a rule stands at the rule, so that one file adds one."""
    assert [str(path) for path in (ROOT / "rules").glob("*/__init__.py") if path.read_text(encoding="utf-8")] == []


def test_rules_are_about_properties_that_tell_why_they_may_be_left_out():
    properties = {
        name: value
        for kind in Model.__mro__
        for name, value in vars(kind).items()
        if isinstance(value, cached_property)
    }
    told = {entry.rule.about for entry in RULES.values()} - {None}
    assert sorted(about for about in told if about not in properties or not properties[about].__doc__) == []


def test_nobody_but_the_rules_themselves_knows_a_rule_by_its_name():
    known = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for path in files()
        if path.is_relative_to(ROOT / "onnx_lint")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and node.value in RULES
    ]
    assert known == []


def test_flags_of_rules_are_options_of_the_command_line():
    flags = {entry.rule.flag for entry in RULES.values() if entry.rule.flag is not None}
    options = {name for option in check_command.params for name in option.opts}
    assert {flag for flag, _ in flags} - options == set()
    assert [entry.id for entry in RULES.values() if entry.flag and entry.flag[1] not in entry.rule.options] == []


@each_rule
def test_a_rule_imports_no_rule_and_prints_nothing(entry: Registered):
    tree = tree_of(_path(entry))
    imported = [name for node in ast.walk(tree) for name in _imported(node)]
    assert [name for name in imported if name.split(".")[0] == "rules" or name.startswith("onnx_lint.rules")] == []
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert called & {"print", "open", "eval", "exec", "input"} == set()


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        # A relative import can only reach another rule.
        return ["rules"] if node.level else [node.module or ""]
    return []


@each_rule
def test_a_rule_is_a_generator_without_a_class(entry: Registered):
    tree = tree_of(_path(entry))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert [node for node in tree.body if isinstance(node, ast.ClassDef)] == [] or _only_data(tree)
    rule = next(node for node in functions if node.name == entry.rule.check.__name__)
    assert any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(rule))


def _only_data(tree: ast.Module) -> bool:
    """Whether every class is a record or a tuple with names, which hold data and nothing else."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
            if bases.isdisjoint({"Record", "NamedTuple", "Enum"}):
                return False
    return True


@each_rule
def test_options_are_keyword_only_with_type_and_default(entry: Registered):
    check = entry.rule.check
    for name in entry.rule.options:
        assert name in check.__annotations__
        assert name in (check.__kwdefaults__ or {})
        assert f"`{name}`" in entry.rule.documentation, "the documentation tells what the option does"
