# SPDX-License-Identifier: Apache-2.0
"""The entries of `suppress`: the findings that they cover, their end dates, and the messages about useless ones."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path
from typing import Any

import onnx
import pytest

from onnx_lint import fix, lint, schema
from onnx_lint.cli.application import run
from onnx_lint.engine import lint as engine
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
    assert of_rule == {"onnx-lint.toml: suppress[0]: a test model"}
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
    assert err == "Warning: onnx-lint.toml: suppress[0]: the suppression of missing-producer expired on 2020-01-31\n"


def test_an_entry_without_a_finding_is_named(folder, capsys):
    found, err = _report(folder, ENTRY + 'place = "nowhere"\n', capsys)
    assert set(found.values()) == {None}
    said = (
        "the suppression of missing-producer matches no finding; it has findings at 'producer_name', 'producer_version'"
    )
    assert err == f"Warning: onnx-lint.toml: suppress[0]: {said}\n"


@pytest.mark.parametrize(
    ("rule", "place", "hint"),
    [
        ("unknown-operator", "secnd", "did you mean 'second'?"),
        ("unknown-operator", "graph.node[0].op_typ", "did you mean 'graph.node[0].op_type'?"),
        ("unknown-operator", "decoder*", "it has findings at 'Unknown' (node 'first'), 'Unknown2' (node 'second')"),
        ("cycle", "second", "did you mean unknown-operator, which has a finding there?"),
        ("unknown-value-info-name", "z9", "it has findings at 'z0', 'z1', 'z2'"),
        ("unknown-value-info-name", "z0_extra", ""),
        ("non-c90-name", "1/2", "its findings are only counted, and --pedantic lists them"),
        ("cycle", "", ""),
    ],
)
def test_an_entry_without_a_finding_says_what_it_may_mean(folder, capsys, rule, place, hint):
    model = schema.message("ModelProto").FromString((folder / "m.onnx").read_bytes())
    model.graph.node[0].output[0] = "1/2"
    for name in ("z0", "z1", "z2") if place == "z9" else ():
        model.graph.value_info.add(name=name).type.tensor_type.elem_type = 1
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    entry = f'[[suppress]]\nrule = "{rule}"\nreason = "known"\n' + (f'place = "{place}"\n' if place else "")
    _run(folder, entry)
    said = f"matches no finding; {hint}" if hint else "matches no finding"
    assert capsys.readouterr().err == f"Warning: onnx-lint.toml: suppress[0]: the suppression of {rule} {said}\n"


@pytest.mark.parametrize(
    ("place", "hint"),
    [
        ("relu33", "did you mean 'relu3'?"),
        ("q", None),
        ("other", "it has findings at 'q' (nodes 'relu0', 'relu1', 'relu2', ...)"),
    ],
)
def test_an_entry_without_a_finding_names_the_nodes_of_one_finding_as_well(folder, capsys, place, hint):
    model = schema.message("ModelProto").FromString((folder / "m.onnx").read_bytes())
    del model.graph.node[:]
    for index in range(4):
        model.graph.node.add(name=f"relu{index}", op_type="Relu", input=["q"], output=[f"y{index}"])
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    _run(folder, f'[[suppress]]\nrule = "undefined-name"\nreason = "known"\nplace = "{place}"\n')
    said = f"Warning: onnx-lint.toml: suppress[0]: the suppression of undefined-name matches no finding; {hint}\n"
    assert capsys.readouterr().err == ("" if hint is None else said)


def test_one_of_three_names_of_a_finding_is_hidden_and_the_others_are_fixed(folder, capsys):
    model = schema.message("ModelProto").FromString((folder / "m.onnx").read_bytes())
    for name in ("z0", "z1", "z2"):
        model.graph.value_info.add(name=name).type.tensor_type.elem_type = 1
    select = ["--select", "unknown-value-info-name"]
    for place, left in (("z0", ["z1", "z2"]), ("z1", ["z0", "z2"]), ("z2", ["z0", "z1"])):
        (folder / "m.onnx").write_bytes(model.SerializeToString())
        entry = f'[[suppress]]\nrule = "unknown-value-info-name"\nplace = "{place}"\nreason = "known"\n'
        _run(folder, entry, *select, "-f", "json")
        [found] = json.loads(capsys.readouterr().out)["files"][0]["diagnostics"]
        assert f"2 entries of value_info in main graph 'g' name no value: '{left[0]}', '{left[1]}'" == found["message"]
        assert run(["fix", "m.onnx", *select]) == 0
        mended = schema.message("ModelProto").FromString((folder / "m.onnx").read_bytes())
        assert [value.name for value in mended.graph.value_info] == [place]
        assert capsys.readouterr().err == ""


def test_the_name_of_the_graph_around_them_hides_no_faults(folder, capsys):
    """Neither of the findings is about the graph, which is the subject of both."""
    model = schema.message("ModelProto").FromString((folder / "m.onnx").read_bytes())
    for name in ("z0", "z1"):
        model.graph.value_info.add(name=name).type.tensor_type.elem_type = 1
    for node in (*model.graph.node, model.graph.node.add(op_type="Unknown", output=["c"])):
        node.name = "n"
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    rules = ("duplicate-node-name", "unknown-value-info-name")
    for place, hidden in (("g", []), ("n", ["duplicate-node-name"]), ("z?", []), ("z*", ["unknown-value-info-name"])):
        entries = "".join(f'[[suppress]]\nrule = "{rule}"\nplace = "{place}"\nreason = "x"\n' for rule in rules)
        _run(folder, entries, "--select", ",".join(rules), "-f", "json", "--show-suppressed")
        [file] = json.loads(capsys.readouterr().out)["files"]
        assert [each["rule"] for each in file["diagnostics"] if each.get("suppressed_by")] == hidden, place


def test_the_name_of_a_graph_hides_a_finding_about_the_graph(folder, capsys):
    entry = '[[suppress]]\nrule = "graph-without-outputs"\nplace = "g"\nreason = "x"\n'
    assert _run(folder, entry, "--select", "graph-without-outputs") == 0
    assert "1 suppressed by the configuration" in capsys.readouterr().out


def test_a_name_that_is_no_identifier_is_kept_if_it_is_suppressed(folder, capsys):
    model = schema.message("ModelProto").FromString((folder / "m.onnx").read_bytes())
    for node, name in zip(model.graph.node, ("a/b", "c/d"), strict=True):
        node.name = node.output[0] = name
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    (folder / "onnx-lint.toml").write_text('[[suppress]]\nrule = "non-c90-name"\nplace = "a/b"\nreason = "known"\n')
    assert run(["fix", "m.onnx", "--unsafe-fixes", "--select", "non-c90-name"]) == 0
    mended = schema.message("ModelProto").FromString((folder / "m.onnx").read_bytes())
    assert [(node.name, *node.output) for node in mended.graph.node] == [("a/b", "a/b"), ("c_d", "c_d")]
    assert capsys.readouterr().err == ""


def test_a_fix_that_would_fix_a_suppressed_finding_as_well_is_not_made(folder, capsys):
    """Both features need a later IR version."""
    model = schema.message("ModelProto")(ir_version=3, producer_name="p")
    model.opset_import.add(version=9)
    model.graph.name = "g"
    model.graph.input.add(name="x").type.tensor_type.elem_type = 16
    model.graph.input[0].type.tensor_type.shape.dim.add(dim_value=2)
    model.graph.quantization_annotation.add(tensor_name="x")
    data = model.SerializeToString()
    (folder / "m.onnx").write_bytes(data)
    entry = '[[suppress]]\nrule = "premature-feature"\nplace = "graph.quantization*"\nreason = "known"\n'
    _run(folder, entry, "--select", "premature-feature")
    assert "no fix: it would also fix what is suppressed" in capsys.readouterr().out
    assert run(["fix", "m.onnx", "--unsafe-fixes", "--select", "premature-feature"]) == 1
    assert (folder / "m.onnx").read_bytes() == data
    capsys.readouterr()
    for place, said in (
        (entry, "1 finding with a fix is suppressed; 1 finding has no fix: it would also fix what is suppressed"),
        (entry.replace('place = "graph.quantization*"\n', ""), "2 findings with a fix are suppressed"),
    ):
        (folder / "onnx-lint.toml").write_text(place)
        assert run(["fix", "--diff", "m.onnx", "--unsafe-fixes", "--select", "premature-feature"]) == 0
        assert capsys.readouterr() == ("", f"nothing to fix; {said}\n")
    assert run(["fix", "--diff", "m.onnx", "--select", "premature-feature"]) == 0
    assert capsys.readouterr().err == "nothing to fix\n", "the fix is unsafe"


def _late_node(folder: Path) -> bytes:
    """A branch returns `b`, and the nodes `U` and `V` use it, before the node that makes it."""
    model = schema.message("ModelProto")(ir_version=8, producer_name="p")
    model.opset_import.add(version=17)
    graph = model.graph
    graph.name = "g"

    def value(values: Any, name: str, kind: int, *dims: int) -> None:
        declared = values.add(name=name).type.tensor_type
        declared.elem_type = kind
        declared.shape.dim.extend([schema.message("TensorShapeProto").Dimension(dim_value=dim) for dim in dims])
        declared.shape.SetInParent()

    value(graph.input, "c", 9)
    value(graph.input, "x", 1, 2)
    holder = graph.node.add(op_type="If", name="I", input=["c"], output=["y"])
    for name, output in (("then_branch", "b"), ("else_branch", "e")):
        branch = holder.attribute.add(name=name, type=5).g
        branch.name = name
        value(branch.output, output, 1, 2)
    branch.node.add(op_type="Abs", name="E", input=["x"], output=["e"])
    for name in ("U", "V"):
        graph.node.add(op_type="Abs", name=name, input=["b"], output=[f"{name}_out"])
        value(graph.output, f"{name}_out", 1, 2)
    value(graph.output, "y", 1, 2)
    graph.node.add(op_type="Neg", name="M", input=["x"], output=["b"])
    data = bytes(model.SerializeToString())
    (folder / "m.onnx").write_bytes(data)
    return data


@pytest.mark.parametrize(
    ("rule", "place"), [("unordered-nodes", "*"), ("unordered-nodes", "V"), ("undefined-name", "b")]
)
def test_a_fix_of_two_rules_is_not_made_if_a_finding_of_either_is_suppressed(folder, capsys, rule, place):
    """One change of the order of nodes mends both findings."""
    data = _late_node(folder)
    entry = f'[[suppress]]\nrule = "{rule}"\nplace = "{place}"\nreason = "known"\n'
    assert _run(folder, "") == 1
    assert "2 fixable with --fix" in capsys.readouterr().out
    assert _run(folder, entry) == 1
    said = capsys.readouterr().out
    assert "no fix: it would also fix what is suppressed" in said
    assert "fixable" not in said
    assert run(["fix", "m.onnx"]) == 1
    assert (folder / "m.onnx").read_bytes() == data


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
        ("[[suppress]]\nrule = 'cycle'", "onnx-lint.toml: suppress[0]: requires a reason"),
        ("[[suppress]]", "onnx-lint.toml: suppress[0]: requires 'rule' and 'reason', but is an empty table"),
        (
            "[[suppress]]\nrule = 'cycle'\nreason = ' \t'",
            "onnx-lint.toml: suppress[0].reason: requires a non-empty string, not ' \\t'",
        ),
        ("\n[[suppress]]\nreason = 'x'", "onnx-lint.toml: suppress[0]: requires a rule"),
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
        "onnx-lint.toml: suppress[2500]: more than 1,000 suppressions of 'cycle' have a place with a * before its end; "
        "write the name, or a * only at the end"
    )
    with pytest.raises(ValueError, match=re.escape(said)):
        lint(folder / "m.onnx", config=path)
    path.write_text("".join([*entries, *entries[:1] * 998, *[entries[0].replace("cycle", "unknown-operator")] * 1_000]))
    lint(folder / "m.onnx", config=path)


def test_a_deletion_that_takes_a_suppressed_finding_with_it_is_neither_promised_nor_made(folder, capsys):
    model = schema.message("ModelProto").FromString((folder / "m.onnx").read_bytes())
    del model.graph.node[:]
    model.graph.node.add(name="used", op_type="Relu", input=["x"], output=["y"])
    for values, name in ((model.graph.input, "x"), (model.graph.output, "y")):
        values.add(name=name).type.tensor_type.elem_type = 1
    for name in ("dead", "deader"):
        node = model.graph.node.add(name=name, op_type="Relu", input=["x"], output=[name])
        if name == "dead":
            node.attribute.add(name="foo", i=1, type=2)
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    entry = '[[suppress]]\nrule = "unknown-operator-attribute"\nreason = "known"\n'
    select = ("--select", "unneeded-node,unknown-operator-attribute")
    _run(folder, entry, "-f", "json", *select)
    found = [each for item in json.loads(capsys.readouterr().out)["files"] for each in item["diagnostics"]]
    assert [(each["node"], "fix" in each) for each in found] == [("dead", False), ("deader", True)]
    assert found[0]["hint"] == "no fix: it would also fix what is suppressed"
    run(["fix", "m.onnx", *select])
    mended = schema.message("ModelProto").FromString((folder / "m.onnx").read_bytes())
    assert [node.name for node in mended.graph.node] == ["used", "dead"]


HEAD = '<ir_version: 10, opset_import: ["": 21], producer_name: "example", producer_version: "1"> g '

SHARED = """(float[2] x, float[2] z) => (float[1] p, float[1] q) <int64[1] i = {4}> {
    [n] p = Gather (x, i)
    [m] q = Gather (z, i)
}"""
OVERFLOWING = "() => (int8[4] y) <int8[4] w = {300, 0, 300, 0}> { y = Identity (w) }"
DECLARED = "(float[2, 3, 4] x) => (float[9, 9, 4] y) { y = Relu (x) }"
DIMENSIONS = "graph.output[0].type.tensor_type.shape.dim"


def _left(folder: Path, graph: str, rule: str, place: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the places of the findings of a rule that an entry for a place leaves."""
    (folder / "m.onnx").write_bytes(onnx.parser.parse_model(HEAD + graph).SerializeToString())
    entry = f'[[suppress]]\nrule = "{rule}"\nreason = "known"\nplace = "{place}"\n'
    _run(folder, entry, "--format", "json", "--select", rule)
    return [item["place"] for file in json.loads(capsys.readouterr().out)["files"] for item in file["diagnostics"]]


@pytest.mark.parametrize(
    ("graph", "rule", "place", "left"),
    [
        (OVERFLOWING, "out-of-range-element", "graph.initializer[0].int32_data[0]", [2]),
        (OVERFLOWING, "out-of-range-element", "graph.initializer[0].int32_data[2]", [0]),
        (OVERFLOWING, "out-of-range-element", "w", []),
        (DECLARED, "contradictory-declared-shape", f"{DIMENSIONS}[0]", [1]),
        (DECLARED, "contradictory-declared-shape", f"{DIMENSIONS}[1]", [0]),
        (DECLARED, "contradictory-declared-shape", "y", []),
    ],
)
def test_an_entry_for_one_element_leaves_the_others_of_the_value(folder, capsys, graph, rule, place, left):
    found = _left(folder, graph, rule, place, capsys)
    assert [int(each.rpartition("[")[2][:-1]) for each in found] == left


@pytest.mark.parametrize(("place", "count"), [("m", 1), ("n", 1), ("i", 0), ("other", 2)])
def test_an_entry_may_name_one_of_the_nodes_that_share_an_initializer(folder, capsys, place, count):
    """The finding is at the initializer, which both nodes read."""
    left = _left(folder, SHARED, "unsupported-operand-value", place, capsys)
    assert len(left) == (1 if count else 0)  # findings of one cause are one
    run(["m.onnx", "--format", "json", "--select", "unsupported-operand-value"])
    found = [each for file in json.loads(capsys.readouterr().out)["files"] for each in file["diagnostics"]]
    assert sum(each.get("count", 1) for each in found) == count


def test_one_of_two_wrong_calls_of_a_function_is_suppressed_alone(folder: Path, capsys: pytest.CaptureFixture[str]):
    made = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 21, "my": 1]> g (bool[2] x) => (bool[2] y, bool[2] z)'
        " { [c0] y = my.F (x) [c1] z = my.F (x) }"
    )
    body = [onnx.helper.make_node("Abs", ["a"], ["c"], name="fa")]
    made.functions.append(onnx.helper.make_function("my", "F", ["a"], ["c"], body, [onnx.helper.make_opsetid("", 21)]))
    Path("m.onnx").write_bytes(made.SerializeToString())
    entry = '[[suppress]]\nrule = "mismatched-operand-type"\nplace = "c1"\nreason = "r"\n'
    Path("onnx-lint.toml").write_text(entry)
    run(["m.onnx"])
    found = capsys.readouterr().out
    assert "functions[0].node[0].input[0]" in found
    assert "more call" not in found
    Path("onnx-lint.toml").write_text(entry + entry.replace("c1", "c0"))
    run(["m.onnx"])
    assert "functions[0]" not in capsys.readouterr().out


ELEMENTS = {
    "impossible-operator-extent": (
        "(float[1, 1, 9, 9] x, float[1, 1, 3, 3] w) => (y) { [n] y = Conv <strides = [0, 0]> (x, w) }",
        "strides[0]",
        "element 1",
    ),
    "unsupported-operand-value": (
        "(float[2] x) => (y) <int64[2] w = {9, 8}> { [n] y = Gather (x, w) }",
        "w[0]",
        "element 1",
    ),
    "impossible-number": (
        "(float[2] x) => (y) { [n] w = Constant <value_floats = [nan, nan]> () y = Add (x, w) }",
        "value_floats[0]",
        "element 1",
    ),
}
"""Graphs with two wrong elements that have no place of their own, the name of one, and the words about the other."""


@pytest.mark.parametrize("rule", ELEMENTS)
def test_an_element_without_a_place_of_its_own_is_suppressed_alone(rule: str, folder: Path, capsys):
    graph, place, other = ELEMENTS[rule]
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 21]> g {graph.replace("nan", "0.5")}')
    for attribute in model.graph.node[0].attribute if "nan" in graph else ():
        attribute.floats[:] = [float("nan")] * 2
    Path("m.onnx").write_bytes(model.SerializeToString())
    entry = f'[[suppress]]\nrule = "{rule}"\nplace = "{place}"\nreason = "r"\n'
    assert _messages(entry, rule, capsys) == [other]
    assert _messages(entry + entry.replace("[0]", "[1]"), rule, capsys) == []


def _messages(entries: str, rule: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    Path("onnx-lint.toml").write_text(entries)
    run(["m.onnx", "--format", "json", "--extend-select", rule])
    [file] = json.loads(capsys.readouterr().out)["files"]
    found = [each["message"] for each in file["diagnostics"] if each["rule"] == rule]
    return [" ".join(message.split()[:2]) for message in found]


def test_one_of_two_bytes_of_raw_data_is_suppressed_alone(folder: Path, capsys: pytest.CaptureFixture[str]):
    model = onnx.parser.parse_model('<ir_version: 10, opset_import: ["": 21]> g (bool[2] x) => (y) { y = And (x, w) }')
    model.graph.initializer.add(name="w", data_type=9, dims=[2], raw_data=b"\x07\x07")
    Path("m.onnx").write_bytes(model.SerializeToString())
    entry = '[[suppress]]\nrule = "non-boolean-byte"\nplace = "graph.initializer[0].raw_data[0]"\nreason = "r"\n'
    assert _messages(entry, "non-boolean-byte", capsys) == ["byte 1"]


def test_one_of_two_dimensions_with_a_wrong_denotation_is_suppressed_alone(folder: Path, capsys):
    model = onnx.parser.parse_model('<ir_version: 10, opset_import: ["": 21]> g (float[2, 2] x) => (y) { y = Abs (x) }')
    for dimension in model.graph.input[0].type.tensor_type.shape.dim:
        dimension.denotation = "FOO"
    Path("m.onnx").write_bytes(model.SerializeToString())
    rule = "unknown-denotation"
    assert "the value has it in 1 more place" in lint("m.onnx").diagnostics[0].message
    place = "graph.input[0].type.tensor_type.shape.dim[0].denotation"
    entry = f'[[suppress]]\nrule = "{rule}"\nplace = "{place}"\nreason = "r"\n'
    Path("onnx-lint.toml").write_text(entry)
    run(["m.onnx"])
    assert "dimension 1" in capsys.readouterr().out


IR_VERSION = "(float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }"
"""A graph of IR version 3 with an initializer that is no input; its metadata needs IR version 10."""


def test_fix_promises_no_fix_that_it_would_refuse(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch):
    model = onnx.parser.parse_model(f'<ir_version: 3, opset_import: ["": 8]> g {IR_VERSION}')
    model.graph.initializer[0].metadata_props.add(key="a", value="b")
    Path("m.onnx").write_bytes(model.SerializeToString())
    Path("onnx-lint.toml").write_text('[[suppress]]\nrule = "initializer-without-input"\nreason = "r"\n')
    tried = []
    whole = engine._lint_again
    monkeypatch.setattr(engine, "_lint_again", lambda *given: tried.append(given[2]) or whole(*given))
    said = "1 finding has no fix: it would also fix what is suppressed"
    for arguments in (["--diff"], ["--diff", "--unsafe-fixes"]):
        run(["fix", "m.onnx", *arguments])
        found = capsys.readouterr().err
        assert said in found
        assert "has an unsafe fix" not in found
    run(["fix", "m.onnx"])
    assert "no fix: it would also fix what is suppressed" in capsys.readouterr().out
    run(["m.onnx", "--format", "json"])
    [file] = json.loads(capsys.readouterr().out)["files"]
    assert [each.get("fix") for each in file["diagnostics"]] == [None] * len(file["diagnostics"])
    assert tried
    assert {tuple(rules) for rules in tried} == {("initializer-without-input",)}


@pytest.mark.parametrize("names", [("a", "b", "c"), ("a", "b")])
def test_a_copy_promises_no_fix_that_was_refused(folder: Path, capsys: pytest.CaptureFixture[str], names: list[str]):
    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) { y = Relu (x) }'
    )
    for name in names:
        model.graph.value_info.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]))
    Path("m.onnx").write_bytes(model.SerializeToString())
    rule, place = "unknown-value-info-name", f"graph.value_info[{len(names) - 1}]"
    Path("onnx-lint.toml").write_text(f'[[suppress]]\nrule = "{rule}"\nplace = "{place}"\nreason = "r"\n')
    run(["fix", "m.onnx", "--output", "fixed", "-f", "json"])
    (file,) = json.loads(capsys.readouterr().out)["files"]
    (found,) = file["diagnostics"]
    assert found["rule"] == rule
    assert found.get("fix") is None
    assert found["hint"] == "no fix: it would also fix what is suppressed"


STRIDES = """<ir_version: 10, opset_import: ["": 21]>
g (float[1, 3, 8, 8] x, float[4, 3, 3, 3] w) => () { [c] y = Conv <strides = [0, 0]> (x, w) }"""
BYTES = '<ir_version: 10, opset_import: ["": 21]> g () => () { y = Not (w) }'
ENTRIES = '<ir_version: 10, opset_import: ["": 21]> g () => () { y = Identity (w) }'


def _with_weights(text: str) -> onnx.ModelProto:
    model = onnx.parser.parse_model(text)
    if text == BYTES:
        model.graph.initializer.add(name="w", data_type=onnx.TensorProto.BOOL, dims=[6], raw_data=b"\2\0\3\0\4\0")
    if text == ENTRIES:
        model.graph.initializer.add(name="w", data_type=onnx.TensorProto.UINT8, dims=[4], int32_data=[999, 2, -3, 1000])
    return model


@pytest.mark.parametrize(
    ("text", "rule", "place", "hint"),
    [
        (
            STRIDES,
            "impossible-operator-extent",
            "strides[7]",
            "it has findings at 'strides[0]' (node 'c'), 'strides[1]'",
        ),
        (
            STRIDES,
            "impossible-operator-extent",
            "graph.node[0].attribute[0].ints[1]",
            "did you mean 'graph.node[0].attribute[0][1]'?",
        ),
        (BYTES, "non-boolean-byte", "w[1]", "it has findings at 'w[0]', 'w[2]', 'w[4]'\n"),
        (ENTRIES, "out-of-range-element", "nowhere", "it has findings at 'w[0]', 'w[2]', 'w[3]'\n"),
    ],
)
def test_an_entry_without_a_finding_names_the_elements(folder, capsys, text, rule, place, hint):
    """The name of the value would hide all elements."""
    model = _with_weights(text)
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    _run(folder, f'[[suppress]]\nrule = "{rule}"\nreason = "known"\nplace = "{place}"\n')
    assert f"matches no finding; {hint}" in capsys.readouterr().err


def test_an_entry_of_a_list_of_a_tensor_can_be_named_by_the_name_of_the_tensor(folder, capsys):
    (folder / "m.onnx").write_bytes(_with_weights(ENTRIES).SerializeToString())
    entry = '[[suppress]]\nrule = "out-of-range-element"\nreason = "known"\nplace = "{}"\n'
    _run(folder, "".join(entry.format(place) for place in ("w[2]", "graph.initializer[0].int32_data[3]")), "-f", "json")
    found = capsys.readouterr()
    assert found.err == ""
    (file,) = json.loads(found.out)["files"]
    left = [each["message"] for each in file["diagnostics"] if each["rule"] == "out-of-range-element"]
    assert [message.partition(" of ")[0] for message in left] == ["entry 0"]
    assert "more" not in left[0]


def test_the_second_of_two_equal_entries_is_told(folder, capsys):
    _run(folder, '[[suppress]]\nrule = "unknown-operator"\nreason = "known"\nplace = "second"\n' * 2)
    said = (
        "the suppression of unknown-operator matches no finding; it has the same place as onnx-lint.toml: suppress[0]"
    )
    assert capsys.readouterr().err == f"Warning: onnx-lint.toml: suppress[1]: {said}\n"


def test_an_entry_without_a_finding_names_the_calls_that_lead_to_one(folder, capsys):
    text = """<ir_version: 10, opset_import: ["": 21, "com.example": 1]>
    g (float[2] x, int64[2] k) => (float[2] a, float[2] b) {
      [c0] a = com.example.f (x, k)
      [c1] b = com.example.f (x, k)
    }
    <domain: "com.example", opset_import: ["": 21]> f (p, s) => (r) { [i0] r = Add (p, s) }"""
    (folder / "m.onnx").write_bytes(onnx.parser.parse_model(text).SerializeToString())
    _run(folder, '[[suppress]]\nrule = "mismatched-operand-type"\nreason = "known"\nplace = "nowhere"\n')
    assert "it has findings at 's' (nodes 'i0', 'c0', 'c1')\n" in capsys.readouterr().err
