# SPDX-License-Identifier: Apache-2.0
"""The reporters on one report made by hand that has everything in it, hostile names above all."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import Any

import jsonschema
import pytest
from support.models.places import place_at
from support.project.checkout import TESTS
from support.project.each_case import each_case
from support.project.made_rules import registered
from support.reports.made_up_report import EMPTY, FACTS, HOSTILE, REPORT, error, note, strict, warning

from onnx_lint.common.record import replace
from onnx_lint.engine.registry import Registered, registry
from onnx_lint.report.file_report import FileFacts, FileReport, TargetVerdict
from onnx_lint.report.folding import fold
from onnx_lint.report.totals import Report
from onnx_lint.reporters import REPORTERS, Options, sarif, write_report
from onnx_lint.reporters.escape import encodable, shortened, visible
from onnx_lint.reporters.fingerprint import fingerprints
from onnx_lint.reporters.sarif_rules import sarif_rules
from onnx_lint.reporters.uri import uri_of
from onnx_lint.reporters.wording import bytes_in_words, counted, facts_in_words
from onnx_lint.rule import Rule
from onnx_lint.spec.clauses import Clause

GOLDENS = TESTS / "goldens"
PROJECT = "/project"


# --- the rules


def _clause(name: str, keyword: str, summary: str) -> Clause:
    return Clause(
        name, summary, "graph", "IR.md#graphs", 1, None, {"1.23": keyword}, "yes", (), None, "listed", (), None, None
    )


def _rule(name: str, clause: str, plugin: str | None = None) -> Registered:
    def check(model: Any) -> Iterator[Any]:
        yield from ()

    check.__doc__ = f"Something is {name}.\n\n### Why it matters\n\nIt does.\n\n### Details\n\nNothing."
    return registered(Rule(name, check, (clause,), "0.1.0"), "graph", f"rules.{name}", plugin)


@pytest.fixture
def made_up_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry and clauses for the report, so that no golden changes with the words of a real rule."""
    clauses = {
        "GRA-5": _clause("GRA-5", "MUST", "A name is defined once."),
        "NAM-1": _clause("NAM-1", "SHOULD", "Names are not odd."),
        "MOD-8": _clause("MOD-8", "MAY", "A model may be documented."),
    }
    entries = {
        "nothing-known": _rule("nothing-known", "MOD-8"),
        "odd-name": _rule("odd-name", "NAM-1", "onnx-lint-example"),
        "twice-defined": _rule("twice-defined", "GRA-5"),
    }
    # The checkout may be installed with the addresses of its metadata, or not at all.
    monkeypatch.setattr("onnx_lint.reporters.sarif.information_url", lambda: "https://example.invalid/onnx-lint")
    monkeypatch.setattr("onnx_lint.reporters.sarif_rules.documentation_url", {"odd-name": "https://docs.invalid"}.get)
    for module in ("onnx_lint.spec.clauses", "onnx_lint.reporters.documentation", "onnx_lint.reporters.sarif_rules"):
        monkeypatch.setattr(f"{module}.clauses", lambda: MappingProxyType(clauses))
    monkeypatch.setattr("onnx_lint.reporters.sarif_rules.registry", lambda: MappingProxyType(entries))
    for module in ("onnx_lint.reporters.records", "onnx_lint.reporters.sarif"):
        monkeypatch.setattr(f"{module}.__version__", "9.8.7")


def written(name: str, report: Report = REPORT, **options: Any) -> str:
    stream = io.StringIO()
    write_report(name, report, stream, Options(root=os.getcwd(), **options))
    text = stream.getvalue()
    text.encode("utf-8")  # raises for a lone surrogate
    return text


# --- goldens


@pytest.mark.usefixtures("made_up_rules")
@pytest.mark.parametrize(
    ("file", "format_name", "options"),
    [
        ("text.txt", "text", {}),
        ("text-quiet.txt", "text", {"quiet": True}),
        ("text-color.txt", "text", {"color": True}),
        ("concise.txt", "concise", {}),
        ("report.json", "json", {}),
        ("report.sarif", "sarif", {}),
        ("text-statistics.txt", "text", {"statistics": True, "quiet": True}),
        ("report.jsonl", "jsonl", {}),
        ("github.txt", "github", {}),
        ("gitlab.json", "gitlab", {}),
        ("junit.xml", "junit", {}),
        ("markdown.md", "markdown", {"statistics": True}),
    ],
)
def test_golden(request: pytest.FixtureRequest, file: str, format_name: str, options: dict[str, Any]) -> None:
    text = written(format_name, **options)
    if format_name == "sarif":
        text = json.dumps(json.loads(text), indent=2) + "\n"
    golden = GOLDENS / file
    if request.config.getoption("--bless", default=False):
        golden.write_text(text, encoding="utf-8", newline="")
    assert text == golden.read_bytes().decode("utf-8")


@pytest.mark.usefixtures("made_up_rules")
@pytest.mark.parametrize("name", REPORTERS)
def test_two_runs_give_the_same_bytes(name: str) -> None:
    assert written(name) == written(name)


@pytest.mark.usefixtures("made_up_rules")
@pytest.mark.parametrize("name", REPORTERS)
def test_every_format_says_what_was_not_checked(name: str) -> None:
    def alone(files: Iterable[FileReport] = (), **facts: Any) -> str:
        return written(name, Report(tuple(files), "1.23", "onnx-ml", **facts))

    if name == "concise":  # which the command prints on standard error
        assert alone(not_linted=("later.onnx",)) == alone() == ""
        return
    assert "ValueError" in alone(file for file in REPORT.files if file.internal_errors)
    assert alone(not_linted=("later.onnx",)) != alone()
    if name != "text":  # standard error has the reason beside these
        assert "No such file or directory" in alone(file for file in REPORT.files if file.unreadable is not None)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("text", "\n   = onnxruntime 1.32.0: loads, as far as its data say; 2 nodes of com.acme not judged\n"),
        ("markdown", "\n- **onnxruntime 1.32.0**: loads, as far as its data say; 2 nodes of com.acme not judged\n"),
        ("html", "<br><span>onnxruntime 1.32.0: loads, as far as its data say; 2 nodes of com.acme not judged<"),
        ("junit", ">loads, as far as its data say; 2 nodes of com.acme not judged</system-out>"),
        ("json", '"message": "loads, as far as its data say; 2 nodes of com.acme not judged"'),
        ("jsonl", '"message":"loads, as far as its data say; 2 nodes of com.acme not judged"'),
    ],
)
def test_each_form_has_a_line_for_each_target(form: str, expected: str) -> None:
    said = "loads, as far as its data say; 2 nodes of com.acme not judged"
    verdicts = (TargetVerdict("onnxruntime 1.32.0", True, said), TargetVerdict("openvino 2026.1", None, "not judged"))
    text = written(form, Report((FileReport("m.onnx", 1, targets=verdicts),), "1.23", "onnx-ml"))
    assert expected in text
    assert "openvino 2026.1" in text


# --- names of strangers


@pytest.mark.usefixtures("made_up_rules")
@pytest.mark.parametrize("name", REPORTERS)
def test_no_format_writes_what_steers_a_display(name: str) -> None:
    text = written(name)
    assert re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", text) == []


def test_markup_stands_as_it_is_and_lines_stay_lines() -> None:
    hostile = Report((REPORT.files[4],), "1.23", "onnx-ml")
    assert written("concise", hostile).count("\n") == 1
    shown = r"a\x1b[31mred\n[bold]b[/bold]\u202etxt.\u200b\xff\ud800](https://example.invalid)"
    assert written("concise", hostile) == (
        f"my models/100%:{shown}.onnx: graph.node[7].output[0]: error[twice-defined] node {shown} is bad\n"
    )
    assert shown in written("text", hostile, color=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain 'name' \\x1b \u00e9\u4e2d\U0001f600", "plain 'name' \\x1b \u00e9\u4e2d\U0001f600"),
        ("\x1b[0m\r\n\t\x00\x9b", r"\x1b[0m\r\n\t\x00\x9b"),
        ("\u202e\u2066\u200f\u061c\ufeff\u2028\xad", r"\u202e\u2066\u200f\u061c\ufeff\u2028\xad"),
        ("\udcff\ud800\U000e0041", r"\xff\ud800\U000e0041"),
        ("\u115f\u1160\u3164\uffa0\u034f\ufe0f\U000e0100", r"\u115f\u1160\u3164\uffa0\u034f\ufe0f\U000e0100"),
        ("##[group]x ####vso[y] ##[", r"#\x23[group]x ###\x23vso[y] #\x23["),
        ("::error::x a::b ::x c", r"\x3a:error::x a::b \x3a:x c"),
        ("## a # [b] #[c] ##d", "## a # [b] #[c] ##d"),
        ("", ""),
    ],
)
def test_visible(text: str, expected: str) -> None:
    assert visible(text) == expected
    assert visible(expected) == expected


def test_every_character_that_shows_nothing_is_escaped() -> None:
    """Those that Unicode has as such (Default_Ignorable_Code_Point), assigned or not."""
    ranges = ((0xAD,) * 2, (0x34F,) * 2, (0x61C,) * 2, (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F))
    ranges += ((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164,) * 2, (0xFE00, 0xFE0F), (0xFEFF,) * 2)
    ranges += ((0xFFA0,) * 2, (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF))
    for first, last in ranges:
        for code in range(first, last + 1):
            assert visible(chr(code)).startswith("\\"), hex(code)


def test_encodable_replaces_nothing_but_lone_surrogates() -> None:
    assert encodable("\x1b\n\u202e\udcff\ud83d\ude00") == "\x1b\n\u202e\\xff\\ud83d\\ude00"


@pytest.mark.parametrize(
    ("most", "expected"), [(10, "0123456789"), (9, "01 ... 89"), (8, "01 ... 9"), (6, "012345"), (0, "")]
)
def test_shortened(most: int, expected: str) -> None:
    assert shortened("0123456789", most) == expected
    assert len(expected) <= most


# --- text


def test_text_counts_what_it_folds() -> None:
    many = FileReport("m.onnx", 9, tuple(warning(index, graph="g") for index in range(1675)), facts=None)
    text = written("text", Report((many,), "1.23", "onnx-ml"))
    assert text.count("\nwarning[odd-name]: ") + text.startswith("warning[odd-name]: ") == 3
    assert "   = 1,672 more like it (--format concise shows all)\n" in text
    assert text.endswith("\nm.onnx: conforms to ONNX 1.23; 1,675 warnings\n")
    assert text.count("= help:") == 1
    assert text.count("= clause:") == 1
    assert written("concise", Report((many,), "1.23", "onnx-ml")).count("\n") == 1675


def test_text_of_one_clean_file_is_one_line() -> None:
    assert written("text", replace(REPORT, files=(REPORT.files[1],))) == (
        "models/clean.onnx: conforms to ONNX 1.23; 98 rules checked; IR version 14; ai.onnx 28; 1 node in 1 graph\n"
    )
    assert written("text", replace(REPORT, files=(REPORT.files[1],)), quiet=True) == ""


def test_text_is_never_wrapped_or_cut() -> None:
    long = error(message="word " * 400 + "end", allowed=None, related=())
    report = Report((FileReport("m.onnx", 1, (long,)),), "1.23", "onnx-ml")
    for text in (written("text", report), written("concise", report), written("text", report, color=True)):
        assert any("word " * 400 + "end" in line for line in text.splitlines())


def test_text_for_a_terminal_is_broken_between_words() -> None:
    report = Report((FileReport("m.onnx", 5000, (error(),), facts=FACTS),), "1.23", "onnx-ml")
    assert (
        written("text", report, width=60)
        == """\
error[twice-defined]: output 0 of node 'b' (Abs) defines
    'y', which output 0 of node 'a' (Relu) defines already
  --> m.onnx: graph.node[7].output[0] (bytes 1186..1214)
  ::: graph.node[3].output[0] (bytes 500..503): first
      definition of 'y'
   = clause: GRA-5 MUST (IR.md#graphs): A name is defined
     once.
   = allowed: one definition for each name
   = help: onnx-lint explain twice-defined

m.onnx: 1 error; IR version 8; ai.onnx 17, ai.onnx.ml 3;
    412 nodes in 3 graphs and 1 function; producer pytorch
    2.1.0
"""
    )


@pytest.mark.slow
@each_case("width", [*range(1, 90), 10_000])
@each_case("color", [False, True])
def test_breaking_lines_loses_nothing(width: int, color: bool) -> None:
    broken = written("text", width=width, color=color)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", broken)
    assert shown.split() == written("text").split()
    if width >= 30:
        longest = max(map(len, shown.split()))
        assert max(map(len, shown.splitlines())) <= max(width, longest + len("  ::: "))


@pytest.mark.usefixtures("made_up_rules")
def test_reports_of_nothing() -> None:
    assert written("text", EMPTY) == ""
    assert written("concise", EMPTY) == ""
    assert json.loads(written("json", EMPTY))["files"] == []
    assert json.loads(written("sarif", EMPTY))["runs"][0]["results"] == []


@pytest.mark.parametrize(
    ("count", "expected"), [(0, "0 errors"), (1, "1 error"), (2, "2 errors"), (1234567, "1,234,567 errors")]
)
def test_counted(count: int, expected: str) -> None:
    assert counted(count, "error") == expected


@pytest.mark.parametrize(
    ("byte_range", "expected"), [(None, ""), ((9, 9), "byte 9"), ((9, 12), "bytes 9..12"), ((0, 1), "bytes 0..1")]
)
def test_bytes_of(byte_range: tuple[int, int] | None, expected: str) -> None:
    assert bytes_in_words(byte_range) == expected


def test_facts_of_many_imports_are_short() -> None:
    facts = FileFacts(8, tuple((f"domain{index}", index) for index in range(2000)), "p" * 10_000, 0, 0, 0)
    assert facts_in_words(facts) == (
        "IR version 8; "
        + ", ".join(f"domain{index} {index}" for index in range(8))
        + ", 1,992 more operator sets; 0 nodes in 0 graphs; producer "
        + "p" * 48
        + " ... "
        + "p" * 47
    )


def test_a_ninth_import_is_one_more() -> None:
    facts = FileFacts(8, tuple((f"domain{index}", index) for index in range(9)), "", 1, 1, 0)
    assert ", domain7 7, 1 more operator set; 1 node in 1 graph" in facts_in_words(facts)


# --- JSON


@pytest.mark.parametrize("report", [REPORT, EMPTY], ids=["everything", "nothing"])
def test_json_follows_its_published_schema(report: Report) -> None:
    schema = json.loads((TESTS.parent / "docs" / "report.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    document = json.loads(written("json", report))
    for form in (schema, strict(schema)):
        errors = jsonschema.Draft202012Validator(form).iter_errors(document)
        assert [(error.json_path, error.message) for error in errors] == []


def test_json_keeps_names_as_they_are() -> None:
    diagnostic = json.loads(written("json"))["files"][4]["diagnostics"][0]
    assert diagnostic["node"] == HOSTILE.replace("\udcff\ud800", r"\xff\ud800")
    assert written("json").isascii()


# --- SARIF


def _validator() -> jsonschema.Draft202012Validator:
    schema = json.loads((TESTS / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.usefixtures("made_up_rules")
@pytest.mark.parametrize("report", [REPORT, EMPTY], ids=["everything", "nothing"])
def test_sarif_follows_the_standards_schema(report: Report) -> None:
    errors = _validator().iter_errors(json.loads(written("sarif", report)))
    assert [(error.json_path, error.message) for error in errors] == []


def test_sarif_with_the_real_rules_follows_the_standards_schema() -> None:
    report = replace(REPORT, rules=tuple(registry()))
    errors = _validator().iter_errors(json.loads(written("sarif", report)))
    assert [(error.json_path, error.message) for error in errors] == []


def test_sarif_rules_are_what_github_takes() -> None:
    rules = list(sarif_rules(registry(), "1.23"))
    assert [rule["id"] for rule in rules] == sorted(registry())
    for rule in rules:
        assert rule.get("name", "Id").isalnum(), rule["id"]
        assert ("name" in rule) == ("-" in rule["id"]), rule["id"]
        assert 0 < len(rule["shortDescription"]["text"]) <= 1024, rule["id"]
        assert 0 < len(rule["fullDescription"]["text"]) <= 1024, rule["id"]
        assert rule["help"]["text"], rule["id"]
        assert rule["help"]["markdown"], rule["id"]
        assert len(rule["properties"]["tags"]) <= 10, rule["id"]
        assert rule["defaultConfiguration"]["level"] in {"error", "warning", "note"}, rule["id"]


@pytest.mark.usefixtures("made_up_rules")
def test_sarif_results_are_what_github_takes() -> None:
    run = json.loads(written("sarif"))["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == sorted(rules)
    artifacts = [artifact["location"]["uri"] for artifact in run["artifacts"]]
    fingerprints_seen = []
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        (location,) = result["locations"]
        physical = location["physicalLocation"]
        assert physical["region"] == {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1}
        assert artifacts[physical["artifactLocation"]["index"]] == physical["artifactLocation"]["uri"]
        assert re.fullmatch(r"[A-Za-z0-9_.~/%-]+", physical["artifactLocation"]["uri"])
        fingerprints_seen.append(result["partialFingerprints"]["primaryLocationLineHash"])
    assert len(run["results"]) == len(REPORT.diagnostics)
    assert len(set(fingerprints_seen)) == len(fingerprints_seen)


@pytest.mark.usefixtures("made_up_rules")
def test_sarif_makes_no_link_of_a_name() -> None:
    run = json.loads(written("sarif"))["runs"][0]
    texts = [result["message"]["text"] for result in run["results"]]
    texts += [place["message"]["text"] for result in run["results"] for place in result.get("relatedLocations", ())]
    links = [link for text in texts for link in re.findall(r"(?<!\\)\]\(([^)]*)\)", text)]
    assert links == ["1", "1"]


@pytest.mark.usefixtures("made_up_rules")
@pytest.mark.parametrize(
    ("count", "words"), [(100, "1 result was left out."), (105, "6 results were left out.")], ids=["one", "several"]
)
def test_sarif_of_too_many_results_keeps_the_worst_and_says_so(
    count: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sarif.MAX_RESULTS == 25_000, "what GitHub takes in of one run"
    monkeypatch.setattr(sarif, "MAX_RESULTS", 100)
    notes = tuple(note() for _ in range(count))
    report = replace(REPORT, files=(FileReport("m.onnx", 1, (*notes, error())),))
    run = json.loads(written("sarif", report))["runs"][0]
    assert len(run["results"]) == 100
    assert run["results"][-1]["ruleId"] == "twice-defined"
    assert [item["message"]["text"] for item in run["invocations"][0]["toolExecutionNotifications"]] == [words]


@pytest.mark.usefixtures("made_up_rules")
def test_sarif_cuts_what_a_name_blows_up() -> None:
    huge = error(message="x" * 1_000_000, subject="y" * 1_000_000)
    report = Report((FileReport("m.onnx", 1, (huge,)),), "1.23", "onnx-ml")
    assert len(written("sarif", report)) < 20_000


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/project/models/m.onnx", "models/m.onnx"),
        ("/project/my models/100%:\u00e9.onnx", "my%20models/100%25%3A%C3%A9.onnx"),
        ("/project/a/../b.onnx", "b.onnx"),
        ("/project/\udcff\n.onnx", "%FF%0A.onnx"),
        ("/elsewhere/m n.onnx", "file:///elsewhere/m%20n.onnx"),
        ("/project-2/m.onnx", "file:///project-2/m.onnx"),
        ("-", "stdin"),
    ],
)
def test_uri_of(path: str, uri: str) -> None:
    assert uri_of(path, PROJECT) == uri


# --- fingerprints


def test_a_fingerprint_survives_the_insertion_of_a_node() -> None:
    moved = error(
        at=place_at("graph.node[8].output[0]"),
        byte_range=(2000, 2028),
        message="in other words",
        related=(),
    )
    assert list(fingerprints([error()])) == list(fingerprints([moved]))


@pytest.mark.parametrize(
    "changes",
    [
        {"rule": "another"},
        {"clause": "GRA-6"},
        {"graph": "another"},
        {"node": "another"},
        {"subject": "another"},
        {"at": place_at("graph.node[7].input[0]")},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_fingerprint_differs_where_the_finding_does(changes: dict[str, Any]) -> None:
    assert list(fingerprints([error()])) != list(fingerprints([error(**changes)]))


def test_fingerprints_of_equals_are_numbered() -> None:
    first, second = fingerprints([error(), error()])
    assert first[:-2] == second[:-2]
    assert (first[-2:], second[-2:]) == (":1", ":2")


def one_of_six() -> Report:
    """Return the report on a file with six faults of one cause."""
    places = [f"graph.node[{index}].input[1]" for index in range(6)]
    members = [
        error(
            at=place_at(place),
            message=f"a message on {place}",
            cause="one",
            related=(),
            subject=f"w{number}",
            node=f"n{number}",
        )
        for number, place in enumerate(places)
    ]
    return Report((FileReport("m.onnx", 1, fold(members)),), "1.23", "onnx-ml")


@pytest.mark.parametrize("form", ["text", "html", "markdown", "junit", "gitlab", "github"])
def test_the_same_fault_elsewhere_has_only_the_names_that_differ(form: str):
    text = written(form, one_of_six())
    text = re.sub("</?code>", "'", text) if form == "html" else text
    text = re.sub(r"\\([^\w\s])", r"\1", text) if form == "markdown" else text
    assert "a message on graph.node[0].input[1]; 5 more nodes have this fault" in text
    assert "the same fault: 'w3' at node 'n3' (Abs)" in text
    assert "a message on graph.node[1]" not in text
    assert "2 more; the JSON report lists all places" in text


def test_json_lists_each_place_of_one_cause():
    (found,) = json.loads(written("json", one_of_six()))["files"][0]["diagnostics"]
    assert [place["place"] for place in found["places"]] == [f"graph.node[{index}].input[1]" for index in range(6)]
    assert found["places"][0] == {key: found[key] for key in ("place", "pointer", "bytes")}
    assert (len(found["related"]), found["count"]) == (3, 6)
    schema = json.loads((TESTS.parent / "docs/report.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(strict(schema))
    assert [*validator.iter_errors(json.loads(written("json", one_of_six())))] == []


def test_statistics_count_the_models_of_each_producer_and_operator() -> None:
    summary = json.loads(written("json"))["summary"]
    producers = summary["producers"]
    assert sum(row["models"] for row in producers) == sum(file.facts is not None for file in REPORT.files)
    of_models = [item for file in REPORT.files if file.facts is not None for item in file.diagnostics]
    assert sum(row["errors"] + row["warnings"] + row["notes"] for row in producers) == len(of_models)
    assert [row["errors"] for row in producers] == sorted((row["errors"] for row in producers), reverse=True)
    operators = {(row["version"], row["operator"]): row for row in summary["operators"]}
    conv = {"domain": "", "version": 17, "operator": "Conv", "nodes": 800, "models": 2}
    assert (operators[17, "Conv"], operators[28, "Conv"]["models"]) == (conv, 1)
    lines = [line.split() for line in written("text", statistics=True).splitlines()]
    assert ["800", "2", "ai.onnx", "17", "Conv"] in lines
    assert ["2", "8", "2", "pytorch", "2.1.0"] in lines
