# SPDX-License-Identifier: Apache-2.0
"""The exported suite: verdicts that agree with the fixtures, the same bytes each time, and what checkers make of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.project import fixture_files
from support.project.fixture_files import Fixture

from conformance import __main__, checkers, running, suite, table

pytestmark = pytest.mark.slow

_EXPECTED = re.compile(r"(\w+)\[[^\]]+\] ([^@:]+)(?:@\d+)?: .*")

SAMPLE = 40
"""The test exports one fixture in so many; each rule has some."""


@pytest.fixture(scope="module")
def few() -> Iterator[dict[str, Fixture]]:
    chosen = fixture_files.fixtures()[::SAMPLE]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suite, "fixtures", lambda: chosen)
        yield {f"{fixture.rule}/{fixture.path.parent.name}/{fixture.path.stem}": fixture for fixture in chosen}


@pytest.fixture(scope="module")
def exported(few: dict[str, Fixture], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("conformance") / "suite"
    suite.export(folder)
    return folder


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_two_exports_have_the_same_bytes(exported: Path, tmp_path: Path):
    cases = suite.export(tmp_path / "again")
    assert _files(tmp_path / "again") == _files(exported)
    assert suite.read(exported) == cases
    assert {case.file for case in cases} <= set(_files(exported))
    with pytest.raises(FileExistsError):
        suite.export(exported)


def test_the_verdict_has_every_finding_of_the_fixture(few: dict[str, Fixture], exported: Path):
    for case in suite.read(exported):
        fixture = few[case.id]
        found = {(fault.severity, fault.place) for fault in case.faults}
        expected = {tuple(_EXPECTED.fullmatch(line).groups()) for line in fixture.expected}
        assert expected <= found, case
        # A fixture for which one rule is selected may violate others.
        is_whole = case.edition == suite.DEFAULT_STANDARD.edition and "select" not in dict(fixture.headers)
        if fixture.is_valid and is_whole:
            assert case.verdict != "violates", case


def test_another_format_is_refused(tmp_path: Path):
    (tmp_path / suite.MANIFEST).write_text(json.dumps({"format": 2, "cases": []}))
    with pytest.raises(ValueError, match="has the format 2"):
        suite.read(tmp_path)


def test_checkers_judge_in_processes_of_their_own(exported: Path):
    cases = [case for case in suite.read(exported) if suite.is_for_every_checker(case)][:12]
    assert {case.verdict for case in cases} == {"conforms", "violates"}
    results = {}
    for name in ("onnx-lint", "true {}", "false {}"):
        results[name] = running.run(checkers.find(name), exported, cases, 600, 2)
    right = {"conforms": table.CORRECT, "violates": table.FOUND}
    assert [table.judged(outcome) for outcome in results["onnx-lint"]] == [right[case.verdict] for case in cases]
    assert {outcome.result for outcome in results["true {}"]} == {running.ACCEPTED}
    assert {outcome.result for outcome in results["false {}"]} == {running.REJECTED}
    page = table.page(results, dict.fromkeys(results, ""), "2026-01-01")
    assert "| `true {}` |  | 0 |" in page


@pytest.mark.parametrize(
    ("command", "seconds", "result"),
    [("sh -c 'kill -SEGV $$' {}", 600, running.CRASHED), ("sh -c 'sleep 600' {}", 0.5, running.TIMED_OUT)],
)
def test_a_crash_and_a_hang_are_outcomes(exported: Path, command: str, seconds: float, result: str):
    case = next(case for case in suite.read(exported) if suite.is_for_every_checker(case))
    (outcome,) = running.run(checkers.find(command), exported, [case], seconds, 1)
    assert outcome.result == result
    assert table.judged(outcome) == table.CRASH


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--checker", "onx"], "unknown checker 'onx'; the checkers are onnx, "),
        (["run", "--suite", "nowhere"], "nowhere"),
    ],
)
def test_wrong_usage_is_a_sentence(arguments: list[str], message: str):
    result = CliRunner().invoke(__main__.main, arguments)
    assert result.exit_code == 1
    assert message in result.output
