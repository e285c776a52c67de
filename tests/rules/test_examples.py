# SPDX-License-Identifier: Apache-2.0
"""What the documentation of a rule shows as wrong draws the rule's finding, and what it shows as right draws none."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf import text_format
from support.project.fixture_files import lint
from support.project.rule_examples import CORRECTION, EXAMPLE, NEWEST, blocks, completed, written

from onnx_lint.common.record import replace
from onnx_lint.engine.registry import Registered, registry
from onnx_lint.report import Diagnostic
from onnx_lint.reporters.documentation import rule_markdown
from onnx_lint.reporters.sarif_rules import sarif_rules
from onnx_lint.spec.clauses import Severity
from onnx_lint.spec.standard import DEFAULT_STANDARD

RULES = {name: entry for name, entry in registry().items() if entry.plugin is None}

each_rule = pytest.mark.parametrize("entry", RULES.values(), ids=RULES)


def _found(block: str, entry: Registered, folder: Path) -> tuple[Diagnostic, ...]:
    fixture = written(block, folder)
    settings = fixture.settings
    if not settings.select:
        settings = replace(settings, extend_select=(*settings.extend_select, entry.id))
    return lint(fixture.model(), settings)


@each_rule
def test_the_example_draws_the_finding(entry: Registered, tmp_path: Path):
    shown = blocks(entry.rule, EXAMPLE)
    assert shown, "the section 'Example' has a block"
    for number, block in enumerate(shown):
        found = _found(block, entry, tmp_path / str(number) / entry.id / "invalid")
        assert entry.id in {diagnostic.rule for diagnostic in found}


@each_rule
def test_the_correction_draws_neither_the_finding_nor_an_error(entry: Registered, tmp_path: Path):
    shown = blocks(entry.rule, CORRECTION)
    assert shown, "the section 'How to fix' has a block"
    for number, block in enumerate(shown):
        found = _found(block, entry, tmp_path / str(number) / entry.id / "valid")
        assert [item for item in found if item.rule == entry.id or item.severity is Severity.ERROR] == []


@each_rule
def test_explain_and_sarif_show_the_correction(entry: Registered):
    edition = DEFAULT_STANDARD.edition
    (described,) = sarif_rules([entry.id], edition)
    for shown in (rule_markdown(entry, edition), described["help"]["markdown"]):
        headings = [line for line in shown.splitlines() if line in {f"### {EXAMPLE}", f"### {CORRECTION}"}]
        assert headings == [f"### {EXAMPLE}", f"### {CORRECTION}"]
        assert [block for block in blocks(entry.rule, CORRECTION) if f"```\n{block}```" not in shown] == []


def test_what_an_excerpt_leaves_out_is_put_in():
    model = completed('node { op_type: "F" domain: "com.example" input: "x" output: "y" }')
    assert (model.ir_version, model.graph.name) == (NEWEST.ir_version, "graph")
    assert {pair.domain: pair.version for pair in model.opset_import} == {
        "": NEWEST.ai_onnx,
        "com.example": 1,
        "com.example.around": 1,
    }
    assert [list(node.output) for node in model.graph.node] == [["x"], ["y"]]


def test_what_an_excerpt_states_stays_as_it_is():
    excerpt = 'ir_version: 3 graph { node { input: "x" output: "y" op_type: "Relu" } } opset_import { version: 7 }'
    model = completed(excerpt)
    assert text_format.MessageToString(model, as_one_line=True) == excerpt


def test_an_excerpt_of_fields_that_do_not_exist_is_refused():
    with pytest.raises(text_format.ParseError):
        completed('nodes { op_type: "Relu" }')
