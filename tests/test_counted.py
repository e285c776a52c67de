"""Findings that are counted and not listed: one number a rule, in the last line and in JSON, and nowhere else."""

from __future__ import annotations

import json

import pytest
from support.models.clean_model import CLEAN

from onnx_lint.cli.application import run
from onnx_lint.engine.rule_runs import _Run
from onnx_lint.reporters import REPORTERS
from onnx_lint.spec.clauses import clauses

ODD_NAMES = CLEAN.replace('"y"', '"y/out"').replace('"relu"', '"re lu"').replace('"x"', '"0"')

LAST_LINE = "   = pedantic: 3 names are not C90 identifiers: --pedantic lists them"


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.textproto").write_text(ODD_NAMES)
    return "m.textproto"


def test_the_number_is_the_last_line_of_the_file(model, capsys):
    assert run([model, "--fail-on", "note"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == LAST_LINE
    assert lines[0].startswith("m.textproto: conforms to ONNX 1.23; ")
    assert len(lines) == 2


def test_json_has_it_beside_the_facts(model, capsys):
    run([model, "-f", "json"])
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert file["pedantic"] == [{"rule": "non-c90-name", "count": 3, "message": "3 names are not C90 identifiers"}]
    assert file["diagnostics"] == []


@pytest.mark.parametrize("form", ["concise", "sarif", "github", "gitlab", "junit"])
def test_no_form_for_programs_lists_it(model, capsys, form):
    run([model, "-f", form])
    out = capsys.readouterr().out
    results = (
        json.loads(out)["runs"][0]["results"]
        if form == "sarif"
        else [line for line in out.splitlines() if "c90" in line]
    )
    assert results == []


@pytest.mark.parametrize("options", [[], ["-q"], ["-o", "sarif=r.sarif"], ["-q", "-o", "json=r.json"]], ids=" ".join)
@pytest.mark.parametrize("form", REPORTERS)
def test_its_rule_runs_if_a_report_says_the_number(model, tmp_path, capsys, monkeypatch, form, options):
    # Some reports leave out files without an error.
    (tmp_path / model).write_text(ODD_NAMES + "opset_import { version: 13 }")
    rules, judge = [], _Run.judge
    monkeypatch.setattr(_Run, "judge", lambda self, entry: (rules.append(entry.id), judge(self, entry)))
    run([model, "-o", f"{form}=report", *options])
    written = [path.read_text() for path in tmp_path.iterdir() if path.name != model]
    said = "".join([*written, capsys.readouterr().out])
    assert ("non-c90-name" in rules) == ("not C90 identifiers" in said)


def test_a_baseline_does_not_hold_it(model, tmp_path, capsys):
    assert run([model, "--write-baseline", "known.json"]) == 0
    assert "c90" not in (tmp_path / "known.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "severity"),
    [
        (["--pedantic"], "warning"),
        (["--select", "non-c90-name"], "warning"),
        (["--select", "name"], "warning"),
        (["--select", "warning"], "warning"),
        (["--extend-select", "non-c90-name"], "warning"),
        (["--severity", "non-c90-name=note"], "note"),
        (["--edition", "1.21"], "error"),
    ],
)
def test_asked_for_or_demanded_it_is_listed(model, capsys, arguments, severity):
    run([model, "-f", "json", *arguments])
    (file,) = json.loads(capsys.readouterr().out)["files"]
    run([model, "-f", "concise", *arguments])  # without counts
    assert capsys.readouterr().out.count("[non-c90-name]") == 1
    listed = [(item["rule"], item["severity"]) for item in file["diagnostics"] if item["rule"] == "non-c90-name"]
    assert listed == [("non-c90-name", severity)]
    assert [item for item in file["pedantic"] if item["rule"] == "non-c90-name"] == []


@pytest.mark.parametrize("arguments", [["--ignore", "non-c90-name"], ["--ignore", "warning"], ["--select", "graph"]])
def test_what_is_ignored_or_not_selected_is_not_counted(model, capsys, arguments):
    run([model, "-f", "json", *arguments])
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert file["pedantic"] == []


def test_these_are_counted():
    found = {rule for clause in clauses().values() if clause.counted for rule in clause.rules}
    assert found == {"missing-producer", "non-c90-name", "outdated-ir-version", "unaligned-external-offset"}
