# SPDX-License-Identifier: Apache-2.0
"""The edits that reports list for a model in text form make what `onnx-lint fix` makes."""

from __future__ import annotations

import io
import json
import random
from base64 import b64decode
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support.fixes.layouts import laid_out, written
from support.fixes.safe import SAFE
from support.fixes.unsafe import UNSAFE
from support.project.checkout import TESTS

from onnx_lint import lint, schema
from onnx_lint.engine import proposed_fixes
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.files import Mending, fix_file
from onnx_lint.ir.places.splices import EditError
from onnx_lint.library import Report
from onnx_lint.reporters import write_report
from onnx_lint.text_edits.text_splices import TextSplicer

SARIF = jsonschema.Draft202012Validator(
    json.loads((TESTS / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
)
STALE = """# ö
ir_version: 10 producer_name: "p" producer_version: "1" opset_import { version: 21 }
graph {
  name: "g" # ß
  value_info { name: "gone" }
}
"""


def _report(form: str, report: Report) -> Any:
    stream = io.StringIO()
    write_report(form, report, stream)
    return json.loads(stream.getvalue())


def _fixes(report: Report) -> list[Any]:
    sarif = _report("sarif", report)
    SARIF.validate(sarif)
    return [result["fixes"] for result in sarif["runs"][0]["results"] if "fixes" in result]


def _edited_by_lines(text: str, fixes: Any) -> str:
    """Make the edits of a SARIF log as an editor does: by line and column."""
    ((fix,),) = fixes
    (change,) = fix["artifactChanges"]
    mark, text = text[: text.startswith("\ufeff")], text.removeprefix("\ufeff")
    starts = [0, *(index + 1 for index, each in enumerate(text) if each == "\n")]

    def position(line: int, column: int) -> int:
        return starts[line - 1] + column - 1

    for each in reversed(change["replacements"]):
        region = each["deletedRegion"]
        start, end = (position(region[f"{side}Line"], region[f"{side}Column"]) for side in ("start", "end"))
        text = text[:start] + each["insertedContent"]["text"] + text[end:]
    return mark + text


def _edited_by_bytes(data: bytes, report: Report) -> bytes:
    (item,) = _report("json", report)["files"][0]["diagnostics"]
    for each in reversed(item["fix"]["bytes"]):
        end = each["offset"] + each["length"]
        data = data[: each["offset"]] + b64decode(each["replacement"]) + data[end:]
    return data


def test_the_edits_in_reports_make_what_a_fix_makes(tmp_path: Path):
    choose = random.Random(30)
    compared = 0
    for case in (case for case in (*SAFE, *UNSAFE) if not case.first[0] and not case.files):
        old = schema.message("ModelProto").FromString(case.models()[0])
        for form, mark in (("textproto", ""), ("textproto", "\ufeff"), ("json", "")):
            text = mark + laid_out(written(old, form, choose), form, choose)
            path = tmp_path / f"model.{form}"
            path.write_bytes(text.encode())
            report = lint(path, select=case.rule, options={case.rule: case.options})
            fixes = _fixes(report)
            settings = Settings(select=(case.rule,), options={case.rule: case.options})
            fixed = fix_file(str(path), settings, Mending(unsafe=True))
            assert fixed.repair is not None
            if len(report.diagnostics) == len(fixes) == 1 and fixed.diagnostics == ():
                assert _edited_by_lines(text, fixes).encode() == path.read_bytes(), text
                assert _edited_by_bytes(text.encode(), report) == path.read_bytes()
                compared += 1
    assert compared > 40


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_lines_and_columns_are_those_of_the_file(line_end: str):
    text = STALE.replace("\n", line_end)
    fixes = _fixes(lint(text.encode(), select="unknown-value-info-name"))
    assert _edited_by_lines(text, fixes) == text.replace(f'  value_info {{ name: "gone" }}{line_end}', "")
    (replacement,) = fixes[0][0]["artifactChanges"][0]["replacements"]
    assert replacement == {
        "deletedRegion": {"startLine": 5, "startColumn": 1, "endLine": 6, "endColumn": 1},
        "insertedContent": {"text": ""},
    }


@pytest.mark.parametrize("step", ["splices_of", "problem"])
def test_a_fix_that_cannot_be_made_in_the_text_has_no_bytes(step: str, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> str:
        if step == "problem":
            return "the text would not be what the edits require"
        raise EditError("the text has an unusual value")

    monkeypatch.setattr(TextSplicer, step, refuse)
    (found,) = lint(STALE.encode(), select="unknown-value-info-name").diagnostics
    assert found.fix is not None
    assert (len(found.fix.edits), found.fix.patches) == (1, ())


def test_a_large_text_is_not_read_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(proposed_fixes, "MOST_TEXT_BYTES", len(STALE))
    (found,) = lint(STALE.encode(), select="unknown-value-info-name").diagnostics
    assert found.fix is not None
    assert (len(found.fix.edits), found.fix.patches) == (1, ())
