# SPDX-License-Identifier: Apache-2.0
"""Baselines: a known finding stays known while the model changes around it; new and stale ones are reported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest
from google.protobuf import text_format
from support.baselines.changes import (
    CHANGES,
    TWO_PLACES,
    initializers_to_constants,
    prefixed,
    rename_all,
    rename_nodes,
)
from support.baselines.measure import copy_of, entries_before, new_in, report_on
from support.models.messages import message_of
from support.project.each_case import each_case
from support.project.fixture_files import Fixture, fixtures, lint
from support.project.sampled import one_in

import onnx_lint
from onnx_lint import schema
from onnx_lint.cli.application import run
from onnx_lint.common.record import replace
from onnx_lint.configuration.baselines.entries import Entry, entries_of
from onnx_lint.configuration.baselines.file import read_baseline, to_json
from onnx_lint.configuration.baselines.known_findings import (
    count_outdated_entries,
    file_key,
    suppress_known,
    surviving_entries,
)
from onnx_lint.configuration.errors import ConfigurationError
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Proto
from onnx_lint.report.digests import FaultDigests, PlaceDigests
from onnx_lint.report.file_report import FileReport, InternalError
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.folding import unfold

HEAD = """
ir_version: 10
producer_name: "example"
producer_version: "1"
opset_import { domain: "" version: 21 }
graph {
  name: "graph"
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
"""
RELU = '  node { name: "relu" op_type: "Relu" input: "x" output: "y" }\n'
TWICE = '  node { name: "again" op_type: "Abs" input: "x" output: "y" }\n'
UNNAMED = '  node { op_type: "Abs" input: "x" output: "y" }\n'
HARMLESS = '  node { name: "first" op_type: "Neg" input: "x" output: "h" }\n'


def model(*nodes: str) -> str:
    return f"{HEAD}{''.join(nodes)}}}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a model that has one error, and a baseline that lists it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zoo").mkdir()
    (tmp_path / "zoo" / "m.textproto").write_text(model(RELU, TWICE))
    assert run(["zoo", "-q", "-o", "none.txt", "--write-baseline", "b.json"]) == 0
    return tmp_path


def summary(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The exit code and what the JSON report says in all."""
    code = run([*arguments, "-f", "json"])
    counts = json.loads(capsys.readouterr().out)["summary"]
    return {"code": code, **{name: counts[name] for name in ("errors", "suppressed", "stale", "conforms")}}


def compared(
    folder: Path, capsys: pytest.CaptureFixture[str], known: str, now: str, *options: str
) -> tuple[dict[str, Any], list[Any]]:
    """The summary of a run over a model with the baseline of an earlier one, and the entries of the baseline."""
    path = folder / "zoo" / "m.textproto"
    path.write_text(known)
    run(["zoo", "-q", "-o", "none.txt", *options, "--write-baseline", "c.json"])
    path.write_text(now)
    capsys.readouterr()
    (entries,) = json.loads((folder / "c.json").read_text())["files"].values()
    return summary(capsys, "zoo", *options, "--baseline", "c.json"), entries


KNOWN = {"code": 0, "errors": 0, "suppressed": 1, "stale": 0, "conforms": False}
NEW = {"code": 1, "errors": 1, "suppressed": 1, "stale": 0, "conforms": False}
GONE = {"code": 0, "errors": 0, "suppressed": 0, "stale": 1, "conforms": True}


def test_the_file_is_sorted_versioned_and_has_a_line_for_each_entry(folder: Path) -> None:
    lines = (folder / "b.json").read_text().splitlines()
    entry = json.loads(lines[4])
    digests = {name: len(entry.pop(name)) for name in ("fingerprint", "structure", "parts", "names")}
    assert digests == {"fingerprint": 32, "structure": 61, "parts": 61, "names": 12}
    assert entry == {"rule": "duplicate-definition", "where": "graph / again / y", "count": 1}
    assert [*lines[:4], *lines[5:]] == [
        "{",
        '  "version": 1,',
        '  "files": {',
        '    "zoo/m.textproto": [',
        "    ]",
        "  }",
        "}",
    ]


NEGATIVE = '  initializer { name: "w" data_type: 1 dims: -2 }\n'

BASELINE_FILE = """\
{
  "version": 1,
  "files": {
    "m.textproto": [
      {"rule": "duplicate-definition", "where": "graph / again / y", "count": 1, \
"fingerprint": "c0ffc477159342aff5c06bf0d5f89a57", \
"structure": "+714dec8bbd24eb7cf5ed8f126b7f57f241c23f95458fe1c818568a50dcfa", \
"parts": "+0a8e2d3768dfeb7cf5ed8f126b7f57f241c23f95458fe1c818568a50dcfa", "names": "baeb039ea90d"},
      {"rule": "invalid-tensor-shape", "where": "graph / w", "count": 1, \
"fingerprint": "7f19578be202aed7948fb45aebf2f6c6", \
"structure": "+50e721e49c019a260d0046799a260d0046799a260d0046799a260d004679", \
"parts": "+7cc54b0013a09a260d0046799a260d0046799a260d0046799a260d004679", "elements": 1, \
"content": "initializer:+14731bb0e97a", "names": "e3b0c44298fc"}
    ]
  }
}
"""


def test_the_digests_of_stored_baselines_do_not_change(folder: Path) -> None:
    (folder / "m.textproto").write_text(model(RELU, TWICE, NEGATIVE))
    run(["m.textproto", "-q", "-o", "none.txt", "--write-baseline", "c.json"])
    assert (folder / "c.json").read_text() == BASELINE_FILE


def test_what_is_known_is_counted_and_fails_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert summary(capsys, "zoo", "--baseline", "b.json") == KNOWN
    assert summary(capsys, "zoo") == {"code": 1, "errors": 1, "suppressed": 0, "stale": 0, "conforms": False}


def test_another_first_place_of_a_collective_finding_reopens_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--select", "unsupported-by-target", "--target", "ai.onnx=13"]
    now = model('  node { name: "first" op_type: "Relu" input: "x" output: "h" }\n', RELU)
    # The import, and Relu, which operator set 14 changed. One rule alone does not show whether the models conform.
    report, _ = compared(folder, capsys, model(RELU), now, *options)
    assert report == {**KNOWN, "suppressed": 2, "conforms": None}


ELU = '  node { name: "elu" op_type: "Elu" output: "e" attribute { name: "alpha" type: FLOAT } }\n'
ODD = '  node { name: "odd" op_type: "Odd" domain: "com.example" input: "x" output: "o" }\n'


@pytest.mark.parametrize(
    ("rule", "known", "before"),
    [
        ("non-c90-name", RELU.replace("relu", "re/lu"), HARMLESS.replace("first", "fi/rst")),
        ("undefined-name", RELU.replace('"x"', '"z"'), HARMLESS.replace('"x"', '"z"')),
        ("missing-opset-import", ODD, ODD.replace("odd", "other").replace('"o"', '"p"')),
        ("missing-documentation", ELU, ELU.replace("elu", "first")),
        (
            "unknown-value-info-name",
            f'{RELU}  value_info {{ name: "u" }}\n',
            '  value_info { name: "t" }\n',
        ),
        (
            "redundant-value-info",
            f'{RELU}  value_info {{ name: "y" }}\n',
            '  value_info { name: "x" }\n',
        ),
    ],
)
def test_one_more_of_what_is_reported_together_reopens_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], rule: str, known: str, before: str
) -> None:
    report, entries = compared(
        folder, capsys, model(known), model(before, known), "--select", rule, "--fail-on", "note"
    )
    listed = sum(entry["count"] for entry in entries)
    assert report == {"code": 0, "errors": 0, "suppressed": listed, "stale": 0, "conforms": report["conforms"]}


def test_the_same_undefined_name_at_another_node_is_new(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known, now = model(RELU.replace('"x"', '"z"'), HARMLESS), model(RELU, HARMLESS.replace('"x"', '"z"'))
    report, _ = compared(folder, capsys, known, now)
    assert report["errors"] == 1


@pytest.mark.parametrize("numbers", [(1, 2, 3), (2, 3, 4), (3, 4, 5), (3, 1, 2)])
def test_names_that_go_over_to_other_nodes_bring_nothing_back(
    folder: Path, capsys: pytest.CaptureFixture[str], numbers: tuple[int, ...]
) -> None:
    known, now = (
        model(*(RELU.replace('"y"', f'"{n}" output: "more{n}"').replace("relu", f"n{n}") for n in each))
        for each in ((1, 2, 3), numbers)
    )
    report, entries = compared(folder, capsys, known, now, "--select", "operator-arity")
    assert (report["errors"], len(entries)) == (0, 3)


def test_a_new_finding_is_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "zoo" / "m.textproto").write_text(model(RELU, TWICE, TWICE.replace("again", "and_again")))
    assert summary(capsys, "zoo", "--baseline", "b.json") == NEW


def test_one_more_of_the_same_names_is_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "zoo" / "m.textproto"
    path.write_text(model(RELU, UNNAMED, UNNAMED))
    assert run(["zoo", "-q", "-o", "none.txt", "--write-baseline", "b.json"]) == 0
    capsys.readouterr()
    path.write_text(model(HARMLESS, RELU, UNNAMED, UNNAMED))
    assert summary(capsys, "zoo", "--baseline", "b.json") == {**KNOWN, "suppressed": 2}
    path.write_text(model(RELU, UNNAMED, UNNAMED, UNNAMED))
    assert summary(capsys, "zoo", "--baseline", "b.json") == {**NEW, "suppressed": 2}
    path.write_text(model(RELU, UNNAMED))
    assert summary(capsys, "zoo", "--baseline", "b.json") == {**KNOWN, "stale": 1}


def test_what_is_gone_is_counted_and_pruned_when_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "zoo" / "m.textproto").write_text(model(RELU))
    before = (folder / "b.json").read_text()
    assert summary(capsys, "zoo", "--baseline", "b.json") == GONE
    assert (folder / "b.json").read_text() == before
    assert summary(capsys, "zoo", "--baseline", "b.json", "--prune-baseline") == GONE
    assert (folder / "b.json").read_text() == '{\n  "version": 1,\n  "files": {}\n}\n'
    assert summary(capsys, "zoo", "--baseline", "b.json") == {**GONE, "stale": 0}


def test_a_file_that_is_gone_is_stale_and_one_that_was_not_asked_about_is_not(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "clean.textproto").write_text(model(RELU))
    assert summary(capsys, "clean.textproto", "--baseline", "b.json") == {**GONE, "stale": 0}
    (folder / "zoo" / "m.textproto").unlink()
    assert summary(capsys, "clean.textproto", "--baseline", "b.json") == GONE


def test_a_rule_that_did_not_run_makes_nothing_stale(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = {**GONE, "stale": 0, "conforms": None}
    assert summary(capsys, "zoo", "--baseline", "b.json", "--select", "name", "--prune-baseline") == expected
    assert summary(capsys, "zoo", "--baseline", "b.json") == KNOWN


def test_a_file_that_cannot_be_read_makes_nothing_stale(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "zoo" / "m.textproto").unlink()
    (folder / "zoo" / "m.textproto").mkdir()
    assert summary(capsys, "zoo", "--baseline", "b.json")["stale"] == 0


def test_writing_again_keeps_what_the_run_was_not_about(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "b.json").read_text()
    (folder / "other.textproto").write_text(model(RELU, TWICE))
    run(["zoo", "--select", "name", "--write-baseline", "b.json"])
    assert (folder / "b.json").read_text() == before
    run(["other.textproto", "--write-baseline", "b.json"])
    assert sorted(json.loads((folder / "b.json").read_text())["files"]) == ["other.textproto", "zoo/m.textproto"]
    (folder / "zoo" / "m.textproto").write_text(model(RELU))
    run(["zoo", "--write-baseline", "b.json"])
    assert sorted(json.loads((folder / "b.json").read_text())["files"]) == ["other.textproto"]
    capsys.readouterr()


def test_paths_are_relative_to_the_baseline(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder / "zoo")
    assert summary(capsys, "m.textproto", "--baseline", "../b.json") == KNOWN
    assert summary(capsys, str(folder / "zoo"), "--baseline", str(folder / "b.json")) == KNOWN
    (folder / "onnx-lint.toml").write_text('baseline = "b.json"\n')
    assert summary(capsys, "m.textproto") == KNOWN


def test_each_file_goes_by_the_baseline_of_its_configuration(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "m.textproto").write_text(model(RELU, TWICE))
    (folder / "zoo" / "onnx-lint.toml").write_text('baseline = "../b.json"\n')
    assert summary(capsys, "m.textproto", "zoo") == NEW


def test_reports_show_what_is_suppressed_when_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["zoo/m.textproto", "--baseline", "b.json"]
    tail = "IR version 10; ai.onnx 21; 2 nodes in 1 graph; producer example 1"
    assert run(arguments) == 0
    said = "no new findings but does not conform to ONNX 1.23; 1 suppressed by the baseline"
    assert capsys.readouterr().out == f"zoo/m.textproto: {said}; {tail}\n"
    assert run([*arguments, "-f", "concise"]) == 0
    assert capsys.readouterr().out == ""
    assert run([*arguments, "--show-suppressed"]) == 0
    assert capsys.readouterr().out.startswith(
        "error[duplicate-definition] (suppressed): output 0 of node 'again' (Abs)"
    )
    assert run([*arguments, "--show-suppressed", "-f", "concise"]) == 0
    assert capsys.readouterr().out.endswith("defines already (suppressed)\n")
    assert run([*arguments, "--show-suppressed", "-f", "json"]) == 0
    (diagnostic,) = json.loads(capsys.readouterr().out)["files"][0]["diagnostics"]
    assert (diagnostic["rule"], diagnostic["suppressed"]) == ("duplicate-definition", True)


def test_sarif_has_suppressed_results_when_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["zoo", "--baseline", "b.json", "-f", "sarif"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"] == []
    assert run(["zoo", "--baseline", "b.json", "-f", "sarif", "--show-suppressed"]) == 0
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert (result["ruleId"], result["suppressions"]) == (
        "duplicate-definition",
        [{"kind": "external", "status": "accepted", "justification": "The baseline lists the finding."}],
    )


def test_text_tells_what_is_stale(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "zoo" / "m.textproto").write_text(model(RELU))
    assert run(["zoo", "--baseline", "b.json"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "1 model conforms to ONNX 1.23; 1 entry of the baseline no longer found"


def test_entries_are_counted_as_the_file_lists_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One entry may know several findings, and one finding may have several entries."""
    report, entries = compared(folder, capsys, model(RELU, UNNAMED, UNNAMED, TWICE), model(RELU))
    assert sum(entry["count"] for entry in entries) > len(entries) == report["stale"]


def test_a_moved_file_is_recognized(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "zoo").rename(folder / "renamed")
    assert summary(capsys, "renamed", "--baseline", "b.json") == KNOWN
    (folder / "renamed" / "m.textproto").write_text(model(RELU, TWICE, TWICE.replace("again", "and_again")))
    moved = {**NEW, "errors": 2, "suppressed": 0, "stale": 1}
    assert summary(capsys, "renamed", "--baseline", "b.json") == moved


RENAMED = model(RELU, TWICE).replace('"relu"', '"n1"').replace('"again"', '"n2"').replace('"y"', '"v1"')


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        (model(RELU, TWICE).replace('name: "graph"', 'name: "main"'), 0),
        (RENAMED, 0),
        (RENAMED.replace("Abs", "Neg"), 1),
        (RENAMED.replace("Relu", "Neg"), 0),
        (model(RELU, HARMLESS).replace('"h"', '"y"'), 1),
    ],
    ids=["the main graph", "all names", "another operator", "another first definition", "another node"],
)
def test_names_may_change_where_the_structure_stays(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, errors: int
) -> None:
    (folder / "zoo" / "m.textproto").write_text(text)
    assert summary(capsys, "zoo", "--baseline", "b.json")["errors"] == errors


def test_entries_with_the_name_of_the_main_graph_are_accepted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = json.loads((folder / "b.json").read_text())
    entry = old["files"]["zoo/m.textproto"][0]
    entry["fingerprint"] = "71d18f865ad04006fde58041ef2af841"
    del entry["structure"]
    (folder / "b.json").write_text(json.dumps(old))
    assert summary(capsys, "zoo", "--baseline", "b.json") == KNOWN


@pytest.mark.parametrize(("names", "errors"), [("aabc", 0), ("adbb", 1), ("abab", 1), ("xxyz", 0), ("aaab", 1)])
def test_another_fault_of_a_counted_finding_is_new(
    folder: Path, capsys: pytest.CaptureFixture[str], names: str, errors: int
) -> None:
    """Four nodes of these names, where two of a kind are one fault; renamed nodes in the same order are the same."""

    node = 'node {{ name: "{}" op_type: "Abs" input: "x" output: "{}" }}'
    known, now = (
        model(RELU, *(node.format(name, number) for number, name in enumerate(each))) for each in ("aabc", names)
    )
    report, _ = compared(folder, capsys, known, now)
    assert report["errors"] == errors


def _with_sizes(*sizes: int | str) -> str:
    """A model whose second input has these dimensions, as numbers or as variables."""
    dims = "".join(
        f"dim {{ dim_{'param' if isinstance(size, str) else 'value'}: {json.dumps(size)} }}" for size in sizes
    )
    value = f'input {{ name: "w" type {{ tensor_type {{ elem_type: 1 shape {{ {dims} }} }} }} }}'
    return model(RELU, f"  {value}\n")


OLD = 2 * 12
"""The digits of a text of `structure` or `parts` as version 0.2.0 wrote it."""


def _as_of_an_older_version(folder: Path) -> None:
    """Leave out of c.json what an older version did not write."""
    document = json.loads((folder / "c.json").read_text())
    for entry in document["files"]["zoo/m.textproto"]:
        del entry["parts"], entry["names"]
        entry["structure"] = entry["structure"][1 : 1 + OLD]
    (folder / "c.json").write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("rule", "known", "now", "errors"),
    [
        ("negative-dimension", (-1, 3, 4), (-1, 3, 4), 0),
        ("negative-dimension", (-1, 3, 4), (3, 4, -1), 1),
        ("negative-dimension", (-1, -1, 4), (4, 4, -1), 1),
        ("negative-dimension", (-1, -1, 4), (4, -1, 4), 0),
        ("unsupported-dimension-variable", ("*", "n"), ("*", "n"), 0),
        ("unsupported-dimension-variable", ("*", "n"), ("n", "*"), 1),
        ("unsupported-dimension-variable", ("*", "*", "n"), ("n", "n", "*"), 1),
        ("unsupported-dimension-variable", ("*", "*", "n"), ("n", "*", "n"), 0),
    ],
)
def test_another_place_inside_of_a_value_is_new(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    rule: str,
    known: tuple[int | str, ...],
    now: tuple[int | str, ...],
    errors: int,
) -> None:
    report, _ = compared(folder, capsys, _with_sizes(*known), _with_sizes(*now), "--select", rule)
    assert report["errors"] == errors


def _with_attributes(*names: str) -> str:
    """A node with these attributes, of the type INT."""
    attributes = "".join(f'attribute {{ name: "{name}" type: INT i: 1 }} ' for name in names)
    return model(f'  node {{ name: "r" op_type: "Relu" input: "x" output: "y" {attributes}}}\n')


def _with_strides(*names: str) -> str:
    """A Conv with lists of these names whose second number is negative."""
    lists = "".join(f'attribute {{ name: "{name}" type: INTS ints: [1, -1] }} ' for name in names)
    weights = '  input { name: "w" type { tensor_type { elem_type: 1 } } }\n'
    return model(weights, f'  node {{ name: "c" op_type: "Conv" input: ["x", "w"] output: "y" {lists}}}\n')


def _with_external_keys(*keys: str) -> str:
    entries = "".join(f'external_data {{ key: "{key}" value: "1" }} ' for key in ("location", *keys))
    tensor = f'  initializer {{ name: "w" data_type: 1 dims: 2 data_location: EXTERNAL {entries}}}\n'
    return model(tensor, '  node { op_type: "Add" input: ["x", "w"] output: "y" }\n')


def _with_properties(*keys: str) -> str:
    """A node with this metadata."""
    entries = "".join(f'metadata_props {{ key: "{key}" value: "1" }} ' for key in keys)
    return model(f'  node {{ name: "r" op_type: "Relu" input: "x" output: "y" {entries}}}\n')


def _with_domain(domain: str) -> str:
    return model(f'  node {{ name: "r" op_type: "Relu" domain: "{domain}" input: "x" output: "y" }}\n')


@pytest.mark.parametrize(
    ("rule", "make", "known", "now", "has_inner"),
    [
        ("unknown-operator-attribute", _with_attributes, ["foo"], ["bar"], False),
        ("duplicate-attribute", _with_attributes, ["foo", "bar", "foo"], ["foo", "bar", "bar"], False),
        ("impossible-operator-extent", _with_strides, ["strides"], ["dilations"], True),
        ("unknown-external-key", _with_external_keys, ["foo"], ["bar"], False),
        ("duplicate-metadata-key", _with_properties, ["a.b", "a.c", "a.b"], ["a.b", "a.c", "a.c"], False),
        ("missing-opset-import", _with_domain, ["com.foo"], ["com.bar"], False),
    ],
)
def test_another_key_is_new_also_if_all_names_have_changed(
    rule: str, make: Callable[..., str], known: list[str], now: list[str], has_inner: bool
) -> None:
    settings = Settings(select=(rule,), has_baseline=True)
    before, renamed, exchanged = (
        text_format.Parse(text, onnx.ModelProto()) for text in (make(*known), make(*known), make(*now))
    )
    for changed in (renamed, exchanged):
        rename_all(changed, prefixed)
    first, second, third = (report_on(each, settings) for each in (before, renamed, exchanged))
    assert len(first.diagnostics) == 1
    assert new_in(first, second) == []
    assert [each.rule for each in new_in(first, third)] == [rule]
    without_key = {
        mark: _without_keys(entry, has_inner)
        for mark, entry in entries_before(without_elements(first.diagnostics)).items()
    }
    for later in (second, third):
        assert suppress_known(later, without_key).diagnostics == ()
    assert count_outdated_entries(suppress_known(first, without_key), without_key) == 1


def _with_dims(*dims: int) -> str:
    return model(RELU, f'  initializer {{ name: "w" data_type: 1 dims: {list(dims)} }}\n')


def _with_unnamed(index: int) -> str:
    """A node with two attributes, one of them without a name."""
    names = "".join(f'attribute {{ name: "{"" if at == index else "a"}" type: INT i: 1 }} ' for at in range(2))
    return model(f'  node {{ name: "c" op_type: "C" domain: "d" input: "x" output: "y" {names}}}\n')


def _with_branch(index: int) -> str:
    """An If, one of whose branches has no name."""
    branches = "".join(
        f'attribute {{ name: "{name}_branch" type: GRAPH g {{ name: "{"" if at == index else name}" }} }} '
        for at, name in enumerate(("else", "then"))
    )
    return model(f'  node {{ name: "if" op_type: "If" input: "x" output: "y" {branches}}}\n')


@pytest.mark.parametrize(
    ("rule", "known", "now"),
    [
        ("invalid-tensor-shape", _with_dims(2**62, 2**62), _with_dims(-1, 2)),
        ("invalid-tensor-shape", _with_dims(-1, 2), _with_dims(2**62, 2**62)),
        ("unnamed-attribute", _with_unnamed(0), _with_unnamed(1)),
        ("missing-graph-name", _with_branch(0), _with_branch(1)),
    ],
    ids=["whole, part", "part, whole", "attribute", "branch"],
)
def test_a_fault_of_a_part_is_not_that_of_another_part_or_of_the_whole(rule: str, known: str, now: str) -> None:
    settings = Settings(select=(rule,), has_baseline=True)
    first, second = (report_on(text_format.Parse(text, onnx.ModelProto()), settings) for text in (known, now))
    assert [each.rule for each in first.diagnostics] == [rule]
    assert new_in(first, first) == []
    assert [each.rule for each in new_in(first, second)] == [rule]


def without_elements(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics as older versions identified them."""
    return [replace(each, identity=replace(each.identity, elements=(), element_count=0)) for each in diagnostics]


def _without_keys(entry: Entry, has_inner: bool) -> Entry:
    """Return the entry as it was written before keys were in it. `has_inner`: whether it had a place inside."""
    faults = [FaultDigests(fault.place, fault.inner if has_inner else "") for fault in entry.faults]
    return replace(entry, faults=tuple(faults))


def test_a_baseline_of_an_older_version_knows_what_it_knew_and_says_how_to_renew_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    select = ["--select", "unsupported-dimension-variable"]
    compared(folder, capsys, _with_sizes("*", "n"), _with_sizes("n", "*"), *select)
    _as_of_an_older_version(folder)
    assert run(["zoo", *select, "--baseline", "c.json"]) == 0
    said = (
        "Note: c.json: 1 entry was written by an older version and may match similar new findings as well; "
        "--write-baseline writes it again, and adds the new findings\n"
    )
    assert capsys.readouterr().err == said
    assert run(["zoo", *select, "--write-baseline", "c.json"]) == 0
    capsys.readouterr()
    assert run(["zoo", *select, "--baseline", "c.json"]) == 0
    assert capsys.readouterr().err == ""
    (folder / "zoo" / "m.textproto").write_text(_with_sizes("*", "n"))
    assert run(["zoo", *select, "--baseline", "c.json"]) == 1


@pytest.mark.parametrize(("now", "errors"), [("z0", 0), ("z1", 1)])
def test_another_entry_of_a_summary_is_new_although_it_takes_the_same_place(
    folder: Path, capsys: pytest.CaptureFixture[str], now: str, errors: int
) -> None:
    entry = '  value_info {{ name: "{}" }}\n'
    options = ["--select", "unknown-value-info-name", "--severity", "unknown-value-info-name=error"]
    report, _ = compared(folder, capsys, model(RELU, entry.format("z0")), model(RELU, entry.format(now)), *options)
    assert report["errors"] == errors


@pytest.mark.slow
def test_no_limit_lets_the_next_finding_in_as_a_new_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    many = [TWICE.replace("again", f"again_{index}") for index in range(1100)]
    (folder / "zoo" / "m.textproto").write_text(model(RELU, *many))
    assert run(["zoo", "-q", "--write-baseline", "b.json"]) == 0
    capsys.readouterr()
    (folder / "zoo" / "m.textproto").write_text(model(RELU, *many[50:]))
    counts = {"code": 0, "errors": 0, "suppressed": 1050, "stale": 50, "conforms": False}
    assert summary(capsys, "zoo", "--baseline", "b.json") == counts


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--baseline", "none.json"], "none.json: No such file or directory; --write-baseline makes it"),
        (["--baseline", "zoo"], "zoo: is a directory, not a regular file"),
        (["--baseline", "zoo/m.textproto"], "zoo/m.textproto: is not a baseline: it is not JSON"),
        (["--write-baseline", "zoo/m.textproto"], "zoo/m.textproto: is not a baseline: it is not JSON"),
        (["--baseline", "newer.json"], "newer.json: has version 2; this onnx-lint supports version 1"),
        (["--prune-baseline"], "--prune-baseline requires --baseline"),
        (["--baseline", "b.json", "--write-baseline", "b.json"], "--write-baseline and --baseline cannot be combined"),
        (["--write-baseline", "no/such/b.json"], "no/such/b.json: No such file or directory"),
    ],
    ids=" ".join,
)
def test_a_wrong_option_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    (folder / "newer.json").write_text('{"version": 2, "entries": []}')
    before = (folder / "zoo" / "m.textproto").read_text()
    assert run(["zoo", *arguments]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.splitlines()[-1]) == ("", f"Error: {said}")
    assert (folder / "zoo" / "m.textproto").read_text() == before


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "[" * 100_000,
        '{"version": 1}',
        '{"version": 1, "files": []}',
        '{"version": 1, "files": {"a": {}}, "more": 1}'.replace("{}", "3"),
        '{"version": 1, "files": {"a": [{"rule": "cycle"}]}}',
        '{"version": 1, "files": {"a": [{"rule": "cycle", "fingerprint": "f", "count": 0}]}}',
        '{"version": 1, "files": {"a": [{"rule": "cycle", "fingerprint": "f", "count": true}]}}',
        '{"version": 1, "files": {"a": [{"rule": 3, "fingerprint": "f", "count": 1}]}}',
    ],
    ids=lambda text: text[:60],
)
def test_what_is_no_baseline_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(ConfigurationError):
        read_baseline(str(path))


def test_two_lines_for_one_entry_are_what_a_merge_leaves(tmp_path: Path) -> None:
    line = '{"rule": "cycle", "where": "", "count": %d, "fingerprint": "f"}'
    path = tmp_path / "b.json"
    path.write_text(f'{{"version": 1, "files": {{"a": [{line % 2}, {line % 3}]}}}}')
    assert {name: entry.count for name, entry in read_baseline(str(path))["a"].items()} == {"f": 3}


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    hostile = 'a"\n\udcff\x00.onnx'
    found = lint(load(BytesSource(model(RELU, TWICE).replace("graph", 'gr\\"\\n').encode())), Settings())
    baseline = {hostile: entries_of(found), "clean": {}}
    path = tmp_path / "b.json"
    path.write_text(to_json(baseline), encoding="utf-8")
    assert read_baseline(str(path)) == {hostile: entries_of(found)}


def test_the_key_of_a_file() -> None:
    assert file_key("-", "b.json") == "<stdin>"
    assert file_key("zoo/m.onnx", "b.json") == "zoo/m.onnx"
    assert file_key("./zoo/../m.onnx", "sub/b.json") == "../m.onnx"


# --- every fixture: an inserted node reopens nothing

INSERTED = "inserted_by_the_test"


def _with_a_node_before(proto: Proto) -> bytes | None:
    """The model with a node put before the others in every graph outside of functions; None where there is none."""
    graphs = list(_graphs(proto.graph)) if proto.HasField("graph") and proto.graph.node else []
    for index, graph in enumerate(graphs):
        nodes = [schema.message("NodeProto").FromString(node.SerializeToString()) for node in graph.node]
        del graph.node[:]
        name = f"{INSERTED}_{index}"
        graph.node.add(name=name, op_type="Identity", input=[name], output=[f"{name}_out"])
        graph.node.extend(nodes)
    return bytes(proto.SerializeToString()) if graphs else None


def _graphs(graph: Any) -> Iterator[Any]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


def _is_about_the_insertion(item: Diagnostic) -> bool:
    """The node is not part of a conforming model: its input is undefined, its domain perhaps not imported."""
    return INSERTED in f"{item.message} {item.around.scope} {item.subject}" or item.rule == "missing-opset-import"


AMONG_OTHERS = {"unnamed-value/invalid/an_initializer_that_a_node_looks_for.textproto"}
"""The name that a node looks for is not reported as undefined beside one unnamed initializer, if it is the only one.
The input of the node that is added is another one."""

TEXTS = [fixture for fixture in fixtures() if fixture.is_text and not fixture.is_valid and fixture.expected]


def _reopened(fixture: Fixture) -> list[Diagnostic]:
    proto = message_of(fixture.model())
    data, extended = bytes(proto.SerializeToString()), _with_a_node_before(proto)
    if extended is None:
        return []
    settings = fixture.settings
    before, after = (lint(load(BytesSource(each), "m.onnx", fixture.standard), settings) for each in (data, extended))
    report = suppress_known(FileReport("m.onnx", 1, after), entries_of(before))
    return [item for item in report.diagnostics if not _is_about_the_insertion(item)]


@one_in(48, slow=16, heavy=1)
def test_a_node_before_all_others_reopens_no_finding_of_a_fixture(step: int) -> None:
    reopened = {fixture.id: _reopened(fixture) for fixture in TEXTS[::step]}
    assert {name: found for name, found in reopened.items() if found and name not in AMONG_OTHERS} == {}


CRASHED = (InternalError("duplicate-definition", "ValueError", ""),)


@pytest.mark.parametrize(
    ("file", "lives"),
    [
        (FileReport("m.onnx", 1, internal_errors=CRASHED), True),
        (FileReport("m.onnx", 1, not_judged="the file is empty"), True),
        (FileReport("set.onnxopset", 1, kind="OperatorSetProto"), False),
    ],
    ids=["a crashed rule", "not judged", "a document without the finding"],
)
def test_an_entry_lives_on_if_nothing_was_said_about_its_finding(file: FileReport, lives: bool) -> None:
    entries = entries_of(lint(load(BytesSource(model(RELU, TWICE).encode())), Settings()))
    assert surviving_entries(file, entries, ["duplicate-definition"]) == (entries if lives else {})


def _products(*sizes: int) -> str:
    """A model with a product of matrices for each size, whose inner dimensions only fit where that is 2."""
    shapes = {size: f"tensor_type {{ elem_type: 1 shape {{ dim {{ dim_value: {size} }} }} }}" for size in sizes}
    inputs = "".join(f'input {{ name: "w{size}" type {{ {shape} }} }}\n' for size, shape in shapes.items())
    nodes = "".join(
        f'node {{ name: "n{size}" op_type: "MatMul" input: "x" input: "w{size}" output: "y{size}" }}\n'
        for size in sizes
    )
    return f"{HEAD}{inputs}{nodes}{RELU}}}\n"


def test_of_findings_of_one_cause_those_that_are_new_are_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--select", "incompatible-operand-shapes"]
    report, _ = compared(folder, capsys, _products(3, 4, 5), _products(3, 4, 5), *options)
    assert report == {**KNOWN, "suppressed": 3}
    (folder / "zoo" / "m.textproto").write_text(_products(6, 3, 5))
    run(["zoo", *options, "--baseline", "c.json", "-f", "json"])
    report = json.loads(capsys.readouterr().out)
    assert [(each["node"], each.get("count", 1)) for each in report["files"][0]["diagnostics"]] == [("n6", 1)]
    assert (report["summary"]["suppressed"], report["summary"]["stale"]) == (2, 1)


def test_an_entry_that_no_parser_reads_has_an_identity() -> None:
    """A list entry with the wire type of a number: the graph has no initializer of that index."""
    (file,) = onnx_lint.lint(b"\x3a\x03\x28\xd6\x24").files
    assert "wrong-wire-type" in {each.rule for each in file.diagnostics}
    assert file.internal_errors == ()


INSIDE = {
    "dimension that does not broadcast": ("(float[2,3,4] x, float[{}] w) => (y) {{ y = Add(x, w) }}", "7,3,4", "2,3,5"),
    "dimension of a batch": ("(float[2,3,4] x, float[{}] w) => (y) {{ y = MatMul(x, w) }}", "5,4,6", "2,7,6"),
    "dimension beside the axis": (
        "(float[2,3,4] x, float[{}] w) => (y) {{ y = Concat <axis=0> (x, w) }}",
        "2,5,4",
        "2,3,9",
    ),
    "dimension to remove": ("(float[3,1,4] x) => (y) <int64[1] a = {{{}}}> {{ y = Squeeze(x, a) }}", "0", "2"),
    "size": ("(float[3,4] x) => (y) <int64[2] s = {{{}}}> {{ y = Expand(x, s) }}", "5,4", "3,7"),
    "size below 0": ("(float[3,4] x) => (y) <int64[3] s = {{{}}}> {{ y = Reshape(x, s) }}", "-2,3,4", "3,4,-2"),
    "length of a part": ("(float[4,4] x) => (y, z) <int64[2] s = {{{}}}> {{ y, z = Split(x, s) }}", "-1,5", "5,-1"),
    "padding": ("(float[3,4] x) => (y) <int64[4] p = {{{}}}> {{ y = Pad(x, p) }}", "-9,0,0,0", "0,0,0,-9"),
    "index": ("(float[3,4] x) => (y) <int64[3] i = {{{}}}> {{ y = Gather(x, i) }}", "9,0,1", "0,1,9"),
    "many indices": (
        "(float[3,4] x) => (y) <int64[72] i = {{{}}}> {{ y = Gather(x, i) }}",
        "9," * 70 + "0,1",
        "0,1" + ",9" * 70,
    ),
    "axis": (
        "(float[3,4] x) => (y) <int64[2] s = {{0,0}}, int64[2] e = {{1,1}}, int64[2] a = {{{}}}>"
        " {{ y = Slice(x, s, e, a) }}",
        "7,0",
        "0,7",
    ),
    "step": (
        "(float[3,4] x) => (y) <int64[2] s = {{0,0}}, int64[2] e = {{1,1}}, int64[2] a = {{0,1}}, int64[2] t = {{{}}}>"
        " {{ y = Slice(x, s, e, a, t) }}",
        "0,1",
        "1,0",
    ),
    "stride": ("(float[1,1,8,8] x, float[1,1,3,3] w) => (y) {{ y = Conv <strides=[{}]> (x, w) }}", "0,1", "1,0"),
    "kernel": ("(float[1,1,8,8] x, float[1,1,3,3] w) => (y) {{ y = Conv <kernel_shape=[{}]> (x, w) }}", "5,3", "3,5"),
    "pad": ("(float[1,1,8,8] x, float[1,1,3,3] w) => (y) {{ y = Conv <pads=[{}]> (x, w) }}", "-1,0,0,0", "0,0,0,-1"),
    "repeated axis": ("(float[1,2,3] x) => (y) {{ y = Transpose <perm=[{}]> (x) }}", "0,0,2", "0,2,2"),
    "types of two inputs": (
        "({} y) => (z) {{ z = Add(x, y) }}",
        "float[3] x, int64[3]",
        "int64[3] x, float[3]",
    ),
    "sizes of two declarations": (
        "(float[2,3] x) => (float[2,3] y) <float[{}] y> {{ y = Neg(x) }}",
        "2,4",
        "5,3",
    ),
    "list for an element": (
        "(float[1,1,8,8] x, float[1,1,3,3] w) => (y) {{ y = Conv <strides=[{}]> (x, w) }}",
        "0,1",
        "1,1,1",
    ),
}
"""Graphs with a number to put in, and two such numbers with which the same place has a fault, but not inside of it."""


@each_case("name", INSIDE)
def test_an_exchanged_dimension_or_element_is_new(name: str):
    graph, *values = INSIDE[name]
    head = '<ir_version: 10, opset_import: ["": 21], producer_name: "example", producer_version: "1"> g '
    models = [onnx.parser.parse_model(head + graph.format(value)) for value in values]
    first, second = map(report_on, models)
    renamed = copy_of(models[0])
    rename_all(renamed, prefixed)
    assert first.diagnostics
    assert new_in(first, second)
    assert not new_in(first, report_on(models[0]))
    assert not new_in(first, report_on(renamed))


MADE = '<ir_version: 10, opset_import: ["": 21, "ai.onnx.ml": 3], producer_name: "example", producer_version: "1"> g '

ELEMENTS = {
    "indices": ("(float[4] x) => (float[3] y) <int64[3] i = {{{0}}}> {{ y = Gather (x, i) }}", "9, 0, 0", "9, 0, 7"),
    "indices by axes": (
        "(float[4, 4] x) => (float[2] y) <int64[2, 2] i = {{{0}}}> {{ y = GatherND (x, i) }}",
        "9, 0, 0, 0",
        "9, 7, 0, 0",
    ),
    "divisors": ("(int64[3] x) => (int64[3] y) <int64[3] d = {{{0}}}> {{ y = Div (x, d) }}", "0, 1, 1", "0, 1, 0"),
    "labels": (
        "(float[3, 2] x) => (float[3] y) <int64[3] l = {{{0}}}> "
        '{{ y = SoftmaxCrossEntropyLoss <reduction = "none"> (x, l) }}',
        "9, 0, 0",
        "9, 0, 9",
    ),
    "dimensions of operands": (
        "(float[2, 3, 4] x, float[{0}] z) => (float[N, M, K] y) {{ y = Add (x, z) }}",
        "5, 3, 7",
        "2, 5, 7",
    ),
    "declared dimensions": ("(float[2, 3, 4] x) => (float[{0}] y) {{ y = Relu (x) }}", "9, 9, 4", "9, 3, 9"),
    "scales": (
        "(float[2, 3] x) => (uint8[2, 3] y) <float[3] s = {{{0}}}, uint8[3] z = {{0, 0, 0}}> "
        "{{ y = QuantizeLinear <axis = 1> (x, s, z) }}",
        "-1, 1, 1",
        "-1, 1, -1",
    ),
    "weights": ("(float[3] x) => (float[3] y) <float[3] w = {{{0}}}> {{ y = Add (x, w) }}", "nan, 1, 1", "nan, 1, nan"),
    "attribute": ("(float[2, 3] x) => (float[3, 2] y) {{ y = Transpose <perm = [{0}]> (x) }}", "9, 0", "9, 8"),
    "targets of a tree ensemble": (
        "(float[2, 3] x) => (float[2, 1] y) {{ y = ai.onnx.ml.TreeEnsembleRegressor <n_targets = 1, "
        "nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2], nodes_featureids = [0, 0, 0], nodes_values = [0.5, 0., "
        '0.], nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids = [1, 0, 0], '
        "nodes_falsenodeids = [2, 0, 0], target_treeids = [0, 0, 0], target_nodeids = [1, 2, 2], "
        "target_ids = [{0}], target_weights = [1., 2., 3.]> (x) }}",
        "7, 7, 0",
        "7, 0, 7",
    ),
}
"""Graphs with several wrong elements or dimensions in one value: those that are known, and others."""


@pytest.mark.parametrize("name", ELEMENTS)
def test_another_element_behind_a_known_one_is_new(name: str):
    """An element that is mended is not, and neither is what a renamed model has."""
    graph, known, now = ELEMENTS[name]
    head = MADE
    before, after = (report_on(onnx.parser.parse_model(head + graph.format(each))) for each in (known, now))
    assert len(before.diagnostics) == len(after.diagnostics)
    assert len(new_in(before, after)) == 1
    assert not new_in(after, after)
    assert (
        count_outdated_entries(suppress_known(after, entries_of(after.diagnostics)), entries_of(after.diagnostics)) == 0
    )
    renamed = onnx.parser.parse_model(head + graph.format(now))
    rename_all(renamed, prefixed)
    assert not new_in(after, report_on(renamed))


@pytest.mark.parametrize(
    ("known", "now", "message", "place"),
    [
        ("9, 0, 0", "9, 0, 7", "element 2 of input 1 'i' of node 'n' (Gather) is 7: there are 4 elements", ""),
        ("9, 0, 0", "9, 6, 7", "element 1 of input 1 'i' of node 'n' (Gather) is 6: there are 4 elements", "1 more is"),
    ],
)
def test_the_message_names_the_new_element(known: str, now: str, message: str, place: str):
    graph = "(float[4] x) => (float[3] y) <int64[3] i = {{{}}}> {{ [n] y = Gather (x, i) }}"
    before, after = (report_on(onnx.parser.parse_model(MADE + graph.format(each))) for each in (known, now))
    (found,) = new_in(before, after)
    assert found.message.startswith(message)
    assert found.message.endswith(f"; {place} not in the baseline" if place else "input 0 'x' is [4]")


def test_the_place_is_that_of_the_new_dimension(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known, now = _with_sizes(-1, 3, 4), _with_sizes(-1, 3, -4)
    compared(folder, capsys, known, now, "--select", "negative-dimension")
    run(["zoo", "--select", "negative-dimension", "--baseline", "c.json", "-f", "json"])
    (found,) = json.loads(capsys.readouterr().out)["files"][0]["diagnostics"]
    assert found["message"].startswith("dimension 2 of input 'w' of main graph 'graph' is -4")
    assert found["place"] == "graph.input[1].type.tensor_type.shape.dim[2].dim_value"
    text = now.splitlines()[found["line"] - 1][found["column"] - 1 :]
    assert text.startswith("-4 }")


def test_elements_that_are_mended_leave_the_others_known():
    graph, head = ELEMENTS["indices"][0], MADE
    found = {each: report_on(onnx.parser.parse_model(head + graph.format(each))) for each in ("9, 7, 8", "0, 7, 8")}
    assert not new_in(*found.values())
    assert len(new_in(*reversed(found.values()))) == 1


@pytest.mark.parametrize(("least", "is_new"), [(0, True), (1, False)])
def test_of_many_elements_another_one_is_new_unless_they_became_fewer(least: int, is_new: bool):
    """Beyond the first ones, all others have one identity."""
    graph = "(float[4] x) => (float[100] y) <int64[100] i = {{{0}}}> {{ y = Gather (x, i) }}"
    head = MADE
    numbers = [[9] * 80 + [0] * 20, [9] * 79 + [0] * 20 + [9 * (1 - least)]]
    texts = [graph.format(", ".join(map(str, each))) for each in numbers]
    before, after = (report_on(onnx.parser.parse_model(head + text)) for text in texts)
    assert bool(new_in(before, after)) == is_new


def test_the_other_node_that_uses_a_bad_initializer_is_new():
    graph = (
        "(float[{0}] x, float[{1}] z) => (float[1] p, float[1] q) <int64[1] i = {{4}}> "
        "{{ p = Gather (x, i) q = Gather (z, i) }}"
    )
    head = MADE
    models = [onnx.parser.parse_model(head + graph.format(*sizes)) for sizes in ((2, 9), (9, 2), (2, 2))]
    first, second, both = map(report_on, models)
    assert len(new_in(first, second)) == len(new_in(first, both)) == 1
    renamed = copy_of(models[2])
    rename_all(renamed, prefixed)
    assert not new_in(both, report_on(renamed))


PARTNERS = {
    "a later maker": (
        "unordered-nodes",
        "(float[2] x) => (float[2] y, float[2] a, float[2] b) {{ [n] y = Relu ({}) [p] a = Abs (x) [q] b = Neg (x) }}",
        ("a", "b"),
    ),
    "a node of a cycle": (
        "cycle",
        "(float[2] x) => (float[2] a, float[2] b, float[2] c) "
        "{{ [n] a = Add (x, {0}) [p] b = Add (x, a) [q] c = Add (x, a) }}",
        ("b", "c"),
    ),
    "one more node of a cycle": (
        "cycle",
        "(float[2] x) => (float[2] a, float[2] b, float[2] c) "
        "{{ [n] a = Add (x, b) [p] b = Add (x, {0}) [q] c = Add (x, a) }}",
        ("a", "c"),
    ),
    "the other way around": (
        "cycle",
        "(float[2] x) => (float[2] a, float[2] b, float[2] c) "
        "{{ [n] a = Add (x, {}) [p] b = Add (x, {}) [q] c = Add (x, {}) }}",
        (("b", "c", "a"), ("c", "a", "b")),
    ),
}
"""The rule, a model with a gap, and two texts for it: the fault is at one place, and another place belongs to it."""


def _with_partner(name: str, number: int) -> onnx.ModelProto:
    _, graph, texts = PARTNERS[name]
    given = texts[number]
    return onnx.parser.parse_model(MADE + graph.format(*((given,) if isinstance(given, str) else given)))


@each_case("name", PARTNERS)
def test_a_fault_with_another_partner_is_new(name: str):
    rule = PARTNERS[name][0]
    first, second = (_with_partner(name, number) for number in range(2))
    known, now = report_on(first), report_on(second)
    assert [each.rule for each in new_in(known, now) if each.rule == rule] == [rule]
    for change in CHANGES.keys() - TWO_PLACES:
        changed = copy_of(first)
        CHANGES[change](changed)
        assert not [each for each in new_in(known, report_on(changed)) if each.rule == rule]


@each_case("name", PARTNERS)
def test_an_entry_without_partners_knows_the_fault_and_is_told(name: str):
    rule = PARTNERS[name][0]
    known = report_on(_with_partner(name, 0))
    entries = {
        digest: _without_keys(entry, has_inner=False)
        for digest, entry in entries_before(known.diagnostics).items()
        if entry.rule == rule
    }
    assert not [each for each in suppress_known(known, entries).diagnostics if each.rule == rule]
    assert count_outdated_entries(suppress_known(known, entries), entries) == 1


def test_the_fault_of_another_call_is_new():
    """A fault in the body of a function is one of the call whose arguments do not fit."""
    transpose = onnx.helper.make_node("Transpose", ["a"], ["c"], perm=[0, 1], name="t")
    function = onnx.helper.make_function("my", "F", ["a"], ["c"], [transpose], [onnx.helper.make_opsetid("", 21)])
    graph = '<ir_version: 10, opset_import: ["": 21, "my": 1]> g (float[{}] x, float[{}] z) => (y, w) '
    models = []
    for sizes in (("2, 2, 2", "2, 2"), ("2, 2", "2, 2, 2")):
        made = onnx.parser.parse_model(graph.format(*sizes) + "{ [n] y = my.F (x) [m] w = my.F (z) }")
        made.functions.append(function)
        models.append(made)
    known, now = map(report_on, models)
    assert [each.rule for each in new_in(known, now)] == ["impossible-operator-extent"]
    rename_all(models[0], prefixed)
    assert not new_in(known, report_on(models[0]))


def test_known_elements_of_a_finding_with_a_new_one_count_as_known():
    graph = "(float[2] x) => (float[N] y) <int64[3] w = {{{}}}> {{ [n] y = Gather (x, w) }}"
    known, now = (report_on(onnx.parser.parse_model(MADE + graph.format(each))) for each in ("9, 0, 0", "9, 0, 8"))
    found = suppress_known(now, entries_of(known.diagnostics))
    rule = "unsupported-operand-value"
    assert [each.message.split()[1] for each in found.diagnostics if each.rule == rule] == ["2"]
    assert [each.message.split()[1] for each in found.suppressed if each.rule == rule] == ["0"]
    assert count_outdated_entries(found, entries_of(known.diagnostics)) == 0


def test_another_output_that_is_listed_twice_is_new_though_a_node_was_added():
    graph = "(float[2] x) => (float[2] y, float[2] z, float[2] {}) {{ [a] y = Abs (x) [b] z = Abs (x) {} }}"
    first, second = (
        onnx.parser.parse_model(MADE + graph.format(*each)) for each in (("y", ""), ("z", "[c] w = Relu (x)"))
    )
    known = report_on(first)
    assert "duplicate-graph-output" in {each.rule for each in new_in(known, report_on(second))}
    same = onnx.parser.parse_model(MADE + graph.format("y", "[c] w = Relu (x)"))
    rename_all(same, prefixed)
    assert "duplicate-graph-output" not in {each.rule for each in new_in(known, report_on(same))}


def test_one_more_dimension_with_an_unknown_denotation_is_new():
    model = onnx.parser.parse_model(MADE + "(float[2, 2] x) => (float[2, 2] y) { y = Abs (x) }")
    dimensions = model.graph.input[0].type.tensor_type.shape.dim
    dimensions[0].denotation = "FOO"
    known = report_on(model)
    dimensions[1].denotation = "FOO"
    assert [each.place.endswith("dim[1].denotation") for each in new_in(known, report_on(model))] == [True]


WRONG_CALLS = {
    "equal arguments": ("bool[2] x, float[2] z", "(x)", "(z)", "(x)"),
    "other arguments": ("bool[2] x, string[3] v, float[2] z", "(x)", "(z)", "(v)"),
}
"""Inputs, a wrong argument of the first call, a right argument of the second call, and a wrong one."""


def _two_calls(inputs: str, *arguments: str) -> onnx.ModelProto:
    calls = " ".join(f"[c{at}] y{at} = my.F {each}" for at, each in enumerate(arguments))
    made = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 21, "my": 1]> g ({inputs}) => (y0, y1) {{ {calls} }}'
    )
    abs_ = onnx.helper.make_node("Abs", ["a"], ["c"], name="fa")
    made.functions.append(
        onnx.helper.make_function("my", "F", ["a"], ["c"], [abs_], [onnx.helper.make_opsetid("", 21)])
    )
    return made


@each_case("name", WRONG_CALLS)
def test_a_second_wrong_call_of_a_function_is_counted_and_new(name: str):
    inputs, wrong, right, also_wrong = WRONG_CALLS[name]
    known, now = (report_on(_two_calls(inputs, wrong, each)) for each in (right, also_wrong))
    rule = "mismatched-operand-type"
    assert [each.message.count("1 more call has this fault") for each in now.diagnostics if each.rule == rule] == [1]
    assert [each.message.endswith("what is new is graph.node[1]") for each in new_in(known, now)] == [True]
    assert not new_in(now, now)
    assert not new_in(now, known)


@pytest.mark.parametrize("name", ELEMENTS)
def test_an_entry_of_before_knows_the_first_element_alone(name: str):
    graph, known, now = ELEMENTS[name]
    head = MADE
    before, after = (report_on(onnx.parser.parse_model(head + graph.format(each))) for each in (known, now))
    entries = entries_of(without_elements(before.diagnostics))
    assert not suppress_known(before, entries).diagnostics
    later = suppress_known(after, entries)
    if name != "dimensions of operands":  # dimension 2 is the first one there
        assert not later.diagnostics
        assert count_outdated_entries(later, entries) == 1


def test_a_sparse_initializer_is_known_after_all_names_have_changed():
    model = onnx.parser.parse_model(MADE + "(float[3, 3] x) => (float[3, 3] y) { y = Add (x, s) }")
    values = onnx.helper.make_tensor("s", 1, [2], [1.0, 1.0])
    sparse = onnx.helper.make_sparse_tensor(values, onnx.helper.make_tensor("", 7, [2], [0, 50]), [3, 3])
    model.graph.sparse_initializer.append(sparse)
    known = report_on(model)
    assert "sparse-index-out-of-range" in {each.rule for each in known.diagnostics}
    rename_all(model, prefixed)
    assert not new_in(known, report_on(model))


STORED = {
    "an operand": "(float[2, 2] x) => (float[N, M] y) <int64[2] w = {-5, 4}> { [n] y = Reshape (x, w) }",
    "an index": "(float[2, 2] x) => (float[1, 2] y) <int64[1] w = {9}> { [n] y = Gather (x, w) }",
    "an entry": "(int8[3] x) => (int8[3] y) <int8[3] w = {1, 300, 1}> { [n] y = Add (x, w) }",
    "a ratio": "(float[2] x) => (float[2] y) <float w = {-0.5}> { [n] y = Dropout (x, w) }",
}
"""Graphs with a fault in the content of the initializer `w`, which the node `n` reads."""


def _with_constants(model: onnx.ModelProto) -> onnx.ModelProto:
    made = onnx.ModelProto.FromString(model.SerializeToString())
    initializers_to_constants(made)
    return made


@each_case("name", STORED)
def test_a_fault_in_content_is_known_if_a_constant_replaces_the_initializer_or_the_other_way_round(name: str):
    model = onnx.parser.parse_model(MADE + STORED[name])
    first, second = report_on(model), report_on(_with_constants(model))
    assert first.diagnostics
    assert second.diagnostics
    rules = {each.rule for each in first.diagnostics}
    for known, now in ((first, second), (second, first)):
        assert not [each for each in new_in(known, now) if each.rule in rules]
    rename_all(model, prefixed)
    assert not [each for each in new_in(first, report_on(_with_constants(model))) if each.rule in rules]


@each_case("name", STORED)
def test_a_fault_in_content_is_known_if_the_node_alone_is_renamed(name: str):
    model = onnx.parser.parse_model(MADE + STORED[name])
    known = report_on(model)
    rename_nodes(model, prefixed)
    assert known.diagnostics
    assert not new_in(known, report_on(model))


def test_another_element_or_user_of_a_replaced_initializer_is_new():
    graph = "(float[2, 2] x) => (float[N, M] y) <int64[2] w = {{{}}}> {{ [n] y = Reshape (x, w) }}"
    first, second = (onnx.parser.parse_model(MADE + graph.format(each)) for each in ("-5, 4", "4, -5"))
    assert new_in(report_on(first), report_on(_with_constants(second)))
    assert new_in(report_on(_with_constants(first)), report_on(second))
    graph = (
        "(float[{}] x, float[{}] z) => (y, v) <int64[1] w = {{5}}> {{ [n] y = Gather (x, w) [m] v = Gather (z, w) }}"
    )
    first, second = (onnx.parser.parse_model(MADE + graph.format(*each)) for each in ((2, 9), (9, 2)))
    assert new_in(report_on(first), report_on(_with_constants(second)))
    assert new_in(report_on(_with_constants(first)), report_on(second))


def test_an_undefined_name_as_another_output_is_new():
    graph = "(float[2] x) => (float[2] {}, float[2] {}) {{ c = Relu (x) d = Neg (x) }}"
    first, second = (onnx.parser.parse_model(MADE + graph.format(*names)) for names in (("zz", "d"), ("c", "zz")))
    known = report_on(first)
    assert "undefined-name" in [each.rule for each in new_in(known, report_on(second))]
    rename_all(first, prefixed)
    assert not new_in(known, report_on(first))


def test_two_bad_strings_of_an_attribute_are_known_after_all_names_have_changed():
    model = onnx.parser.parse_model(
        MADE + '(string[2] x) => (string[2] y) { y = StringNormalizer <stopwords = ["a", "b"]> (x) }'
    )
    model.graph.node[0].attribute[0].strings[:] = [b"\xff", b"\xfe"]
    known = report_on(model)
    assert sum(each.count for each in known.diagnostics if "utf8" in each.rule) == 2
    rename_all(model, prefixed)
    assert not new_in(known, report_on(model))


@each_case("name", INSIDE)
def test_an_entry_without_what_is_wrong_inside_knows_it(name: str):
    graph, value, _ = INSIDE[name]
    found = report_on(onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> g {graph.format(value)}'))
    entries = {
        digest: _without_keys(entry, has_inner=False)
        for digest, entry in entries_before(without_elements(found.diagnostics)).items()
    }
    known = suppress_known(found, entries)
    assert not known.diagnostics
    assert count_outdated_entries(known, entries) == 1


def test_an_empty_path_is_said_to_be_empty(capsys: pytest.CaptureFixture[str]):
    assert run(["m.onnx", "--no-config", "--baseline", ""]) == 2
    assert "--baseline requires a path, not an empty text" in capsys.readouterr().err


EXCHANGED = "g (float[N,16] x, float[16,8] w) => (float[N,8] y) {{ {} y = Gemm(w, x) }}"


def _written_of_old(folder: Path) -> None:
    """Write the baseline that an older version wrote for exchanged operands: its finding was at the declared output."""
    entry = {
        "rule": "contradictory-declared-shape",
        "where": "g / y",
        "count": 1,
        "fingerprint": "167943b145e9beda4ef654210a2d6b0f",
        "structure": "6b6ed06969f4a1fce4363854",
    }
    (folder / "b.json").write_text(json.dumps({"version": 1, "files": {"m.onnx": [entry]}}))


@pytest.mark.parametrize(("nodes", "new"), [("", 0), ("z = Gemm(w, x)", 1)])
@pytest.mark.parametrize("cache", [[], ["--cache", "cache"]])
def test_a_finding_that_moved_to_its_node_is_known_where_it_was(
    folder: Path, capsys: pytest.CaptureFixture[str], nodes: str, new: int, cache: list[str]
) -> None:
    text = '<ir_version: 10, opset_import: ["": 21], producer_name: "me"> ' + EXCHANGED.format(nodes)
    declared = onnx.parser.parse_model(text)
    if nodes:
        declared.graph.output.append(onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, ["N", 8]))
    (folder / "m.onnx").write_bytes(declared.SerializeToString())
    _written_of_old(folder)
    for _ in range(2):
        counts = summary(capsys, "m.onnx", "--baseline", "b.json", *cache)
        assert (counts["errors"], counts["suppressed"]) == (new, 1)
    # one that knows the finding at its node
    run(["m.onnx", "-q", "-o", "none.txt", "--write-baseline", "b.json"])
    assert summary(capsys, "m.onnx", "--baseline", "b.json", *cache)["errors"] == 0


def test_a_finding_whose_clause_has_another_number_now_is_known(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An older version cited NOD-8b for the zero point."""
    text = """<ir_version: 10, opset_import: ["": 21], producer_name: "me">
    g (int32[4] x, float s) => (float[4] y) <int32 z = {1}> { y = DequantizeLinear(x, s, z) }"""
    (folder / "m.onnx").write_bytes(onnx.parser.parse_model(text).SerializeToString())
    entry = {
        "rule": "unsupported-operand-value",
        "where": "g / z",
        "count": 1,
        "fingerprint": "0e714e8b55e8f80f733ea71262db7cc1",
        "structure": "339f1861d657594e519ae499",
    }
    (folder / "b.json").write_text(json.dumps({"version": 1, "files": {"m.onnx": [entry]}}))
    counts = summary(capsys, "m.onnx", "--baseline", "b.json")
    assert (counts["errors"], counts["suppressed"]) == (0, 1)
    run(["m.onnx", "-q", "-o", "none.txt", "--write-baseline", "b.json"])
    assert summary(capsys, "m.onnx", "--baseline", "b.json")["errors"] == 0


def _with_sparse_index(*index: int) -> onnx.ModelProto:
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) { y = Relu (x) }'
    )
    values = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [1], [1.0])
    indices = onnx.helper.make_tensor("i", onnx.TensorProto.INT64, [1, 3], index)
    model.graph.sparse_initializer.append(onnx.helper.make_sparse_tensor(values, indices, [4, 5, 6]))
    return model


@pytest.mark.parametrize(
    ("known", "now"),
    [((9, 0, 0), (9, 9, 0)), ((9, 0, 0), (0, 9, 0)), ((9, 9, 0), (9, 0, 9)), ((-1, 0, 0), (-1, 0, -1))],
)
def test_another_coordinate_of_a_sparse_index_is_new(known: tuple[int, ...], now: tuple[int, ...]):
    before, after = report_on(_with_sparse_index(*known)), report_on(_with_sparse_index(*now))
    assert new_in(before, before) == []
    assert [item.rule for item in new_in(before, after)] == ["sparse-index-out-of-range"]


@pytest.mark.parametrize("now", [(9, 0, 0), (0, 9, 0)])
def test_a_sparse_index_with_one_of_two_coordinates_mended_is_known(now: tuple[int, ...]):
    assert new_in(report_on(_with_sparse_index(9, 9, 0)), report_on(_with_sparse_index(*now))) == []


def test_a_new_coordinate_of_a_known_sparse_index_is_named():
    (found,) = new_in(report_on(_with_sparse_index(9, 0, 0)), report_on(_with_sparse_index(9, 0, 9)))
    assert found.message.endswith("outside the dense shape [4, 5, 6]; what is new is coordinate 2 of index 0")


OF_0_2: dict[str, dict[str, Any]] = {
    "unsupported-operand-value/invalid/a_negative_ratio_of_dropout": {
        "rule": "unsupported-operand-value",
        "count": 1,
        "fingerprint": "c0d8875d1d8e2bda3c4c2db8ca112a7f",
        "structure": "e433af8b8a09454349e422f0",
    },
    "contradictory-declared-shape/invalid/a_sequence_of_two_sizes": {
        "rule": "contradictory-declared-shape",
        "count": 1,
        "fingerprint": "fcd797c8d93716d45476bb661753a5c0",
        "structure": "3fb5394a2d96a1fce4363854",
    },
    "duplicate-value-info/invalid/in_a_function": {
        "rule": "duplicate-value-info",
        "count": 1,
        "fingerprint": "55841aa3c83cd0c3df98b22340ff549a",
        "parts": "faf0da3c87739675217b0fa9",
    },
}
"""Entries that version 0.2.0 wrote for fixtures whose findings are under another clause now."""


@pytest.mark.parametrize("name", OF_0_2)
def test_an_entry_under_a_former_clause_knows_the_finding(name: str, tmp_path: Path, capsys: Any) -> None:
    text = (Path(__file__).parents[2] / "fixtures" / f"{name}.textproto").read_text()
    (tmp_path / "m.textproto").write_text(text)
    record = OF_0_2[name]
    (tmp_path / "b.json").write_text(json.dumps({"version": 1, "files": {"m.textproto": [record]}}))
    arguments = [str(tmp_path / "m.textproto"), "--select", record["rule"], "--baseline", str(tmp_path / "b.json")]
    report = summary(capsys, *arguments)
    assert (report["code"], report["suppressed"], report["stale"]) == (0, 1, 0)


def test_an_entry_under_a_former_clause_knows_the_finding_under_other_names(tmp_path: Path, capsys: Any) -> None:
    name = next(iter(OF_0_2))
    text = (Path(__file__).parents[2] / "fixtures" / f"{name}.textproto").read_text()
    (tmp_path / "m.textproto").write_text(text.replace('"r"', '"ratio"'))
    (tmp_path / "b.json").write_text(json.dumps({"version": 1, "files": {"m.textproto": [OF_0_2[name]]}}))
    report = summary(capsys, str(tmp_path / "m.textproto"), "--baseline", str(tmp_path / "b.json"))
    assert (report["code"], report["suppressed"], report["stale"]) == (0, 1, 0)


def test_an_entry_of_today_knows_no_finding_under_another_clause(folder: Path, capsys: Any) -> None:
    """An open dimension that is declared as a number is an error (SHP-7), and one as a variable a warning (SHP-7a)."""
    of_rule = Path(__file__).parents[2] / "fixtures" / "contradictory-declared-shape" / "invalid"
    known = (of_rule / "a_number_for_a_sequence_of_two_sizes.textproto").read_text()
    now = (of_rule / "a_sequence_of_two_sizes.textproto").read_text()
    for changed, stale in ((known, 0), (now, 1)):
        options = "--select", "contradictory-declared-shape"
        report, (entry,) = compared(folder, capsys, known, changed, *options)
        assert entry["clauses"] > 0
        assert (report["suppressed"], report["stale"]) == (1 - stale, stale)


def test_a_new_fault_of_several_is_shown_at_its_own_place() -> None:
    known = onnx.parser.parse_model('<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => () { y = Relu (x) }')
    known.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    now = copy_of(known)
    now.graph.output.append(onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [-1]))
    (found,) = [item for item in new_in(report_on(known), report_on(now)) if item.rule == "negative-dimension"]
    assert found.message == "dimension 0 of output 'y' of main graph 'g' is -1, but must be at least 0"
    assert found.place == "graph.output[0].type.tensor_type.shape.dim[0].dim_value"
    assert (found.graph, found.around.scope[:2]) == ("g", ("g", "y"))
    assert (found.related, found.context) == ((), ())
    assert found.byte_range is not None
    assert now.SerializeToString()[slice(*found.byte_range)] == b"\x08" + b"\xff" * 9 + b"\x01"


def _with_segment(begin: int, end: int) -> onnx.ModelProto:
    model = onnx.parser.parse_model('<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => () { y = Add (x, w) }')
    weight = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [2], [1.0, 2.0])
    weight.segment.begin, weight.segment.end = begin, end
    model.graph.initializer.append(weight)
    return model


def _with_branches(then: str, other: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 21]> g (bool c, float[2] x, int64[2] i) => (y) {'
        f"y = If (c) <then_branch = t () => (a) {{ a = Identity ({then}) }},"
        f"else_branch = e () => (b) {{ b = Identity ({other}) }}> }}"
    )


def _with_names(*names: str) -> onnx.ModelProto:
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) { y = Relu (x) }'
    )
    model.graph.value_info.extend(
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in names
    )
    return model


EXCHANGES = {
    "invalid-segment": (_with_segment(-1, 2), _with_segment(0, -2)),
    "mismatched-subgraph-type": (_with_branches("x", "i"), _with_branches("i", "x")),
    "unknown-value-info-name": (_with_names("z0", "z1"), _with_names("z0", "z2")),
}


@pytest.mark.parametrize("rule", EXCHANGES)
def test_an_exchange_inside_of_one_value_is_new(rule: str) -> None:
    before, after = map(report_on, EXCHANGES[rule])
    assert new_in(before, before) == []
    assert rule in [each.rule for each in unfold(before.diagnostics)]
    assert [each.rule for each in new_in(before, after)] == [rule]


def test_a_name_less_or_more_among_those_that_name_no_value_is_known() -> None:
    known = report_on(_with_names("z0", "z1", "z2"))
    for now in (("z2", "z0"), ("z1",), ("z0", "z3", "z1", "z2")):
        assert new_in(known, report_on(_with_names(*now))) == []


def test_more_than_64_names_of_no_value_are_known_as_a_whole() -> None:
    many = [f"z{index}" for index in range(70)]
    known = report_on(_with_names(*many))
    for now in (many, many[1:], many[9:], [*many, "a"]):
        assert new_in(known, report_on(_with_names(*now))) == []


EQUAL_NODES = "{ " + " ".join(f"[n{at}] v{at} = Relu (u{at})" for at in range(21)) + " y = Relu (x) }"
TWO_NODES = "{ one = Relu (w) y = Relu (v) }"


@pytest.mark.parametrize("name", ["prefix", "node in front", "nodes in front and behind, prefix"])
@pytest.mark.parametrize(
    ("body", "was", "now", "misplace"),
    [
        (EQUAL_NODES, 5, 15, lambda node: setattr(node, "op_type", "Reluy")),
        (EQUAL_NODES, 5, 4, lambda node: setattr(node, "op_type", "Reluy")),
        (TWO_NODES, 1, 0, lambda node: node.input.append("nowhere")),
        (TWO_NODES, 0, 1, lambda node: node.attribute.add(name="axess", i=1, type=2)),
    ],
    ids=["operator", "operator of the node before", "input", "attribute"],
)
def test_a_fault_of_an_equal_node_is_new_although_more_has_changed(
    name: str, body: str, was: int, now: int, misplace: Callable[[onnx.NodeProto], object]
):
    values = "<float[2] w = {1, 2}, float[2] v = {3, 4}>"
    text = f'<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) {values} {body}'
    known, changed = onnx.parser.parse_model(text), onnx.parser.parse_model(text)
    clean = {each.rule for each in report_on(changed).diagnostics}
    misplace(known.graph.node[was])
    misplace(changed.graph.node[now])
    CHANGES[name](changed)
    rules = {each.rule for each in report_on(known).diagnostics} - clean
    assert rules & {each.rule for each in new_in(report_on(known), report_on(changed))} == rules


MODEL_OF_LISTS = '<ir_version: 10, opset_import: ["": 21, "ai.onnx.ml": 3]> g (float[1, 2] x) => (float[1, 2] y) '
LISTS = {
    "Scaler": "y = ai.onnx.ml.Scaler <offset = [{}], scale = [{}]> (x)",
    "LabelEncoder": "y = ai.onnx.ml.LabelEncoder <keys_floats = [{}], values_floats = [{}]> (x)",
}


@each_case("name", LISTS)
def test_exchanged_lengths_of_two_lists_are_new(name: str):
    long, short = "1.0, 2.0", "1.0"
    one, other = (
        onnx.parser.parse_model(f"{MODEL_OF_LISTS} {{ {LISTS[name].format(*lengths)} }}")
        for lengths in ((long, short), (short, long))
    )
    for known, now in ((one, other), (other, one)):
        found = report_on(known)
        assert not new_in(found, found)
        assert [each.rule for each in new_in(found, report_on(now))] == ["impossible-attribute-value"]
        before = entries_before(found.diagnostics)
        assert not suppress_known(found, before).diagnostics


def test_an_edge_of_a_cycle_that_comes_a_second_time_is_new():
    text = (
        '<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] a) {{ a = Add (x, b) b = Add (a, {}) }}'
    )
    once, twice = (report_on(onnx.parser.parse_model(text.format(name))) for name in ("x", "a"))
    assert [each.rule for each in new_in(once, twice)] == ["cycle"]
    assert [each.rule for each in new_in(twice, once)] == ["cycle"]
    for found in (once, twice):
        assert not new_in(found, found)
        assert not suppress_known(found, entries_before(found.diagnostics)).diagnostics


def test_an_entry_of_before_that_knows_a_renamed_finding_by_its_number_is_said_to_be_imprecise():
    graph = "g (float[2] x) => (float[2] y) { y = Foo (x) }"
    known = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> {graph}')
    found = report_on(known)
    entries = entries_before(found.diagnostics)
    assert count_outdated_entries(suppress_known(found, entries), entries) == 0
    rename_all(known, prefixed)
    renamed = suppress_known(report_on(known), entries)
    assert not renamed.diagnostics
    assert count_outdated_entries(renamed, entries) > 0
    entries = entries_of(found.diagnostics)
    assert count_outdated_entries(suppress_known(report_on(known), entries), entries) == 0


def test_an_entry_of_before_on_many_faults_that_are_unchanged_is_precise():
    nodes = " ".join(f"[n] a{number} = Relu (x)" for number in range(70))
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (a0) {{ {nodes} }}')
    found = report_on(model)
    entries = {
        fingerprint: entry
        for fingerprint, entry in entries_before(found.diagnostics).items()
        if entry.rule == "duplicate-node-name"
    }
    assert [entry.faults[0].is_of_many for entry in entries.values()] == [True]
    known = suppress_known(found, entries)
    assert "duplicate-node-name" not in {each.rule for each in known.diagnostics}
    assert count_outdated_entries(known, entries) == 0


def _with_uses(at: Iterable[int], name: str = "zz") -> onnx.ModelProto:
    """Return a model of four equal nodes, some of which read a name that nothing defines."""
    nodes = " ".join(f"[n{number}] a{number} = Add ({name if number in at else 'x'}, x)" for number in range(4))
    outputs = ", ".join(f"float[2] a{number}" for number in range(4))
    return onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => ({outputs}) {{ {nodes} }}'
    )


def _with_foreign_nodes(at: Iterable[int]) -> onnx.ModelProto:
    """Return a model of four nodes, some of which are of a domain without an import."""
    model = _with_uses(())
    for number in at:
        model.graph.node[number].domain, model.graph.node[number].op_type = "a.b", f"F{number}"
    return model


def _rename_one(model: onnx.ModelProto) -> None:
    model.graph.node[2].name = "other"


NEW_NAMES: dict[str, Callable[[onnx.ModelProto], object]] = {
    "nothing": lambda _: None,
    "one name": _rename_one,
    "nodes: prefix": CHANGES["nodes: prefix"],
    "nodes: next number": CHANGES["nodes: next number"],
    "prefix": CHANGES["prefix"],
    "next number": CHANGES["next number"],
}


@pytest.mark.parametrize("change", NEW_NAMES.values(), ids=NEW_NAMES)
@pytest.mark.parametrize("with_faults", [_with_uses, _with_foreign_nodes], ids=["undefined name", "missing import"])
def test_a_use_in_the_place_of_another_one_is_new_whatever_the_names(
    with_faults: Callable[[Iterable[int]], onnx.ModelProto], change: Callable[[onnx.ModelProto], object]
):
    known = report_on(with_faults((0, 3)))
    for uses, is_new in (((1, 3), True), ((0, 2), True), ((0, 3), False), ((3,), False), ((0, 1, 3), False)):
        now = with_faults(uses)
        change(now)
        rules = {each.rule for each in new_in(known, report_on(now))}
        assert bool(rules & {"undefined-name", "missing-opset-import"}) is is_new, uses


def test_a_use_with_the_name_of_a_mended_one_is_new_if_other_names_have_moved():
    known = _with_uses((1, 3))
    now = _with_uses((0, 3))
    rename_nodes(now, _next_number)
    assert [each.rule for each in new_in(report_on(known), report_on(now))] == ["undefined-name"]


def _next_number(name: str) -> str:
    return f"n{int(name[1:]) + 1}"


def test_a_name_in_the_place_of_another_one_in_a_summary_is_new_although_another_name_has_changed():
    known, now = _with_names("z0", "z1"), _with_names("z0", "z2")
    for each in (known, now):
        each.graph.node[0].name = "relu"
    now.graph.node[0].name = "other"
    assert [each.rule for each in new_in(report_on(known), report_on(now))] == ["unknown-value-info-name"]
    rename_all(known, prefixed)
    renamed = copy_of(known)
    rename_all(renamed, prefixed)
    assert new_in(report_on(known), report_on(renamed)) == []


def test_uses_in_an_entry_without_operators_are_known_as_before():
    found = report_on(_with_uses((0, 3)))
    entries = {}
    for each in unfold(found.diagnostics):
        ((digest, entry),) = entries_of([each]).items()
        faults = [FaultDigests(PlaceDigests(names=fault.place.names)) for fault in each.identity.parts]
        entries[digest] = replace(entry, faults=tuple(faults), structure=None)
    now, exchanged = _with_uses((0, 1)), _with_uses((0, 1))
    _rename_one(now)
    assert "undefined-name" in {each.rule for each in suppress_known(report_on(exchanged), entries).diagnostics}
    assert list(suppress_known(found, entries).diagnostics) == []
    assert "undefined-name" not in {each.rule for each in suppress_known(report_on(now), entries).diagnostics}


SQUARE = "g (float[2, 3, 4] x, float[3, 5] z) => (y) { [n] y = Det ({}) }"
WRONG_TYPE = "g (int64[2] x, int32[2] z) => (y) { [s] u = Sqrt ({}) [n] y = Exp (u) }"


@pytest.mark.parametrize("graph", [SQUARE, WRONG_TYPE], ids=["shape", "type"])
def test_a_node_in_front_brings_back_no_finding_on_what_it_reads(graph: str):
    """Another value in the place of the known one is new, although the name of another node has changed."""
    known, other = (
        onnx.parser.parse_model('<ir_version: 10, opset_import: ["": 21]> ' + graph.replace("{}", name))
        for name in ("x", "z")
    )
    in_front = copy_of(known)
    CHANGES["node in front"](in_front)
    rule = {"incompatible-operand-shapes", "mismatched-operand-type"}
    found = report_on(known)
    assert rule & {each.rule for each in found.diagnostics}
    assert not rule & {each.rule for each in new_in(found, report_on(in_front))}
    other.graph.node[-1].output[0] = "w"
    other.graph.output[0].name = "w"
    assert rule & {each.rule for each in new_in(found, report_on(other))}


def test_another_operand_at_fault_is_new_although_a_node_has_come_elsewhere():
    text = """<ir_version: 10, opset_import: ["": 21]>
    g (float[2, 3] x, float[2, 4] z) => (y) {{ [c] y = Concat <axis = 0> ({}) }}"""
    known, now = (onnx.parser.parse_model(text.format(names)) for names in ("z, x, x", "x, z, x"))
    node = onnx.helper.make_node("Neg", ["x"], ["unused"], "front")
    nodes = onnx.GraphProto(node=[node, *now.graph.node])
    del now.graph.node[:]
    now.graph.node.extend(nodes.node)
    rule = "incompatible-operand-shapes"
    found = report_on(known)
    assert rule in {each.rule for each in found.diagnostics}
    assert rule in {each.rule for each in new_in(found, report_on(now))}


@pytest.mark.parametrize(
    "name",
    [
        "contradictory-declared-shape/invalid/in_a_function_with_a_branch_that_never_runs",
        "incompatible-operand-shapes/invalid/in_a_function_that_only_a_branch_that_never_runs_calls",
    ],
)
def test_an_entry_of_before_a_clause_got_milder_knows_the_finding(name: str):
    text = (Path(__file__).parents[2] / "fixtures" / f"{name}.textproto").read_text()
    rule = name.partition("/")[0]
    found = report_on(text_format.Parse(text, onnx.ModelProto()))
    (now,) = [each for each in unfold(found.diagnostics) if each.rule == rule]
    stricter = next(each for each in now.identity.under_former_clauses if each.clause in {"NOD-8c", "NOD-8a"})
    (entry,) = entries_of([stricter]).values()
    for rows, is_new in ((9, False), (entry.clauses, True)):
        entries = {entry.fingerprint: replace(entry, clauses=rows)}
        left = [each.rule for each in unfold(suppress_known(found, entries).diagnostics)]
        assert (rule in left) is is_new
