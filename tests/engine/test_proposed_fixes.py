# SPDX-License-Identifier: Apache-2.0
"""Fixes in reports: the edits, and the bytes that a reader of the report can replace without onnx-lint."""

from __future__ import annotations

import io
import json
from base64 import b64decode
from functools import partial

import jsonschema
import pytest
from google.protobuf import text_format
from support.project.checkout import ROOT, TESTS

from onnx_lint import lint, schema
from onnx_lint.engine import proposed_fixes
from onnx_lint.engine.lint import LintOptions, lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.places.edits import Fix
from onnx_lint.library import Report
from onnx_lint.reporters import write_report

NODES = 'node { op_type: "Abs" input: "a" output: "y" } node { op_type: "Relu" input: "x" output: "a" }'
MODEL = f"""ir_version: 10 opset_import {{ version: 21 }} graph {{ name: "g" {NODES} input {{ name: "x" }}
value_info {{ name: "{"long" * 40}" }} value_info {{ name: "gone" }} }}"""
RULES = ("unordered-nodes", "unknown-value-info-name")


def _data() -> bytes:
    proto = text_format.Parse(MODEL, schema.message("ModelProto")(), descriptor_pool=schema.pool())
    data: bytes = proto.SerializeToString(deterministic=True)
    return data


def _written(form: str, report: Report) -> dict:
    stream = io.StringIO()
    write_report(form, report, stream)
    return json.loads(stream.getvalue())


def _patched(data: bytes, patches: list[tuple[int, int, str]]) -> bytes:
    for offset, length, new in reversed(patches):
        data = data[:offset] + b64decode(new) + data[offset + length :]
    return data


def test_the_bytes_in_a_report_mend_the_finding():
    data = _data()
    written = _written("json", lint(data, select=RULES))
    jsonschema.validate(written, json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8")))
    found = written["files"][0]["diagnostics"]
    assert sorted(item["rule"] for item in found) == sorted(RULES)
    for item in found:
        patches = [(each["offset"], each["length"], each["replacement"]) for each in item["fix"]["bytes"]]
        rules = {other.rule for other in lint(_patched(data, patches), select=RULES).diagnostics}
        assert rules == {*RULES} - {item["rule"]}
        assert item["fix"]["safe"] is True
    (moved,) = (item["fix"]["edits"] for item in found if item["rule"] == "unordered-nodes")
    assert moved == [{"edit": "move", "place": "graph.node[1]", "pointer": "/graph/node/1", "before": 0}]
    (deleted,) = (item["fix"]["edits"] for item in found if item["rule"] == "unknown-value-info-name")
    assert [edit["place"] for edit in deleted] == ["graph.value_info[0]", "graph.value_info[1]"]


def test_sarif_has_the_bytes_as_fixes():
    data = _data()
    written = _written("sarif", lint(data, select="unordered-nodes"))
    jsonschema.validate(written, json.loads((TESTS / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8")))
    (result,) = written["runs"][0]["results"]
    (fix,) = result["fixes"]
    assert fix["description"]["text"].endswith("into topological order (safe)")
    (change,) = fix["artifactChanges"]
    regions = [(each["deletedRegion"], each["insertedContent"]["binary"]) for each in change["replacements"]]
    patches = [(region["byteOffset"], region["byteLength"], new) for region, new in regions]
    assert lint(_patched(data, patches), select="unordered-nodes").diagnostics == ()


def test_a_report_keeps_no_edits():
    report = lint(_data(), select=RULES)
    assert [(item.advice.edits, item.fix is None) for item in report.diagnostics] == [(None, False)] * 2


@pytest.mark.parametrize(("bound", "has_edits"), [("MAX_EDITS", False), ("MAX_BYTES", True), ("MAX_FIXES", False)])
def test_large_fixes_are_described_by_their_sentence(monkeypatch: pytest.MonkeyPatch, bound: str, has_edits: bool):
    monkeypatch.setattr(proposed_fixes, bound, 0 if bound != "MAX_FIXES" else -1)
    (found,) = lint(_data(), select="unordered-nodes").diagnostics
    assert found.fix is not None
    assert found.fix.message == "move 1 node of main graph 'g' into topological order"
    assert (bool(found.fix.edits), found.fix.patches) == (has_edits, ())


@pytest.mark.parametrize(("unsafe", "made"), [(None, 0), (False, 0), (True, 1)], ids=["report", "safe", "unsafe"])
def test_the_edits_of_a_large_fix_are_made_only_to_fix_the_file(
    unsafe: bool | None, made: int, monkeypatch: pytest.MonkeyPatch
):
    dims = "dim { dim_value: -1 } " * 2_000
    shape = f"type {{ tensor_type {{ elem_type: 1 shape {{ {dims} }} }} }}"
    model = text_format.Parse(
        f'ir_version: 10 graph {{ name: "g" input {{ name: "x" {shape} }} output {{ name: "x" {shape} }} }}',
        schema.message("ModelProto")(),
        descriptor_pool=schema.pool(),
    )
    source, settings = BytesSource(model.SerializeToString()), Settings(select=frozenset({"negative-dimension"}))
    calls: list[int] = []
    with_edits = Fix.with_edits
    monkeypatch.setattr(Fix, "with_edits", lambda fix: calls.append(1) or with_edits(fix))
    run = partial(lint_source, path="model.onnx", settings=settings)
    report = (
        run(source)
        if unsafe is None
        else run(source, options=LintOptions(keeps_edits=lambda fix: unsafe or fix.is_safe))
    )
    (found,) = report.diagnostics
    assert (found.count, found.fix is None, bool(calls)) == (4_000, False, bool(made))
    assert len(found.advice.edits.edits if found.advice.edits else ()) == 4_000 * made
