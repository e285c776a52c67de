# SPDX-License-Identifier: Apache-2.0
"""What programs do with a violation: said to those who ask for a program, in a line about that program only."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from support.models.clean_model import CLEAN

from onnx_lint import lint
from onnx_lint.cli.application import run
from onnx_lint.report.findings import ByTarget, Diagnostic
from onnx_lint.spec.clauses import CONSUMERS, clauses
from onnx_lint.spec.target import target_of
from tools.compile_clauses import parse

TWICE = """
metadata_props { key: "author" value: "a" }
metadata_props { key: "author" value: "b" }
"""


def found(text: str, rule: str, **options: object) -> Diagnostic:
    data = text.encode()
    (item,) = lint(data, options, select=[rule]).diagnostics  # type: ignore[arg-type]  # any of the options
    return item


def test_a_finding_says_what_a_program_does_to_those_who_ask_for_that_program():
    bare, of_runtime = (found(CLEAN + TWICE, "duplicate-metadata-key", target=t) for t in ([], ["onnxruntime=1.32"]))
    assert bare.severity.label == "warning"
    for item in (bare, of_runtime):
        assert item.by_target == ByTarget()
    item = found(CLEAN + TWICE, "duplicate-metadata-key", target=["onnxruntime=1.32", "onnx.checker"])
    assert (item.by_target.refused_by, item.by_target.accepted_by) == ((("onnx.checker", "1.23"),), ())
    assert item.by_target.answers == (("onnx.checker", "refuses it (onnx 1.23 tried)"),)
    assert item.allowed == bare.allowed


def test_it_is_an_error_for_that_consumer_and_no_other():
    of_checker = found(CLEAN + TWICE, "duplicate-metadata-key", target="onnx.checker")
    of_runtime = found(CLEAN + TWICE, "duplicate-metadata-key", target=["onnxruntime=1.32"])
    assert (of_checker.severity.label, of_runtime.severity.label) == ("error", "warning")
    refused, bare = lint((CLEAN + TWICE).encode(), target="onnx.checker"), lint((CLEAN + TWICE).encode())
    assert (refused.passes, refused.conforms) == (False, True), "the verdict is about ONNX alone"
    assert (bare.passes, bare.conforms) == (True, True)


def test_it_is_no_error_for_a_release_before_the_first_that_is_known_to_refuse_it():
    refused = {
        name: clause.refused_by["onnxruntime"].split()[0]
        for name, clause in clauses().items()
        if clause.refused_by.get("onnxruntime")
    }
    assert set(refused.values()) == {"1.17", "1.32"}
    for name in refused:
        of = {
            version: target_of([f"onnxruntime={version}"]).is_refused(clauses()[name]) for version in ("1.23", "1.32")
        }
        assert of == {"1.23": refused[name] == "1.17", "1.32": True}


def test_the_command_line_and_a_configuration_ask_for_consumers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("m.textproto").write_text(CLEAN + TWICE)
    for options, refused in (((), None), (("--target", "onnx.checker"), {"onnx.checker": "1.23"})):
        assert run(["m.textproto", "-f", "json", *options]) == (0 if refused is None else 1)
        (item,) = json.loads(capsys.readouterr().out)["files"][0]["diagnostics"]
        assert item.get("refused_by") == refused
    assert run(["m.textproto", "--target", "onnxruntime=1.32"]) == 0
    assert run(["m.textproto", "--target", "onnxruntime=1.32", "--target", "onnx.checker"]) == 1
    Path("onnx-lint.toml").write_text('targets = ["onnx.checker"]\n')
    capsys.readouterr()
    assert run(["m.textproto", "-f", "sarif"]) == 1
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert (result["level"], result["properties"]["refusedBy"]) == ("error", {"onnx.checker": "1.23"})
    Path("onnx-lint.toml").write_text('targets = ["tensorrt"]\n')
    assert run(["m.textproto"]) == 2
    assert "targets: target 'tensorrt'" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_that_is_followed_is_an_error_for_onnx_checker(tmp_path: Path):
    (tmp_path / "real").write_bytes(bytes(4))
    (tmp_path / "w.bin").symlink_to("real")
    tensor = """graph { initializer { name: "w" data_type: 1 dims: 1 data_location: EXTERNAL
      external_data { key: "location" value: "w.bin" } } }"""
    (tmp_path / "m.textproto").write_text(tensor)
    options = {"select": ["external-data"], "follow_links": True, "ignore": ["unaligned-external-offset"]}
    assert lint(tmp_path / "m.textproto", options).diagnostics == ()  # type: ignore[arg-type]  # as above
    (item,) = lint(tmp_path / "m.textproto", options, target="onnx.checker").diagnostics  # type: ignore[arg-type]  # as above
    assert (item.rule, item.severity.label) == ("linked-external-file", "error")


def test_what_is_recorded_is_a_release_for_a_known_consumer():
    entry = """
    [X-1]
    summary = "s"
    chapter = "file"
    anchor = "a"
    since = 1
    keyword = { "1.23" = "practice" }
    static = "yes"
    rules = []
    refused_by = { %s }
    """
    assert parse(entry % '"onnxruntime" = "1.31"')["X-1"].refused_by == {"onnxruntime": "1.31"}
    for wrong in ('"tensorrt" = "10"', '"onnxruntime" = 1'):
        with pytest.raises(ValueError, match="refused_by holds a release for each of"):
            parse(entry % wrong)
    assert {name for clause in clauses().values() for name in clause.refused_by} == set(CONSUMERS)


OWN = """
ir_version: 10
producer_name: "p"
opset_import { version: 21 }
opset_import { domain: "com.microsoft" version: 1 }
graph {
  name: "g"
  node { op_type: "%s" domain: "com.microsoft" input: "x" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
}
"""


def test_an_operator_that_onnx_runtime_lacks_is_an_error_for_it_and_otherwise_not_verified():
    unknown, known = (OWN % "Geluu").encode(), (OWN % "Gelu").encode()
    (item,) = lint(unknown, target="onnxruntime=1.32").diagnostics
    assert (item.rule, item.severity.label) == ("unsupported-by-product", "error")
    assert lint(known, target="onnxruntime=1.32").diagnostics == ()
    (file,) = lint(unknown).files
    assert (file.diagnostics, file.not_verified) == ((), (("com.microsoft", 1),))


BRANCH = """
ir_version: 8
producer_name: "p"
producer_version: "1"
opset_import { version: 17 }
opset_import { domain: "com.acme" version: 1 }
graph {
  name: "g"
  node { op_type: "Abs" input: "h" output: "y" }
  node { op_type: "Relu" input: "x" output: "h" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
}
"""


@pytest.mark.parametrize(
    ("target", "severity", "loads"),
    [
        ([], "error", []),
        (["onnxruntime=1.32"], "warning", [True]),
        (["onnx", "onnxruntime=1.32"], "error", [True]),
        (["onnxruntime=1.32", "onnxruntime=1.17"], "error", [True, None]),
        (["onnxruntime=1.32", "onnx.checker"], "error", [True, False]),
        (["onnxruntime=1.17"], "error", [None]),
        (["ir=10"], "error", [True]),
    ],
)
def test_a_violation_is_a_warning_if_each_program_is_proven_to_load_it(target, severity, loads):
    report = lint(BRANCH.encode(), target=target)
    (item,) = report.diagnostics
    assert (item.rule, item.severity.label) == ("unordered-nodes", severity)
    assert [verdict.loads for verdict in report.files[0].targets] == loads
    assert item.allowed == lint(BRANCH.encode()).diagnostics[0].allowed == "nodes in topological order"
    said = {"onnxruntime=1.32": ("onnxruntime 1.32.0", "loads with this fault")}
    said["onnx.checker"] = ("onnx.checker", "refuses it (onnx 1.23 tried)")
    assert item.by_target.answers == tuple(said[name] for name in target if name in said)


FORMS_WITH_LINES = ("text", "markdown", "html", "junit", "github")


def test_the_report_says_what_each_program_does_in_lines_of_its_own(tmp_path: Path):
    (tmp_path / "m.textproto").write_text(BRANCH)
    said = {}
    for options in ([], ["--target", "onnxruntime=1.32", "--target", "onnx.checker"]):
        folder = tmp_path / str(len(options))
        folder.mkdir()
        outputs = [f"--output={name}={folder / name}" for name in FORMS_WITH_LINES]
        assert run([str(tmp_path / "m.textproto"), *options, *outputs]) == 1
        said[bool(options)] = {name: (folder / name).read_text() for name in FORMS_WITH_LINES}
    for name in FORMS_WITH_LINES:
        assert not any(words in said[False][name] for words in ("this fault", "refuses it")), name
        whole = said[True][name].replace("%0A", "\n").replace("&#46;", ".").replace("<br>", "\n")
        whole = whole.replace("\\", "").replace("**", "")
        assert "onnxruntime 1.32.0: loads with this fault" in whole, name
        assert "onnx.checker: refuses it (onnx 1.23 tried)" in whole, name
    assert "   = onnxruntime 1.32.0: loads with this fault\n" in said[True]["text"]
    assert "   = onnxruntime 1.32.0: loads, as far as its data say\n" in said[True]["text"]


def test_a_domain_without_import_is_judged_by_the_version_of_the_target():
    model = (OWN % "Geluu").replace('opset_import { domain: "com.microsoft" version: 1 }', "").encode()
    found = {item.rule: item.severity.label for item in lint(model, target="onnxruntime=1.32").diagnostics}
    assert found == {"missing-opset-import": "warning", "unsupported-by-product": "error"}
