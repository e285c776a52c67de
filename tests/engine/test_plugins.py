# SPDX-License-Identifier: Apache-2.0
"""Plugin files: their rules run beside the others, with clauses of their own, and a faulty one is a sentence."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.models.clean_model import CLEAN

from onnx_lint import lint
from onnx_lint.engine import plugins
from onnx_lint.engine.plugins import ENTRY_POINT_GROUP, use_files
from onnx_lint.engine.registry import registry
from onnx_lint.spec.clauses import Severity

MODEL = CLEAN.encode()

HEAD = """
from onnx_lint.model import ROOT
from onnx_lint.rule import Finding, own_clause, rule
"""

LICENCE = (
    HEAD
    + """
LICENCE = own_clause("ACME-1", "A model states its licence.", url="https://acme.example/licence")

@rule(clause=LICENCE, since="1.0")
def missing_licence(model):
    '''The model does not state its licence.'''
    yield Finding(ROOT, "there is no licence", allowed="a licence")
"""
)


def _file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.fixture(autouse=True)
def _leave_no_plugin() -> Iterator[None]:
    """Other tests see the rules and clauses of onnx-lint alone."""
    yield
    use_files(())


def test_a_rule_with_a_clause_of_its_own_has_findings(tmp_path: Path):
    report = lint(MODEL, {"plugins": [_file(tmp_path, "house_rules.py", LICENCE)]})
    (found,) = report.diagnostics
    assert (found.rule, found.clause, found.keyword, found.severity) == (
        "missing-licence",
        "ACME-1",
        "MUST",
        Severity.ERROR,
    )
    assert (found.anchor, found.cited.declared_by) == ("https://acme.example/licence", "house_rules.py")
    assert registry()["missing-licence"].chapter == "house-rules"


def test_conforms_is_about_onnx_and_passes_about_all(tmp_path: Path):
    report = lint(MODEL, {"plugins": [_file(tmp_path, "house_rules.py", LICENCE)]})
    assert (report.conforms, report.passes) == (True, False)
    assert "<memory>: conforms to ONNX 1.23; house_rules.py: 1 error;" in str(report)
    broken = lint(MODEL.replace(b'output: "y"', b'output: "z"', 1), {"plugins": [tmp_path / "house_rules.py"]})
    assert not broken.conforms
    assert "house_rules.py: 1 error" in str(broken).splitlines()[-1]
    assert "conforms" not in str(broken).splitlines()[-1]


def test_a_later_run_without_the_file_does_not_have_its_rules(tmp_path: Path):
    path = _file(tmp_path, "house_rules.py", LICENCE)
    assert [found.rule for found in lint(MODEL, {"plugins": [path]}).diagnostics] == ["missing-licence"]
    assert lint(MODEL).diagnostics == ()
    assert "missing-licence" not in registry()
    assert [found.rule for found in lint(MODEL, {"plugins": [path]}).diagnostics] == ["missing-licence"]


@pytest.mark.parametrize(
    ("keyword", "severity"),
    [("SHOULD", Severity.WARNING), ("MAY", Severity.NOTE), ("warning", Severity.WARNING), ("note", Severity.NOTE)],
)
def test_the_keyword_gives_the_severity(keyword: str, severity: Severity, tmp_path: Path):
    text = LICENCE.replace("url=", f"keyword={keyword!r}, url=").replace("ACME-1", f"ACME-{keyword.upper()}")
    (found,) = lint(MODEL, {"plugins": [_file(tmp_path, "rules.py", text)]}).diagnostics
    assert found.severity is severity


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("", "ValueError: the rule decides several clauses and the finding does not say which"),
        (', clause="GRA-1"', "ValueError: the finding cites clause 'GRA-1', which the rule does not declare"),
    ],
)
def test_a_finding_of_a_rule_with_two_clauses_says_which(clause: str, expected: str, tmp_path: Path):
    text = LICENCE.replace("clause=LICENCE", 'clause=(LICENCE, "GRA-4")').replace(
        '"a licence")', f'"a licence"{clause})'
    )
    (file,) = lint(MODEL, {"plugins": [_file(tmp_path, "house_rules.py", text)]}).files
    assert [error.exception for error in file.internal_errors] == [expected]


def test_a_clause_that_does_not_exist_is_a_fault_of_the_plugin(tmp_path: Path):
    typo = '\n\n@rule(clause="ACME-999", since="1.0")\ndef typo(model):\n    """A typo."""\n    yield from ()\n'
    path = _file(tmp_path, "house_rules.py", LICENCE + typo)
    with pytest.raises(ValueError, match=r"rule 'typo' in .* cites clause 'ACME-999', which does not exist"):
        lint(MODEL, {"plugins": [path]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import a_module_that_is_not_there", "ModuleNotFoundError"),
        ("def (", "SyntaxError"),
        (LICENCE.replace("missing_licence", "cycle"), "rule 'cycle' is in"),
        (LICENCE.replace("ACME-1", "GRA-1"), "clause 'GRA-1' is declared already"),
        (LICENCE.replace("ACME-1", "GRA-1000"), "the prefix 'GRA' belongs to the specification"),
        (LICENCE.replace("ACME-1", "acme"), "capital letters and digits with dashes"),
        (LICENCE.replace("url=", "keyword='OUGHT', url="), "keyword must be one of MUST"),
        (HEAD, "has no rule"),
        ("import sys\nsys.exit(0)", "SystemExit: 0"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(text: str, message: str, tmp_path: Path):
    path = _file(tmp_path, "house_rules.py", text)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        lint(MODEL, {"plugins": [path]})
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(ValueError, match=r"none\.py: FileNotFoundError: No such file or directory"):
        lint(MODEL, {"plugins": [tmp_path / "none.py"]})


def test_nothing_is_written_beside_a_plugin_file(tmp_path: Path):
    lint(MODEL, {"plugins": [_file(tmp_path, "house_rules.py", LICENCE)]})
    assert [path.name for path in tmp_path.iterdir()] == ["house_rules.py"]


def test_a_rule_that_ends_the_program_is_an_internal_error(tmp_path: Path):
    text = LICENCE.replace("    yield Finding", "    raise SystemExit(0)\n    yield Finding")
    (file,) = lint(MODEL, {"plugins": str(_file(tmp_path, "house_rules.py", text))}).files
    (error,) = file.internal_errors
    assert error.rule == "missing-licence"
    assert "tried to end the program" in error.exception


def test_a_file_named_twice_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = _file(tmp_path, "house_rules.py", LICENCE)
    monkeypatch.chdir(tmp_path)
    assert len(lint(MODEL, {"plugins": [path, "./house_rules.py"]}).diagnostics) == 1


@pytest.mark.parametrize(
    ("finding", "fault"),
    [
        ("None", "yields None, not a Finding"),
        ("5", "yields a value of type int, not a Finding"),
        ("Finding(ROOT, b'x')", "yields a Finding whose 'message' is of type bytes, not a string"),
        ("Finding(None, 'x')", "yields a Finding whose 'place' is None, not a Place"),
        ("Finding(ROOT, 'x', allowed=5)", "yields a Finding whose 'allowed' is of type int, not a string"),
        ("Finding(ROOT, 'x', count=None)", "yields a Finding whose 'count' is None, not a whole number"),
        (
            "Finding(ROOT, 'x', related=('there',))",
            "yields a Finding whose 'related' is a tuple of str, not a tuple of Related",
        ),
        (
            "Finding(ROOT, 'x', related=(Related(ROOT, 5),))",
            "yields a Related whose 'message' is of type int, not a string",
        ),
        ("Finding(ROOT, 'x', fix=1)", "yields a Finding whose 'fix' is of type int, not a Fix or a string"),
        (
            "Finding(ROOT, 'x', fix=Fix('mend', ('edit',)))",
            "yields a Finding whose 'fix.edits' is a tuple of str, not a tuple of edits",
        ),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_wrong_finding_costs_its_rule_alone_and_is_blamed_on_the_plugin(
    finding: str, fault: str, is_first: bool, tmp_path: Path
):
    imports = "from onnx_lint.model import Fix\nfrom onnx_lint.rule import Related\n"
    right = "yield Finding(ROOT, 'right')"
    order = [f"yield {finding}", right] if is_first else [right, f"yield {finding}"]
    body = "".join(f"    {line}\n" for line in order)
    wrong = "".join(
        f'\n\n@rule(clause=LICENCE, since="1.0")\ndef {name}(model):\n    """Wrong."""\n{body}'
        for name in ("wrong_one", "wrong_two")
    )
    path = _file(
        tmp_path,
        "house_rules.py",
        f"{imports}{LICENCE}{wrong}",
    )
    (file,) = lint(MODEL, {"plugins": [path]}).files
    expected = ["missing-licence", *([] if is_first else ["wrong-one", "wrong-two"])]
    assert sorted(found.rule for found in file.diagnostics) == expected
    assert [(error.rule, error.traceback) for error in file.internal_errors] == [("wrong-one", ""), ("wrong-two", "")]
    for error in file.internal_errors:
        assert error.exception.startswith(f"rule {error.rule!r} in {path} ")
        assert fault in error.exception


def test_a_rule_that_raises_generator_exit_is_an_internal_error(tmp_path: Path):
    text = LICENCE.replace("    yield Finding", "    raise GeneratorExit\n    yield Finding")
    (file,) = lint(MODEL, {"plugins": [_file(tmp_path, "house_rules.py", text)]}).files
    (error,) = file.internal_errors
    assert (error.rule, error.traceback) == ("missing-licence", "")
    assert "raised GeneratorExit" in error.exception


@pytest.mark.parametrize(("group", "may_have"), [(ENTRY_POINT_GROUP, True), ("console_scripts", False)])
def test_installed_plugins_are_looked_for_if_a_distribution_declares_some(
    group: str, may_have: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme-1.0.dist-info").mkdir()
    (tmp_path / "acme-1.0.dist-info" / "entry_points.txt").write_text(f"[{group}]\nacme = acme\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert plugins._may_have_packages() is may_have
