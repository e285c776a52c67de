# SPDX-License-Identifier: Apache-2.0
"""The reports for CI servers keep to the limits of those who read them."""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from support.project.checkout import ROOT
from support.reports import made_up_report as made_up

from onnx_lint.common.record import replace
from onnx_lint.ir.places.place import Place
from onnx_lint.report.file_report import FileReport, TargetVerdict
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.totals import Report
from onnx_lint.reporters import Options, gitlab, links, write_report
from onnx_lint.reporters.sarif import MAX_SIZE_WITH_LINE
from onnx_lint.spec.clauses import Severity

MANY = 30_000


def written(name: str, report: Report, **options: Any) -> str:
    stream = io.StringIO()
    write_report(name, report, stream, Options(root=os.getcwd(), **options))
    return stream.getvalue()


def of(*diagnostics: Diagnostic, **changes: Any) -> Report:
    return Report((FileReport("m.onnx", 5000, diagnostics, **changes),), "1.23", "onnx-ml")


IGNORED = Report((FileReport("m.onnx", 5),), "1.23", "onnx-ml")
"""A file for which every rule is ignored."""


def test_a_file_without_a_rule_is_not_called_conforming() -> None:
    assert written("text", IGNORED) == "m.onnx: not judged: every rule is ignored\n"
    assert "Not judged: every rule is ignored" in written("markdown", IGNORED)
    _, suite = ElementTree.fromstring(written("junit", IGNORED))
    assert [(case.get("name"), [child.tag for child in case]) for case in suite.iter("testcase")] == [
        ("judged", ["skipped"])
    ]


def many(count: int = MANY) -> Report:
    """As many warnings, and behind them one error."""
    return of(*(made_up.warning(index) for index in range(count)), made_up.error())


# --- GitHub


def test_github_shows_ten_of_a_type_and_logs_the_rest() -> None:
    diagnostics = [replace(made_up.warning(index), rule=f"rule-{index}") for index in range(20)]
    lines = written("github", of(*diagnostics, *[made_up.note()] * 5)).splitlines()
    commands = [line.split(" ")[0] for line in lines if line.startswith("::")]
    assert Counter(commands) == {"::warning": 10, "::notice": 3, "::group::12": 1, "::endgroup::": 1}
    begin, end = lines.index("::group::12 more findings in m.onnx"), lines.index("::endgroup::")
    assert Counter(line.partition("[")[0] for line in lines[begin + 1 : end]) == {"warning": 10, "note": 2}
    assert lines[end + 1 :] == ["onnx-lint: 1 model conforms to ONNX 1.23; 20 warnings, 5 notes"]


def test_github_prefers_findings_of_different_rules() -> None:
    rare = replace(made_up.warning(99), rule="rare")
    lines = written("github", of(*(made_up.warning(index) for index in range(50)), rare)).splitlines()
    assert sum("title=onnx-lint%3A rare" in line for line in lines) == 1


def test_github_annotates_each_file_where_rules_repeat() -> None:
    files = [FileReport(f"{name}.onnx", 1, tuple(made_up.error() for _ in range(20))) for name in "abcde"]
    lines = written("github", Report(tuple(files), "1.23", "onnx-ml")).splitlines()
    annotated = [line.partition("file=")[2].partition(",")[0] for line in lines if line.startswith("::error")]
    assert annotated == [file.path for file in files]
    groups = [line for line in lines if line.startswith("::group::")]
    assert groups == [f"::group::19 more findings in {c}.onnx" for c in "abcde"]


@pytest.mark.parametrize(
    ("count", "options", "times"), [(1, {}, 1), (2, {}, 1), (1, {"verbose": True}, 1), (2, {"verbose": True}, 3)]
)
def test_the_log_of_github_says_once_what_was_not_verified(count: int, options: dict[str, bool], times: int) -> None:
    """With --verbose also for each file."""
    files = [FileReport(f"{name}.onnx", 9, not_verified=(("com.acme", 3),)) for name in "ab"[:count]]
    text = written("github", Report(tuple(files), "1.23", "onnx-ml", rules=("cycle",)), **options)
    assert text.count("not verified: ") == times


def test_no_name_becomes_a_command_of_github() -> None:
    name = "\n::add-mask::x\r##[add-mask]x"
    diagnostics = [made_up.error(message=name, at=Place(None, name), subject=name) for _ in range(12)]
    lines = written("github", of(*diagnostics, not_verified=((name, 1),))).splitlines()
    assert {line.split(" ")[0] for line in lines if line.lstrip().startswith("::")} == {
        "::error",
        "::group::9",
        "::endgroup::",
    }
    assert [line for line in lines if "##[" in line and not line.startswith("::error")] == []


# --- GitLab


@pytest.mark.parametrize("report", [made_up.REPORT, made_up.EMPTY], ids=["everything", "nothing"])
def test_gitlab_issues_have_what_gitlab_reads(report: Report) -> None:
    issue = {
        "type": "object",
        "additionalProperties": False,
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": r"^[^/]"},
                    "lines": {"type": "object", "required": ["begin"], "properties": {"begin": {"const": 1}}},
                },
            },
        },
    }
    issues = json.loads(written("gitlab", report))
    jsonschema.validate(issues, {"type": "array", "items": issue})
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)


@pytest.mark.parametrize(("most", "left_out"), [(100, 3_000), pytest.param(10_000, 20_002, marks=pytest.mark.slow)])
def test_gitlab_gets_the_worst_of_too_many(most: int, left_out: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert gitlab.MAX_ISSUES == 10_000
    monkeypatch.setattr(gitlab, "MAX_ISSUES", most)
    issues = json.loads(written("gitlab", many(most + left_out - 2)))
    assert Counter(issue["severity"] for issue in issues) == {"minor": most - 2, "major": 1, "info": 1}
    assert issues[-1]["description"] == f"{left_out:,} issues were left out; the JSON report has them all"


def test_gitlab_has_an_issue_of_what_was_not_verified() -> None:
    """Its fingerprint stays when the numbers change: a merge request shows only what is new."""
    marks = set()
    for nodes in (3, 4):
        proven = TargetVerdict("openvino 2026.1", None, f"not judged: {nodes} nodes", fails_run=True)
        file = FileReport("m.onnx", 9, not_verified=(("com.acme", nodes),), targets=(proven,))
        target, unverified = json.loads(written("gitlab", Report((file,), "1.23", "onnx-ml")))
        assert (target["severity"], target["description"]) == (
            "major",
            f"openvino 2026.1: not judged: {nodes} nodes",
        )
        assert (unverified["severity"], unverified["check_name"]) == ("info", "not-verified")
        assert unverified["description"].startswith(f"not verified: {nodes} nodes of domain 'com.acme', whose ")
        marks.add((target["fingerprint"], unverified["fingerprint"]))
    assert len(marks) == 1


# --- Markdown, JUnit


@pytest.mark.parametrize(
    ("loads", "is_red", "expected"),
    [(True, False, "system-out"), (None, False, "skipped"), (None, True, "failure"), (False, True, "failure")],
)
def test_each_target_is_a_test_case_of_junit(loads: bool | None, is_red: bool, expected: str) -> None:
    answer = TargetVerdict("openvino 2026.1", loads, "what it does", fails_run=is_red)
    file = FileReport("m.onnx", 9, targets=(answer,))
    root = ElementTree.fromstring(written("junit", Report((file,), "1.23", "onnx-ml", ("cycle",))).partition("\n")[2])
    cases = {case.get("name"): case for case in root.iter("testcase")}
    [outcome] = cases["openvino 2026.1"]
    assert (outcome.tag, outcome.text, outcome.get("message")) == (
        (expected, "what it does", None) if expected == "system-out" else (expected, None, "what it does")
    )
    assert ("conforms" in cases) == (expected != "failure")


@pytest.mark.slow
def test_markdown_stays_below_a_mebibyte() -> None:
    files = tuple(
        FileReport(f"{number}.onnx", 1, tuple(replace(made_up.error(), rule=f"rule-{n}") for n in range(20)))
        for number in range(500)
    )
    text = written("markdown", Report(files, "1.23", "onnx-ml"))
    assert 900_000 < len(text.encode()) < 1024 * 1024
    assert text.endswith(" left out: a step summary may have 1 MiB.*\n")


def test_markdown_makes_no_markup_of_a_name() -> None:
    name = "| a | `b` <img src=x> [t](https://e.invalid) @user **c** www.e.invalid"
    text = written("markdown", of(made_up.error(message=name)))
    (row,) = (line for line in text.splitlines() if "img" in line)
    for active in ("<img", "[t](", " @user", "**c", " `b`", "://", " www."):
        assert active not in row
    assert row.replace(r"\|", "").count("|") == 4


def test_junit_counts_what_it_does_not_show_and_is_xml() -> None:
    hostile = made_up.error(message="".join(map(chr, range(0x20))) + "\x7f\ufffe\uffff]]><&\"'", rule="<&>")
    root = ElementTree.fromstring(written("junit", of(*(made_up.warning(n) for n in range(150)), hostile)))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "1", "0")
    _, passed, failed = root.iter("testcase")
    assert (passed.findtext("system-out") or "").splitlines()[-1] == "50 findings more like it"
    assert failed.get("name") == "<&> (GRA-5)"
    message = failed.find("failure").get("message")  # type: ignore[union-attr]  # there is one
    assert message is not None
    assert "\\x7f\\ufffe\\uffff]]><&\"'. Allowed: " in message


JUNIT = {
    # Each element with the attributes that it must and may have, and what may stand in it, in this order.
    "testsuites": ((), ("name", "time", "tests", "failures", "disabled", "errors"), ("testsuite",)),
    "testsuite": (
        ("name", "tests"),
        ("failures", "errors", "time", "disabled", "skipped", "timestamp", "hostname", "id", "package"),
        ("properties", "testcase", "system-out", "system-err"),
    ),
    "properties": ((), (), ("property",)),
    "property": (("name", "value"), (), ()),
    "testcase": (
        ("name", "classname"),
        ("assertions", "time", "status"),
        ("skipped", "error", "failure", "system-out", "system-err"),
    ),
    "skipped": ((), ("message",), ()),
    "error": ((), ("type", "message"), ()),
    "failure": ((), ("type", "message"), ()),
    "system-out": ((), (), ()),
}
"""The form of JUnit's XML that Jenkins takes: what the schema junit-10.xsd of its plugin xUnit says."""


@pytest.mark.parametrize("report", [made_up.REPORT, made_up.EMPTY, IGNORED], ids=["everything", "nothing", "ignored"])
def test_junit_has_the_form_that_jenkins_takes(report: Report) -> None:
    root = ElementTree.fromstring(written("junit", report))
    assert root.tag == "testsuites"
    for element in root.iter():
        required, optional, children = JUNIT[element.tag]
        assert set(required) <= set(element.attrib) <= {*required, *optional}
        order = [children.index(child.tag) for child in element]
        assert order == sorted(order)
    for suite in root.iter("testsuite"):
        assert suite.get("tests") == str(len(suite.findall("testcase")))


@pytest.mark.parametrize(("failing", "failures"), [("error", "1"), ("warning", "2"), ("note", "3"), ("never", "0")])
def test_junit_fails_what_fails_the_run(failing: str, failures: str) -> None:
    report = of(made_up.error(), made_up.warning(0), made_up.note())
    assert ElementTree.fromstring(written("junit", report, failing=failing)).get("failures") == failures


# --- JSON lines, SARIF, links


@pytest.mark.parametrize("report", [made_up.REPORT, made_up.EMPTY], ids=["everything", "nothing"])
def test_json_lines_hold_the_objects_of_the_json_report(report: Report) -> None:
    document = json.loads(written("json", report))
    records = [json.loads(line) for line in written("jsonl", report).splitlines()]
    expected: list[dict[str, Any]] = [{"record": "run", "version": 1, "tool": document["tool"]}]
    for file in document["files"]:
        diagnostics = file.pop("diagnostics")
        expected += [{"record": "finding", "path": file["path"], **diagnostic} for diagnostic in diagnostics]
        expected.append({"record": "file", **file})
    assert records == [*expected, {"record": "summary", **document["summary"]}]


@pytest.mark.parametrize("report", [made_up.REPORT, made_up.EMPTY], ids=["everything", "nothing"])
def test_each_json_line_follows_the_published_schema(report: Report) -> None:
    schema = json.loads((ROOT / "docs" / "report-line.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for form in (schema, made_up.strict(schema)):
        validator = jsonschema.Draft202012Validator(form)
        for line in written("jsonl", report).splitlines():
            record = json.loads(line)
            assert [error.message for error in validator.iter_errors(record)] == []
            del record["record"]
            assert not validator.is_valid(record)


@pytest.mark.parametrize("more", [0, 1])
def test_results_in_large_files_have_no_region(more: int) -> None:
    report = Report((FileReport("m.onnx", MAX_SIZE_WITH_LINE + more, (made_up.error(),)),), "1.23", "onnx-ml")
    (result,) = json.loads(written("sarif", report))["runs"][0]["results"]
    for location in (*result["locations"], *result["relatedLocations"]):
        assert "address" in location["physicalLocation"]
    expected = None if more else {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1}
    assert result["locations"][0]["physicalLocation"].get("region") == expected


def test_the_address_of_a_rule_comes_from_the_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    for site, expected in ((None, None), ("https://d.invalid/", "https://d.invalid/rules/cycle.html")):
        monkeypatch.setattr(links, "project_url", lambda *_, site=site: site)
        assert links.documentation_url.__wrapped__("cycle") == expected
    assert links.documentation_url.__wrapped__("no-such-rule") is None


def test_sarif_has_the_addresses_of_the_documentation(monkeypatch: pytest.MonkeyPatch) -> None:
    for site, expected in (
        (None, (None, None)),
        ("https://d.invalid", ("https://d.invalid", "https://d.invalid/rules/cycle.html")),
    ):
        monkeypatch.setattr(links, "project_url", lambda *_, site=site: site)
        links.documentation_url.cache_clear()
        driver = json.loads(written("sarif", of(made_up.error(rule="cycle"))))["runs"][0]["tool"]["driver"]
        assert (driver.get("informationUri"), driver["rules"][0].get("helpUri")) == expected
    links.documentation_url.cache_clear()


def test_severities_have_a_type_everywhere() -> None:
    report = of(*(replace(made_up.error(), severity=severity) for severity in Severity))
    assert [line.split(" ")[0] for line in written("github", report).splitlines()[:3]] == [
        "::error",
        "::warning",
        "::notice",
    ]
    assert [issue["severity"] for issue in json.loads(written("gitlab", report))] == ["info", "minor", "major"]
