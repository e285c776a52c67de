# SPDX-License-Identifier: Apache-2.0
"""What to do about a finding is in each form, as its reader shows it."""

from __future__ import annotations

import io
import json
import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.reports.made_up_report import error

from onnx_lint.cli.application import run
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic, ProposedFix
from onnx_lint.report.totals import Report
from onnx_lint.reporters import REPORTERS, Options, write_report
from onnx_lint.reporters.wording import guidance_sentences, labelled_guidance

FOUND = error(
    message="node 'a' uses 'x', which nothing defines; did you mean 'X'?",
    allowed="the name of a value",
    hint="with transB=1 the shapes fit",
    no_fix="two of them are alike",
    fix=ProposedFix("rename 'x' to 'X'", is_safe=False),
    answers=(("onnxruntime 1.32.0", "loads with this fault"),),
)
COMMAND = "rename 'x' to 'X' (onnx-lint fix --unsafe-fixes)"

OTHER = "graph.node[3].output[0] (bytes 500..503): first definition of 'y'"
"""The related place of the finding."""


def written(form: str, *found: Diagnostic, **options: bool) -> str:
    stream = io.StringIO()
    report = Report((FileReport("m.onnx", 9, found),), "1.23", "onnx-ml")
    write_report(form, report, stream, Options(root="/", **options))  # type: ignore[arg-type]  # names of options
    return stream.getvalue()


def test_the_parts_are_in_the_order_of_the_text_report() -> None:
    assert list(labelled_guidance(FOUND)) == [
        ("allowed", "the name of a value"),
        ("onnxruntime 1.32.0", "loads with this fault"),
        ("fix", COMMAND),
        ("help", "with transB=1 the shapes fit"),
    ]
    assert list(guidance_sentences(FOUND)) == [
        "Allowed: the name of a value.",
        "onnxruntime 1.32.0: loads with this fault.",
        f"Fix: {COMMAND}.",
        "Help: with transB=1 the shapes fit.",
    ]
    assert list(labelled_guidance(error(allowed=None))) == []


@pytest.mark.parametrize("form", ["text", "markdown", "html", "junit", "github", "gitlab", "sarif", "json", "jsonl"])
def test_each_form_has_all_of_it(form: str) -> None:
    text = unescape(written(form, FOUND)).replace("<code>", "'").replace("</code>", "'")
    for part in ("the name of a value", "rename 'x' to 'X'", "with transB=1 the shapes fit"):
        assert part in text, part
    if form not in ("json", "jsonl"):
        assert "loads with this fault" in text


def test_sarif_says_it_in_sentences_and_in_markdown() -> None:
    (result,) = json.loads(written("sarif", FOUND))["runs"][0]["results"]
    text, marked = result["message"]["text"], result["message"]["markdown"]
    assert text == (
        "node 'a' uses 'x', which nothing defines; did you mean 'X'? Allowed: the name of a value. "
        f"onnxruntime 1.32.0: loads with this fault. Fix: {COMMAND}. Help: with transB=1 the shapes fit. "
        "See also [place 1](1) graph.node[3].output[0]."
    )
    assert marked.split("\n\n") == [
        "node 'a' uses 'x', which nothing defines; did you mean 'X'?",
        "**Allowed**: the name of a value",
        "**onnxruntime 1.32.0**: loads with this fault",
        f"**Fix**: {COMMAND}",
        "**Help**: with transB=1 the shapes fit",
        "See also [graph.node\\[3\\].output\\[0\\]](1).",
    ]


def test_no_name_of_a_model_becomes_markup_in_sarif() -> None:
    name = "![x](https://e.invalid) <img> **b** [place](1)"
    (result,) = json.loads(written("sarif", error(message=name, allowed=name, related=())))["runs"][0]["results"]
    for text in (result["message"]["text"], result["message"]["markdown"]):
        assert re.search(r"(?<!\\)\]\(", text) is None
    marked = result["message"]["markdown"].replace("**Allowed**", "")
    for active in ("<img", " **b", "://"):
        assert active not in marked


def test_gitlab_shows_one_description() -> None:
    (issue,) = json.loads(written("gitlab", FOUND))
    assert issue["description"] == (
        "node 'a' uses 'x', which nothing defines; did you mean 'X'? (graph.node[7].output[0]). "
        f"Allowed: the name of a value. onnxruntime 1.32.0: loads with this fault. Fix: {COMMAND}. "
        f"Help: with transB=1 the shapes fit. See also: {OTHER}."
    )


def test_an_annotation_has_a_line_for_each_part() -> None:
    line = written("github", FOUND).splitlines()[0]
    assert line.partition("bytes 1186..1214)%0A")[2].split("%0A")[:-1] == [
        f"see also: {OTHER}",
        "allowed: the name of a value",
        "onnxruntime 1.32.0: loads with this fault",
        f"fix: {COMMAND}",
        "help: with transB=1 the shapes fit",
    ]


def test_junit_says_once_what_holds_for_the_next_finding_as_well() -> None:
    root = ElementTree.fromstring(written("junit", FOUND, error(allowed="the name of a value"), error(allowed="none")))
    (failure,) = root.iter("failure")
    assert failure.get("message") == (
        "node 'a' uses 'x', which nothing defines; did you mean 'X'? (and 2 more). Allowed: the name of a value. "
        f"onnxruntime 1.32.0: loads with this fault. Fix: {COMMAND}. Help: with transB=1 the shapes fit."
    )
    lines = (failure.text or "").splitlines()
    assert [line for line in lines if line.startswith("  ") and not line.startswith("  see also: ")] == [
        "  allowed: the name of a value",
        "  onnxruntime 1.32.0: loads with this fault",
        f"  fix: {COMMAND}",
        "  help: with transB=1 the shapes fit",
        "  allowed: none",
    ]


@pytest.mark.parametrize("form", ["text", "markdown", "html", "junit", "github", "gitlab"])
def test_that_there_is_no_fix_is_no_help(form: str) -> None:
    assert "two of them are alike" not in written(form, FOUND)


def test_the_text_says_why_there_is_no_fix_if_asked() -> None:
    text = written("text", FOUND, error(hint=None, no_fix="it is unclear", rule="other"), verbose=True)
    assert "   = help: with transB=1 the shapes fit; no fix: two of them are alike\n" in text
    assert "   = help: no fix: it is unclear\n" in text


def test_json_has_the_reason_by_itself() -> None:
    (found,) = json.loads(written("json", FOUND))["files"][0]["diagnostics"]
    assert (found["hint"], found["no_fix"]) == ("with transB=1 the shapes fit", "two of them are alike")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "'git lfs pull'"),
        (b"", "export, copy or download it again"),
    ],
    ids=["a pointer", "an empty file"],
)
@pytest.mark.parametrize("form", REPORTERS)
def test_each_form_says_what_to_do_about_a_file_without_a_model(
    content: bytes, said: str, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    assert run([str(path), "-f", form]) == 1
    text = unescape(capsys.readouterr().out).replace("<code>", "'").replace("</code>", "'")
    # A line of `concise` has the message and no hint.
    assert said in text or (form == "concise" and "the file is empty" in text)


def test_a_rule_gives_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.textproto"
    path.write_text(
        """ir_version: 10 producer_name: "p" opset_import { version: 20 }
        graph { name: "g"
          node { op_type: "Abs" input: "x" output: "y" attribute { name: "axis" type: INT i: 1 } }
          input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
          output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } }"""
    )
    said = {}
    for options in ((), ("-v",)):
        assert run([str(path), *options]) == 1
        said[options] = capsys.readouterr().out
    assert "no fix" not in said[()]
    assert "\n   = help: no fix: " in said["-v",]
