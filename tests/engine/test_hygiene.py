# SPDX-License-Identifier: Apache-2.0
"""The chapter `hygiene` is selected by name alone, and does not decide whether a model conforms."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.project.built_in_rules import RULES
from support.project.checkout import ROOT

from onnx_lint import lint, schema
from onnx_lint.cli.application import run


def _model() -> bytes:
    model = schema.message("ModelProto")(ir_version=10, producer_name="test")
    model.opset_import.add(version=21)
    model.opset_import.add(domain="com.example", version=1)
    model.graph.name = "g"
    model.graph.initializer.add(name="w", data_type=1, dims=[1], float_data=[1])
    model.graph.initializer.add(name="y", data_type=1, dims=[1], float_data=[1])
    output = model.graph.output.add(name="y")
    output.type.tensor_type.elem_type = 1
    output.type.tensor_type.shape.dim.add(dim_value=1)
    return model.SerializeToString()


def _rules(**options) -> set[str]:
    return {each.rule for each in lint(_model(), config=options.pop("config", False), settings=options).diagnostics}


@pytest.mark.parametrize("options", [{}, {"pedantic": True}, {"select": ["note"]}])
def test_keywords_and_pedantic_do_not_select_it(options):
    assert "unused-initializer" not in _rules(**options)


@pytest.mark.parametrize("name", ["hygiene", "unused-initializer", "ALL"])
def test_its_name_and_those_of_its_rules_do(name, tmp_path):
    assert "unused-initializer" in _rules(select=[name])
    (tmp_path / "onnx-lint.toml").write_text(f'extend-select = ["{name}"]', encoding="utf-8")
    assert "unused-initializer" in _rules(config=tmp_path / "onnx-lint.toml")


def test_clauses_that_many_models_break_are_selected_by_the_name_of_their_rule():
    nodes = "".join(f'node {{ op_type: "Identity" input: "{name}" output: "y{name}" }}' for name in ("x", "yx", "yyx"))
    values = (f'put {{ name: "{name}" type {{ tensor_type {{ elem_type: 1 }} }} }}' for name in ("x", "yx"))
    inside = f'graph {{ name: "g" in{next(values)} out{next(values)} {nodes} }}'
    text = f'ir_version: 10 producer_name: "test" opset_import {{ version: 21 }} {inside}'.encode()

    def rules(**options) -> set[str]:
        return {each.rule for each in lint(text, filename="model.textproto", **options).diagnostics}

    assert rules(select=["hygiene"]) == {"unneeded-node"}  # but neither ineffective-node nor unnamed-node
    assert rules(select=["ineffective-node"]) == {"ineffective-node"}
    assert "ineffective-node" in rules(settings={"extend_select": ["ineffective-node"]})
    assert rules(select=["ALL"]) >= {"ineffective-node", "unnamed-node"}
    assert rules(select=["unnamed-node", "cycle"], ignore=["hygiene"]) == set()


@pytest.mark.parametrize("nodes", [0, 1])
def test_nothing_is_deleted_from_a_graph_without_outputs(nodes: int, tmp_path: Path):
    """It may be a file of weights, or its output was forgotten: all of it would be deleted, as a safe fix."""
    model = schema.message("ModelProto")()
    model.ParseFromString(_model())
    del model.graph.output[:]
    for _ in range(nodes):
        model.graph.node.add(op_type="Neg", name="neg", input=["w"], output=["z"])
    file = tmp_path / "m.onnx"
    file.write_bytes(model.SerializeToString())
    assert run(["fix", str(file), "--select", "hygiene", "--unsafe-fixes"]) == 0
    assert file.read_bytes() == model.SerializeToString()
    found = {each.rule for each in lint(file, config=False, settings={"select": ["hygiene"]}).diagnostics}
    assert found.isdisjoint({"unneeded-node", "unused-initializer"})


@pytest.mark.parametrize(("others", "is_reported"), [(27, True), (28, False)])
def test_nodes_that_do_little_are_reported_if_they_are_a_tenth_of_all(others, is_reported):
    steps = [*["Abs"] * (others - 1), *["Flatten"] * 3, "Neg"]
    nodes = "".join(f'node {{ op_type: "{step}" input: "v{at}" output: "v{at + 1}" }}' for at, step in enumerate(steps))
    shape = "shape { dim { dim_value: 2 } dim { dim_value: 3 } }"
    given, taken = (
        f'put {{ name: "v{at}" type {{ tensor_type {{ elem_type: 1 {shape} }} }} }}' for at in (0, len(steps))
    )
    text = f'ir_version: 10 opset_import {{ version: 21 }} graph {{ name: "g" in{given} out{taken} {nodes} }}'.encode()
    for name, expected in (("hygiene", [3] * is_reported), ("ineffective-node", [3])):
        assert [each.count for each in lint(text, filename="model.textproto", select=[name]).diagnostics] == expected


def test_a_model_with_such_findings_conforms():
    report = lint(_model(), {"severity": {"unused-initializer": "error"}}, select=["ALL"], ignore=["warning"])
    assert report.conforms
    assert [each.cited.declared_by for each in report.diagnostics if each.rule == "unused-initializer"] == ["hygiene"]


def test_its_page_lists_each_of_its_rules():
    page = (ROOT / "docs" / "hygiene.md").read_text(encoding="utf-8")
    table, _, _ = page.partition("## What it finds")
    missing = [name for name, entry in RULES.items() if entry.chapter == "hygiene" and f"| `{name}` |" not in table]
    assert missing == [], "add a row to the table at the top of docs/hygiene.md"
