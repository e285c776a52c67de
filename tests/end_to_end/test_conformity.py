# SPDX-License-Identifier: Apache-2.0
"""No setting makes a model with an error conform, in any form of the report: a table of all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from onnx_lint import lint
from onnx_lint.cache.serialized import SENT, parsed, serialized
from onnx_lint.cli.application import run
from onnx_lint.configuration.settings import Request
from onnx_lint.engine.selection import selection_of
from onnx_lint.engine.settings import Settings
from onnx_lint.ir.documents.kinds import KINDS, MODEL_KIND
from onnx_lint.report.file_report import Conformity
from onnx_lint.report.totals import Report
from onnx_lint.reporters import REPORTERS

RULE = "unordered-nodes"
MODEL = """ir_version: 10 domain: "plain" producer_name: "p"
graph {
  name: "g"
  node { op_type: "Relu" input: "a" output: "b" name: "second" }
  node { op_type: "Relu" input: "x" output: "a" name: "first" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "b" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
}
opset_import { version: 20 }
"""
WEIGHT = """initializer { name: "w" data_type: 1 dims: 2 data_location: EXTERNAL
    external_data { key: "location" value: "gone" } }"""
WITHOUT_FILE = MODEL.replace('input: "a" output: "b"', 'input: "w" output: "b"').replace(
    '  node { op_type: "Relu" input: "x" output: "a" name: "first" }', WEIGHT
)
"""A model whose only fault is that a file of external data is missing."""

MODELS = {"unordered.textproto": MODEL, "without_file.textproto": WITHOUT_FILE}
UNORDERED, LACKING = MODELS


DEFAULT = sum(entry.needs in KINDS[MODEL_KIND].holds for entry in selection_of(Settings()).entries)
LEFT = f"{DEFAULT - 1} of {DEFAULT} default rules checked"
CASES: dict[str, list[tuple[str, list[str], bool | None, str]]] = {
    "select": [
        (UNORDERED, ["--select", "cycle"], None, f"no findings; 1 of {DEFAULT} default rules checked"),
        (UNORDERED, ["--select", "unused-input"], None, f"no findings; 1 rule checked; 0 of {DEFAULT} default rules;"),
        (UNORDERED, ["--select", "unused-input,cycle"], None, f"; 2 rules checked; 1 of {DEFAULT} default rules;"),
        (UNORDERED, ["--select", "warning"], None, f" of {DEFAULT} default rules in full;"),
        (UNORDERED, ["--config", "select.toml"], None, f"no findings; 4 of {DEFAULT} default rules checked"),
    ],
    "ignore": [
        (UNORDERED, ["--ignore", RULE], None, f"1 warning; {LEFT}"),
        (UNORDERED, ["--ignore", "error,warning"], None, "no findings; "),
    ],
    "severities": [
        (UNORDERED, ["--severity", f"{RULE}=note"], False, f"1 warning, 1 note; the severity of '{RULE}' is lowered"),
        (UNORDERED, ["--severity", "cycle=note", "--ignore", RULE], None, f"1 warning; {LEFT}; the "),
    ],
    "suppressions": [(UNORDERED, ["--config", "suppress.toml"], False, "1 warning; 1 suppressed by the configuration")],
    "baseline": [
        (UNORDERED, ["--baseline", "known.json"], False, "no new findings but does not conform to "),
        (UNORDERED, ["--baseline", "known.json", "--ignore", RULE], None, "no new findings; 1 suppressed by the base"),
    ],
    "external_data": [(LACKING, ["--no-external-data"], None, "1 warning; ")],
    "limits": [
        (UNORDERED, ["--limit", "findings=1"], False, "1 error, 1 warning"),
        (UNORDERED, ["--limit", "memory=1"], None, "not checked"),
        (UNORDERED, ["--limit", "file_bytes=9"], None, "not checked"),
    ],
    "rule_options": [(UNORDERED, ["--config", "options.toml"], False, "1 error")],
    "proto": [(UNORDERED, ["--proto", "TensorProto"], False, "1 error")],
    "exclude": [(UNORDERED, ["--exclude", "*.textproto", "--allow-no-input"], None, "")],
    "config": [(UNORDERED, ["--config", "found.toml"], None, f"1 warning; {LEFT}")],
    "targets": [(UNORDERED, ["--target", "onnxruntime=1.32"], False, "2 warnings")],
    "target_gate": [
        (UNORDERED, ["--target", "onnxruntime=1.17", "--target-gate", "refused"], False, "2 warnings"),
        (UNORDERED, ["--target", "onnxruntime=1.17", "--target-gate", "unproven"], False, "1 error, 1 warning"),
    ],
    "fail_on": [(UNORDERED, ["--fail-on", "never"], False, "1 error, 1 warning")],
}
"""By setting: a model with an error, options that hide it or make it less severe, whether the model conforms, and what
the last line of the text begins with."""

ONLY_ADDS = {"pedantic", "extend_select", "policy", "plugins", "verify_checksums", "verify_numbers"} | {
    *("opset_schemas", "follow_links", "external_data_roots")
}
"""Settings by which a check can only find more, or look at more."""
IN_THE_VERDICT = {"edition"}
"""Settings that the word `conforms` is followed by."""
OF_TARGETS = {"registered"}
"""Settings that hide findings about a target, which are not about ONNX."""
NO_RULE = {"extend", "format_name", "outputs", "quiet", "verbose", "jobs", "cluster", "cache", "time_limit", "fix"} | {
    *("diff", "unsafe_fixes", "fixed_folder", "files_from", "skip_missing", "allow_no_input", "stdin_filename"),
    *("opset_imports", "context", "statistics", "sarif_root"),
    *("write_baseline", "prune_baseline", "show_suppressed", "no_config", "show_settings"),
}
"""Settings that change neither what is checked nor the severity of a finding."""


def test_each_setting_is_in_the_table() -> None:
    parts = (CASES.keys(), ONLY_ADDS, IN_THE_VERDICT, OF_TARGETS, NO_RULE)
    listed = sorted(name for part in parts for name in part)
    assert listed == sorted(Request.settings), "add a new setting to one of these lists: what can it do to the verdict?"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in MODELS.items():
        Path(name).write_text(text)
    Path("suppress.toml").write_text(f'[[suppress]]\nrule = "{RULE}"\nreason = "known"\n')
    Path("found.toml").write_text(f'ignore = ["{RULE}"]\n')
    Path("select.toml").write_text('select = ["name"]\n')
    Path("options.toml").write_text(f"rules.oversized-message.max_bytes = {1 << 40}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("model", "options", "conforms", "said"),
    [case for cases in CASES.values() for case in cases],
    ids=[" ".join(case[1]) for cases in CASES.values() for case in cases],
)
def test_no_form_calls_it_conforming(
    model: str, options: list[str], conforms: bool | None, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([model, "--write-baseline", "known.json"]) == 0
    reports = [f"--output={name}=report.{name}" for name in REPORTERS]
    run([model, *options, *reports, "--no-context"])
    assert said in Path("report.text").read_text()
    capsys.readouterr()
    texts = {name: Path(f"report.{name}").read_text(encoding="utf-8") for name in REPORTERS}
    assert [name for name, text in texts.items() if "conforms to ONNX" in text] == []
    whole = json.loads(texts["json"])
    assert whole["summary"]["conforms"] is conforms
    assert whole["summary"]["conforms_why"]
    lines = [json.loads(line) for line in texts["jsonl"].splitlines()]
    assert [line["conforms"] for line in lines if line["record"] in ("file", "summary")] == [
        *(file["conforms"] for file in whole["files"]),
        conforms,
    ]
    properties: dict[str, Any] = json.loads(texts["sarif"])["runs"][0]["properties"]
    assert (properties["conforms"], properties["conformsWhy"]) == (conforms, whole["summary"]["conforms_why"])
    junit = ElementTree.fromstring(texts["junit"])
    assert not [case for case in junit.iter("testcase") if case.get("name") == "conforms"]
    said_there = [each.get("value") for each in junit.iter("property") if each.get("name") == "conforms"]
    assert said_there == ["unknown" if file["conforms"] is None else "false" for file in whole["files"]]


@pytest.mark.parametrize("options", [["--ignore", RULE], ["--severity", f"{RULE}=note"]], ids=" ".join)
def test_the_cache_and_a_cluster_say_the_same(
    options: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(folder / "cache"))
    said = set()
    for _ in range(2):
        run([UNORDERED, *options, "--cache", "-f", "json"])
        said.add(capsys.readouterr().out)
    assert len(said) == 1
    for file in lint(folder / UNORDERED, ignore=[RULE]).files:
        assert file.conformity == Conformity(None, LEFT)
        assert parsed(serialized(file, SENT), SENT).conformity == file.conformity


def test_a_model_without_a_fault_conforms(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sound = MODEL.replace('"a" output: "b"', '"x" output: "b"').replace('"x" output: "a"', '"b" output: "a"')
    Path("sound.textproto").write_text(sound)
    assert (Report((), "1.23", "onnx-ml").conforms, Report((), "1.23", "onnx-ml").conforms_why) == (
        None,
        "no file was checked",
    )
    for options in ([], ["--ignore", "warning,note"], ["--select", "ALL"]):
        run(["sound.textproto", *options, "-f", "json"])
        assert json.loads(capsys.readouterr().out)["summary"]["conforms"] is True, options
