# SPDX-License-Identifier: Apache-2.0
"""The entries of `suppress`: the findings that they cover, their end dates, and the messages about useless ones."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path

import pytest

from onnx_lint import fix, lint, schema
from onnx_lint.cli.application import run
from onnx_lint.engine.suppressions import Suppression

ENTRY = '[[suppress]]\nrule = "missing-producer"\nreason = "a test model"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    model = schema.message("ModelProto")(ir_version=10)
    model.opset_import.add(version=21)
    model.graph.name = "g"
    model.graph.node.add(op_type="Unknown", name="first", output=["a"])
    model.graph.node.add(op_type="Unknown2", name="second", output=["b"])
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(folder: Path, text: str, *arguments: str) -> int:
    (folder / "onnx-lint.toml").write_text(text, encoding="utf-8")
    return run(["m.onnx", *arguments])


def _report(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, object], str]:
    _run(folder, text, "--format", "json", "--show-suppressed", "--select", "missing-producer,unknown-operator")
    found = capsys.readouterr()
    [file] = json.loads(found.out)["files"]
    return {f"{each['rule']} {each['place']}": each.get("suppressed_by") for each in file["diagnostics"]}, found.err


def test_an_entry_covers_its_rule_and_gives_the_reason(folder, capsys):
    found, err = _report(folder, ENTRY, capsys)
    of_rule = {each for rule, each in found.items() if rule.startswith("missing-producer")}
    assert of_rule == {"onnx-lint.toml, suppress[0]: a test model"}
    assert {each for rule, each in found.items() if not rule.startswith("missing-producer")} == {None}
    assert err == ""


def test_a_place_is_that_of_the_finding_or_the_name_of_its_node(folder, capsys):
    entry = '[[suppress]]\nrule = "unknown-operator"\nreason = "known"\nplace = "{}"\n'
    for place in ("second", "sec*", "graph.node[1].*"):
        found, err = _report(folder, entry.format(place), capsys)
        suppressed = {name for name, by in found.items() if by is not None}
        assert suppressed == {"unknown-operator graph.node[1].op_type"}, place
        assert err == ""


def test_an_entry_for_one_name_leaves_the_others_of_a_counted_finding(folder, capsys):
    """Only what is left is fixed."""
    model = schema.message("ModelProto")(ir_version=10, producer_name="p")
    model.opset_import.add(version=21)
    model.graph.name = "g"
    for index, name in enumerate("aabb"):
        model.graph.node.add(op_type="Relu", name=name, input=["x"], output=[f"v{index}"])
    for name in ("x", "x2"):
        model.graph.input.add(name=name).type.tensor_type.elem_type = 1
        model.graph.input[-1].type.tensor_type.shape.dim.add(dim_value=-1)
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    entries = "".join(
        f'[[suppress]]\nrule = "{rule}"\nplace = "{place}"\nreason = "known"\n'
        for rule, place in (("duplicate-node-name", "a"), ("negative-dimension", "x"))
    )
    rules = "duplicate-node-name,negative-dimension"
    assert _run(folder, entries, "--format", "json", "--show-suppressed", "--select", rules) == 1
    [file] = json.loads(capsys.readouterr().out)["files"]
    found = [(each["place"].split(".")[1], bool(each.get("suppressed_by"))) for each in file["diagnostics"]]
    assert sorted(found) == [("input[0]", True), ("input[1]", False), ("node[1]", True), ("node[3]", False)]
    assert run(["fix", "m.onnx", "--unsafe-fixes", "--select", rules]) == 0
    mended = schema.message("ModelProto").FromString((folder / "m.onnx").read_bytes()).graph
    assert [node.name for node in mended.node] == ["a", "a", "b", "b_1"]
    assert [value.type.tensor_type.shape.dim[0].dim_value for value in mended.input] == [-1, 0]


def test_entries_that_suppress_nothing_do_not_weaken_the_verdict(folder, capsys):
    text = ENTRY + ENTRY.replace("missing-producer", "cycle") + ENTRY + "until = 2020-01-31\n"
    _run(folder, text, "--select", "missing-producer")
    weakens = 'onnx-lint.toml weakens the verdict: suppress[0].rule = "missing-producer"'
    assert capsys.readouterr().out.splitlines()[-1] == weakens


def test_an_expired_entry_suppresses_nothing_and_is_named(folder, capsys):
    found, err = _report(folder, ENTRY + "until = 2020-01-31\n", capsys)
    assert set(found.values()) == {None}
    assert err == "Warning: onnx-lint.toml, suppress[0]: the suppression of missing-producer expired on 2020-01-31\n"


def test_an_entry_without_a_finding_is_named(folder, capsys):
    found, err = _report(folder, ENTRY + 'place = "nowhere"\n', capsys)
    assert set(found.values()) == {None}
    assert err == "Warning: onnx-lint.toml, suppress[0]: the suppression of missing-producer matches no finding\n"


def test_an_entry_for_other_files_or_rules_that_did_not_run_is_not_named(folder, capsys):
    assert _report(folder, ENTRY + 'file = "other/**"\n', capsys)[1] == ""
    assert _report(folder, ENTRY + 'file = "other/**"\nuntil = 2099-01-31\n', capsys)[1] == ""
    assert _report(folder, ENTRY.replace("missing-producer", "cycle"), capsys)[1] == ""


def test_a_suppressed_error_fails_no_run_and_the_model_does_not_conform(folder, capsys):
    entry = '[[suppress]]\nrule = "unknown-operator"\nreason = "known"\n'
    assert _run(folder, "", "--select", "unknown-operator") == 1
    assert _run(folder, entry, "--select", "unknown-operator") == 0
    assert "2 suppressed by the configuration" in capsys.readouterr().out
    report = lint(folder / "m.onnx", config=folder / "onnx-lint.toml", select="unknown-operator")
    assert not report.diagnostics
    assert not report.conforms


def test_a_suppressed_finding_is_not_fixed(folder, capsys):
    """The order of the nodes is wrong, and the fix would change it."""
    model = schema.message("ModelProto")(ir_version=10, producer_name="p")
    model.opset_import.add(version=21)
    model.graph.name = "g"
    model.graph.input.add(name="x").type.tensor_type.elem_type = 1
    model.graph.output.add(name="y").type.tensor_type.elem_type = 1
    model.graph.node.add(op_type="Abs", name="late", input=["a"], output=["y"])
    model.graph.node.add(op_type="Relu", name="early", input=["x"], output=["a"])
    path, data = folder / "m.onnx", model.SerializeToString()
    entry = '[[suppress]]\nrule = "unordered-nodes"\nplace = "{}"\nreason = "known"\n'
    for place, is_fixed in (("late", False), ("other", True)):
        path.write_bytes(data)
        (folder / "onnx-lint.toml").write_text(entry.format(place))
        assert run(["fix", "m.onnx", "--select", "unordered-nodes", "--diff"]) == is_fixed
        assert run(["fix", "m.onnx", "--select", "unordered-nodes"]) == 0
        assert (path.read_bytes() != data) == is_fixed
        err = capsys.readouterr().err
        assert ("matches no finding" in err) == is_fixed
    path.write_bytes(data)
    (folder / "onnx-lint.toml").write_text(entry.format("late"))
    report = fix(path, config=folder / "onnx-lint.toml", select="unordered-nodes")
    assert [each.rule for each in report.suppressed] == ["unordered-nodes"]
    assert path.read_bytes() == data


def test_a_cached_report_is_not_used_after_a_suppression_has_changed(folder, capsys, monkeypatch):
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(folder / "cache"))
    for text, suppressed in (("", 0), (ENTRY, 2), (ENTRY, 2), (ENTRY + "until = 2020-01-31\n", 0)):
        _run(folder, text, "--cache", "--format", "json", "--select", "missing-producer")
        assert json.loads(capsys.readouterr().out)["summary"]["suppressed"] == suppressed


def test_the_last_day_still_counts():
    entry = Suppression("w", "r", "", until=datetime.date(2026, 5, 1))
    assert not entry.is_expired(datetime.date(2026, 5, 1))
    assert entry.is_expired(datetime.date(2026, 5, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[suppress]\nrule = 'cycle'", "suppress: requires a list of tables: write [[suppress]]"),
        ("[[suppress]]\nrule = 'cycle'", "onnx-lint.toml, suppress[0]: requires a reason"),
        (
            "[[suppress]]\nrule = 'cycle'\nreason = ' \t'",
            "onnx-lint.toml: suppress[0].reason: requires a non-empty string, not ' \\t'",
        ),
        ("\n[[suppress]]\nreason = 'x'", "onnx-lint.toml, suppress[0]: requires a rule"),
        ("[[suppress]]\nrule = 'cyle'\nreason = 'x'", "unknown rule 'cyle'; did you mean 'cycle'?"),
        ("[[suppress]]\nrule = 'cycle'\nreason = 'x'\nuntil = 'soon'", "until: requires a date such as 2027-01-31"),
        ("[[suppress]]\nrule = 'cycle'\nreason = 'x'\nplaces = 'x'", "unknown key 'places'; did you mean 'place'?"),
        ("suppress = ['cycle']", "requires a table, not 'cycle'"),
    ],
)
def test_a_wrong_entry_is_an_error_that_names_it(folder, text, message):
    (folder / "onnx-lint.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(message)):
        lint(folder / "m.onnx", config=folder / "onnx-lint.toml")


def test_entries_that_are_slow_to_compare_are_limited(folder):
    """A finding is compared with each of them, and both may come with a model of somebody else."""
    places = ["a*b", *(f"name_{number}" for number in range(1_500)), "*c"]
    entries = [f"[[suppress]]\nrule = 'cycle'\nplace = '{place}'\nreason = 'x'\n" for place in places]
    path = folder / "onnx-lint.toml"
    path.write_text("".join(entries + entries[:1] * 998))
    lint(folder / "m.onnx", config=path)
    path.write_text("".join(entries + entries[:1] * 999))
    said = (
        "onnx-lint.toml, suppress[2500]: more than 1,000 suppressions of 'cycle' have a place with a * before its end; "
        "write the name, or a * only at the end"
    )
    with pytest.raises(ValueError, match=re.escape(said)):
        lint(folder / "m.onnx", config=path)
    path.write_text("".join([*entries, *entries[:1] * 998, *[entries[0].replace("cycle", "unknown-operator")] * 1_000]))
    lint(folder / "m.onnx", config=path)
