# SPDX-License-Identifier: Apache-2.0
"""A bug in describing a finding affects only that description, and a bug in a report format only that format."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest
from rich.progress import Progress

from onnx_lint.cli import baselines
from onnx_lint.cli import run as run_module
from onnx_lint.cli.application import run
from onnx_lint.cli.progress import ProgressBar
from onnx_lint.engine import describe, diagnose, proposed_fixes, rule_runs, suppressions
from onnx_lint.ir.places.document_places import DocumentPlaces
from onnx_lint.reporters import REPORTERS, STREAMED
from onnx_lint.surroundings import of_findings, text_lines

pytestmark = pytest.mark.slow

FAULTY = """
<ir_version: 10, opset_import: ["" : 21, "unused" : 1]>
main (float[N, 3] x) => (float[N, 4] y)
{
  [same] s = Sqrt (x)
  [same] r = Neg (s)
  w = MatMul (x, x)
  y = Identity (x)
}
"""
OTHER_FORM = {form: "concise" if form != "concise" else "text" for form in REPORTERS}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    model = onnx.parser.parse_model(FAULTY)
    onnx.save(model, tmp_path / "crash.onnx")
    onnx.save(model, tmp_path / "crash.textproto", format="textproto")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _break(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, after: int = 0) -> None:
    """Have a function raise at each call after the first ones."""
    original, calls = getattr(owner, name), 0

    def broken(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > after:
            raise RuntimeError("boom")
        return original(*arguments, **options)

    monkeypatch.setattr(owner, name, broken)


def _findings(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (found["rule"], found["place"], found["message"]) for file in report["files"] for found in file["diagnostics"]
    ]


DESCRIPTIONS = {
    "diagnostic": (describe, "_with_surroundings"),
    "place": (describe, "_with_noun"),
    "related places": (describe, "_related"),
    "bytes": (DocumentPlaces, "extent"),
    "names around": (DocumentPlaces, "enclosing_names"),
    "surroundings": (of_findings, "surroundings"),
    "all surroundings": (of_findings, "worst_of_each"),
    "fix": (proposed_fixes._Descriptions, "_describe"),
    "all fixes": (proposed_fixes._Descriptions, "describe_all"),
    "folding": (rule_runs, "_folded"),
    "positions": (text_lines, "with_positions"),
    "baseline": (baselines.Baselines, "apply"),
}


@pytest.mark.parametrize("name", DESCRIPTIONS)
@pytest.mark.parametrize("after", [0, 1])
def test_a_crash_beside_the_rules_costs_no_finding(
    name: str, after: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "crash.textproto" if name == "positions" else "crash.onnx"
    Path("known.json").write_text('{"version": 1, "files": {}}')
    arguments = [path, "--no-config", "--select", "ALL", "-f", "json", "-o", "html=page.html", "-o", "json=-"]
    arguments += ["--baseline", "known.json"] if name == "baseline" else []
    assert run(arguments) == 1
    sound = json.loads(capsys.readouterr().out)
    _break(monkeypatch, *DESCRIPTIONS[name], after)
    code = run(arguments)
    out, err = capsys.readouterr()
    report = json.loads(out)
    errors = report["files"][0]["internal_errors"]
    if after == 0:
        assert [error["exception"] for error in errors] == ["RuntimeError: boom"]
    assert len(errors) <= 1
    assert code == (3 if errors else 1)
    assert err.count("Traceback") == len(errors)
    if name != "folding":
        assert sorted(_findings(report)) == sorted(_findings(sound))
    else:
        assert {rule for rule, _, _ in _findings(report)} == {rule for rule, _, _ in _findings(sound)}


LAST_STEPS = {
    "finishing the baseline": (baselines.Baselines, "finish"),
    "reporting unused suppressions": (suppressions, "complaints"),
}


@pytest.mark.parametrize("work", LAST_STEPS)
def test_a_crash_after_the_last_file_costs_no_finding(
    work: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "next.onnx").write_bytes((folder / "crash.onnx").read_bytes())
    Path("known.json").write_text('{"version": 1, "files": {}}')
    Path("onnx-lint.toml").write_text('[[suppress]]\nrule = "cycle"\nreason = "none"\n')
    arguments = ["crash.onnx", "next.onnx", "--config", "onnx-lint.toml", "--baseline", "known.json", "-f", "json"]
    assert run(arguments) == 1
    sound = json.loads(capsys.readouterr().out)
    _break(monkeypatch, *LAST_STEPS[work])
    assert run(arguments) == 3
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert _findings(report) == _findings(sound)
    assert f"internal error: onnx-lint crashed while {work}: RuntimeError: boom\n" in err
    assert err.count("Traceback") == 1


def test_a_crash_in_drawing_the_progress_bar_costs_the_bar_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["crash.onnx"]) == 1
    without = capsys.readouterr()
    monkeypatch.setattr(run_module, "is_wanted", lambda **_: True)
    monkeypatch.setattr(ProgressBar, "__enter__", lambda bar: bar._show() or bar)
    _break(monkeypatch, Progress, "start")
    assert run(["crash.onnx"]) == 1
    assert capsys.readouterr() == without


def test_a_crash_in_citing_a_policy_costs_no_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("onnx-lint.toml").write_text('[policy.operators]\nforbid = ["Sqrt"]\n')
    arguments = ["crash.onnx", "--config", "onnx-lint.toml", "-f", "json"]
    assert run(arguments) == 1
    sound = _findings(json.loads(capsys.readouterr().out))
    _break(monkeypatch, describe, "cited_from_policy")
    assert run(arguments) == 3
    report = json.loads(capsys.readouterr().out)
    (error,) = report["files"][0]["internal_errors"]
    assert error["rule"] == "disallowed-operator"
    assert _findings(report) == sound


def test_a_finding_that_the_engine_cannot_take_costs_no_other(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["crash.onnx", "--no-config", "--select", "ALL", "-f", "json"]
    assert run(arguments) == 1
    sound = _findings(json.loads(capsys.readouterr().out))
    original = diagnose._clause_of
    lost = next(found for found in sound if found[0] == "duplicate-node-name")

    def broken(rule: Any, finding: Any) -> Any:
        if (rule.id, finding.message) == (lost[0], lost[2]):
            raise RuntimeError("boom")
        return original(rule, finding)

    monkeypatch.setattr(diagnose, "_clause_of", broken)
    assert run(arguments) == 3
    report = json.loads(capsys.readouterr().out)
    assert sorted(_findings(report)) == sorted(set(sound) - {lost})
    (error,) = report["files"][0]["internal_errors"]
    assert error["rule"] == lost[0]


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("form", REPORTERS)
def test_a_crash_in_one_form_leaves_the_others(
    form: str, is_first: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = OTHER_FORM[form]
    run(["crash.onnx", "--no-config", "-f", other])
    expected = capsys.readouterr().out
    module = importlib.import_module(REPORTERS[form])
    writer = module.Writer
    for name in ("__init__", "file", "end"):
        with monkeypatch.context() as patched:
            _break(patched, writer, name)
            outputs = [f"{form}=broken", f"{other}=whole"] if is_first else [f"{other}=whole", f"{form}=broken"]
            arguments = [argument for output in outputs for argument in ("-o", output)]
            assert run(["crash.onnx", "--no-config", "-f", other, *arguments]) == 3
            out, err = capsys.readouterr()
            assert Path("whole").read_text() == out == expected
            assert not Path("broken").exists()
            assert f"internal error: onnx-lint crashed while writing the report in the format {form}: " in err
            assert "To go on: a report in another --format has all findings.\n" in err
            assert err.count("Traceback") == 1
            # To standard output, as the only report and beside another one.
            assert run(["crash.onnx", "--no-config", "-f", form]) == 3
            err = capsys.readouterr().err
            assert f"while writing the report in the format {form}: RuntimeError: boom\n" in err
            assert "To go on: a report in another --format has all findings.\n" in err
            assert run(["crash.onnx", "--no-config", "-f", form, "-o", f"{other}=beside"]) == 3
            assert Path("beside").read_text().startswith(expected.splitlines()[0])
            capsys.readouterr()


@pytest.mark.parametrize("form", sorted(STREAMED))
def test_a_crash_on_one_file_leaves_the_others_in_the_report(
    form: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "next.onnx").write_bytes((folder / "crash.onnx").read_bytes())
    writer = importlib.import_module(REPORTERS[form]).Writer
    original = writer.file

    def broken(self: Any, file: Any) -> None:
        if "crash" in file.path:
            raise RuntimeError("boom")
        original(self, file)

    monkeypatch.setattr(writer, "file", broken)
    assert run(["crash.onnx", "next.onnx", "--no-config", "-f", form, "-o", "json=all.json"]) == 3
    out, err = capsys.readouterr()
    assert "next.onnx" in out
    assert f"crashed on crash.onnx while writing the report in the format {form}: RuntimeError: boom\n" in err
    files = json.loads(Path("all.json").read_text())["files"]
    assert [len(file["internal_errors"]) for file in files] == [1, 0]
    assert files[0]["diagnostics"] == files[1]["diagnostics"] != []
