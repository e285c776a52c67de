# SPDX-License-Identifier: Apache-2.0
"""Conventions of all rules, and what holds the rules, the clauses, the fixtures and the documents together."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

from support.project.built_in_rules import RULES, check_each_rule
from support.project.checkout import ROOT
from support.project.fixture_files import FIXTURES, Fixture, fixtures, fixtures_of
from support.project.syntax_trees import files, nodes_of, tree_of

from onnx_lint import model
from onnx_lint.cli.commands import check_command
from onnx_lint.engine.registry import INDEX, PAGES, Registered
from onnx_lint.ir.documents.kinds import KINDS, MODEL_KIND
from onnx_lint.spec.clauses import Clause, clauses
from tools.catalogue import catalogue, index, pages

SECTIONS = ["### How to fix", "### Example", "### Why it matters", "### Details"]

INSTRUCTIONS = ("avoid", "check", "disallow", "do", "ensure", "must", "never", "no", "prefer", "require", "use")


def _path(entry: Registered) -> Path:
    return ROOT / "rules" / Path(*entry.module.rpartition(".rules.")[2].split(".")).with_suffix(".py")


def _fixtures(entry: Registered) -> tuple[Fixture, ...]:
    return fixtures_of(entry.rule.id)


def test_every_file_of_rules_holds_one_rule():
    files = {path for path in (ROOT / "rules").rglob("*.py") if path.name != "__init__.py"}
    assert sorted(files) == sorted(_path(entry) for entry in RULES.values())


def test_id_function_file_and_folder_agree():
    chapters = {clause.chapter for clause in clauses().values()}

    def check(entry: Registered) -> Iterator[str]:
        path = _path(entry)
        if path.stem.replace("_", "-") != entry.rule.id:
            yield f"the file is called {path.name}"
        if path.parent.name.replace("_", "-") != entry.chapter:
            yield f"the chapter is '{entry.chapter}', the folder '{path.parent.name}'"
        if entry.chapter not in chapters:
            yield f"no clause is in the chapter '{entry.chapter}'"
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", entry.rule.id):
            yield "the name is not in lower case with hyphens"

    check_each_rule(check)


def test_the_id_names_a_matter_and_no_instruction():
    def check(entry: Registered) -> Iterator[str]:
        first = entry.rule.id.partition("-")[0]
        if first in INSTRUCTIONS:
            yield f"the name begins with '{first}', which is an instruction"

    check_each_rule(check)


def test_the_documentation_is_complete():
    def check(entry: Registered) -> Iterator[str]:
        documentation = entry.rule.documentation
        summary, after, *_ = [*documentation.splitlines(), "", ""]
        if not summary.endswith(".") or summary.endswith(".."):
            yield "the summary does not end with one full stop"
        if after:
            yield "the line after the summary is not empty"
        prose = re.sub(r"^```\n.*?^```$", "", documentation, flags=re.MULTILINE | re.DOTALL)
        headings = [line for line in prose.splitlines() if line.startswith("#")]
        if headings != SECTIONS:
            yield f"the sections are {headings}, not {SECTIONS}"
        _, *bodies = re.split(r"^### .*$", documentation, flags=re.MULTILINE)
        if not all(body.strip() for body in bodies):
            yield "a section is empty"

    check_each_rule(check)


def test_the_clauses_of_the_rule_name_the_rule():
    def check(entry: Registered) -> Iterator[str]:
        if not entry.rule.clauses:
            yield "it cites no clause"
        if len(set(entry.rule.clauses)) != len(entry.rule.clauses):
            yield "it cites a clause twice"
        for name in entry.rule.clauses:
            if entry.rule.id not in clauses()[name].rules:
                yield f"it cites {name}, which does not name it"

    check_each_rule(check)


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


def test_there_is_a_valid_and_an_invalid_fixture():
    def check(entry: Registered) -> Iterator[str]:
        shown = {fixture.is_valid for fixture in _fixtures(entry)}
        if True not in shown:
            yield "there is no valid fixture"
        if False not in shown:
            yield "there is no invalid fixture"

    check_each_rule(check)


def test_each_kind_of_document_has_a_valid_and_an_invalid_fixture():
    shown = {(fixture.proto or MODEL_KIND, fixture.is_valid) for fixture in fixtures()}
    assert {(kind, is_valid) for kind in KINDS for is_valid in (True, False)} - shown == set()


def test_every_folder_of_fixtures_belongs_to_a_rule():
    assert sorted(path.name for path in FIXTURES.iterdir() if path.is_dir() and path.name not in RULES) == []


def test_the_catalogue_is_current():
    written = (ROOT / "rules" / "README.md").read_text(encoding="utf-8")
    assert written == catalogue(), "run python -m tools"


def test_the_index_is_current():
    written = (ROOT / "rules" / INDEX).read_text(encoding="utf-8")
    assert written == index(), "run python -m tools"
    assert (ROOT / "rules" / PAGES).read_text(encoding="utf-8") == pages(), "run python -m tools"


def test_chapters_say_nothing_of_their_rules():
    """The file of a rule holds everything about it, so that one file adds a rule."""
    assert [str(path) for path in (ROOT / "rules").glob("*/__init__.py") if path.read_text(encoding="utf-8")] == []


def test_rules_are_about_what_is_found_without_them_and_says_why_they_may_be_left_out():
    said = {entry.rule.about for entry in RULES.values()} - {None}
    assert [about for about in said if not isinstance(about, str)] == [], "a function that onnx_lint.model lacks"
    assert [about for about in said if not attrgetter(about)(model).__doc__] == []


def test_nobody_but_the_rules_themselves_knows_a_rule_by_its_name():
    known = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for path in files()
        if path.is_relative_to(ROOT / "onnx_lint")
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and node.value in RULES
    ]
    assert known == []


def test_flags_of_rules_are_options_of_the_command_line():
    flags = {entry.rule.flag for entry in RULES.values() if entry.rule.flag is not None}
    options = {name for option in check_command.params for name in option.opts}
    assert {flag for flag, _ in flags} - options == set()
    assert [entry.id for entry in RULES.values() if entry.flag and entry.flag[1] not in entry.rule.options] == []


def test_a_rule_imports_no_rule_and_prints_nothing():
    def check(entry: Registered) -> Iterator[str]:
        nodes = list(nodes_of(_path(entry)))
        for name in (name for node in nodes for name in _imported(node)):
            if name.split(".")[0] == "rules" or name.startswith("onnx_lint.rules"):
                yield f"it imports {name}"
        called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        for name in sorted(called & {"print", "open", "eval", "exec", "input"}):
            yield f"it calls {name}"

    check_each_rule(check)


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        # A relative import can only reach another rule.
        return ["rules"] if node.level else [node.module or ""]
    return []


def test_a_rule_is_a_generator_without_a_class():
    def check(entry: Registered) -> Iterator[str]:
        tree = tree_of(_path(entry))
        if not _only_data(tree):
            yield "its file defines a class that is more than data"
        name = entry.rule.check.__name__
        function = next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name), None)
        if function is None:
            yield f"its file defines no function {name}"
        elif not any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(function)):
            yield f"its function {name} is not a generator"

    check_each_rule(check)


def _only_data(tree: ast.Module) -> bool:
    """Return whether every class is a record or a tuple with names, which hold data and nothing else."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
            if bases.isdisjoint({"Record", "NamedTuple", "Enum"}):
                return False
    return True


def test_options_are_keyword_only_with_type_and_default():
    def check(entry: Registered) -> Iterator[str]:
        function = entry.rule.check
        for name in entry.rule.options:
            if name not in function.__annotations__:
                yield f"its option '{name}' has no type"
            if name not in (function.__kwdefaults__ or {}):
                yield f"its option '{name}' is not keyword-only with a default"
            if f"`{name}`" not in entry.rule.documentation:
                yield f"its documentation does not mention the option '{name}'"

    check_each_rule(check)
