# SPDX-License-Identifier: Apache-2.0
"""Each fix of the built-in rules: the model before and after, and what stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx_lint.rules.hygiene import long_encoding
from support.fixes.case import FLOATS, Case, graph, imports
from support.fixes.deleting import DELETING
from support.fixes.safe import SAFE
from support.fixes.unsafe import UNSAFE, branch, choice
from support.project.checkout import ROOT

from onnx_lint import lint, schema
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.files import FixOptions, fix_file

CASES = [*SAFE, *UNSAFE, *DELETING]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}{': ' if case.id else ''}{case.id}")
def test_a_fix_makes_the_bytes_of_a_model_without_the_fault(case: Case, tmp_path: Path):
    path = tmp_path / "model.onnx"
    old, new = case.models()
    path.write_bytes(old)
    for name, content in case.files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    settings = Settings(select=(case.rule,), options={case.rule: case.options})
    report = fix_file(str(path), settings, FixOptions())
    assert path.read_bytes() == (new if case.safe else old)
    if not case.safe:
        assert {item.rule for item in report.diagnostics} == {case.rule}
        report = fix_file(str(path), settings, FixOptions(unsafe=True))
        assert path.read_bytes() == new
    assert report.repair is not None
    if old != new:
        assert report.diagnostics == ()
        assert [rule for rule, _ in report.repair.fixed] == [case.rule]
    again = fix_file(str(path), settings, FixOptions(unsafe=True))
    assert again.repair is not None
    assert again.repair.count == 0


def test_each_rule_with_a_fix_has_a_case_and_says_so_in_its_documentation():
    rules = {path.stem.replace("_", "-"): path.read_text(encoding="utf-8") for path in (ROOT / "rules").rglob("*.py")}
    with_fix = {rule for rule, source in rules.items() if "fix=" in source}
    # The last one writes another file: test_data_files.py.
    assert with_fix == {case.rule for case in CASES if case.is_mended} | {"dead-external-data"}
    for rule in with_fix:
        assert "`onnx-lint fix" in rules[rule], rule
        assert ("(safe)" in rules[rule]) or ("(unsafe" in rules[rule]), rule
    said = {rule for rule, source in rules.items() if "`onnx-lint fix" in source}
    assert said == with_fix


def test_rules_that_make_names_at_once_do_not_make_the_same_one(tmp_path: Path):
    path = tmp_path / "model.onnx"
    inner = (
        'node { name: "1" op_type: "Relu" input: "v" output: "x" } node { op_type: "Neg" input: "x" output: "x.1" } '
        f'node {{ op_type: "n1" domain: "d" input: "x" input: "x.1" output: "t" }} output {{ name: "t" {FLOATS} }}'
    )
    whether = choice(f'g {{ name: "t" {inner} }}', branch("e", "u"))
    outer = f'node {{ name: "v" op_type: "Abs" input: "x" output: "v" }} {whether}'
    path.write_bytes(Case("", graph(outer, imports(("d", 1))), "").models()[0])
    fix_file(str(path), Settings(select=("shadowed-name", "non-c90-name", "unnamed-node")), FixOptions(unsafe=True))
    fixed = schema.message("ModelProto").FromString(path.read_bytes()).graph.node[1].attribute[0].g
    assert [[*node.input, *node.output] for node in fixed.node] == [
        ["v", "x_2"],
        ["x_2", "x_1"],
        ["x_2", "x_1", "t"],
    ]
    assert [node.name for node in fixed.node] == ["n1", "Neg", "n1_1"]


def test_more_long_numbers_than_fit_into_memory_get_no_fix(monkeypatch: pytest.MonkeyPatch):
    data = b"\x08\x0a" + b"\x72\x85\x00\x0a\x01k\x12\x00" * 3 + b"\x3a\x03\x12\x01g"
    (found,) = lint(data, select="long-encoding").diagnostics
    assert found.fix is not None
    monkeypatch.setattr(long_encoding, "_MAX_SHORTENED", 2)
    (found,) = lint(data, select="long-encoding").diagnostics
    assert (found.count, found.fix) == (3, None)
