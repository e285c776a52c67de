# SPDX-License-Identifier: Apache-2.0
"""The wrong examples in the documentation of a rule get the rule's finding, and the right ones get none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf import text_format
from support.project.built_in_rules import check_each_rule
from support.project.fixture_files import lint
from support.project.rule_examples import CORRECTION, EXAMPLE, NEWEST, blocks, completed, written

from onnx_lint.common.record import replace
from onnx_lint.engine.registry import Registered
from onnx_lint.report.findings import Diagnostic
from onnx_lint.reporters.documentation import rule_markdown
from onnx_lint.reporters.sarif_rules import sarif_rules
from onnx_lint.spec.clauses import Severity
from onnx_lint.spec.standard import DEFAULT_STANDARD


def _found(block: str, entry: Registered, folder: Path) -> tuple[Diagnostic, ...]:
    fixture = written(block, folder)
    settings = fixture.settings
    if not settings.select:
        settings = replace(settings, extend_select=(*settings.extend_select, entry.id))
    return lint(fixture.model(), settings)


def test_the_example_draws_the_finding(tmp_path: Path):
    def check(entry: Registered) -> Iterator[str]:
        shown = blocks(entry.rule, EXAMPLE)
        if not shown:
            yield "the example has no block"
        for number, block in enumerate(shown):
            found = _found(block, entry, tmp_path / str(number) / entry.id / "invalid")
            if entry.id not in {diagnostic.rule for diagnostic in found}:
                yield f"block {number} of the example has no finding of the rule"

    check_each_rule(check)


def test_the_correction_draws_neither_the_finding_nor_an_error(tmp_path: Path):
    def check(entry: Registered) -> Iterator[str]:
        shown = blocks(entry.rule, CORRECTION)
        if not shown:
            yield "the example has no corrected block"
        for number, block in enumerate(shown):
            for item in _found(block, entry, tmp_path / str(number) / entry.id / "valid"):
                if item.rule == entry.id or item.severity is Severity.ERROR:
                    yield f"block {number} of the corrected example has the finding {item.rule}: {item.message}"

    check_each_rule(check)


def test_explain_and_sarif_show_the_correction():
    edition = DEFAULT_STANDARD.edition

    def check(entry: Registered) -> Iterator[str]:
        (described,) = sarif_rules([entry.id], edition)
        for where, shown in {"explain": rule_markdown(entry, edition), "SARIF": described["help"]["markdown"]}.items():
            if not all(f"\n{line}\n" in shown for line in (f"### {EXAMPLE}", CORRECTION)):
                yield f"{where} has no corrected example"
            if not all(f"```\n{block}```" in shown for block in blocks(entry.rule, CORRECTION)):
                yield f"{where} lacks a corrected block"

    check_each_rule(check)


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
