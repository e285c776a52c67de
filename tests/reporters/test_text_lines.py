# SPDX-License-Identifier: Apache-2.0
"""A finding in a model in text form has its line and column in each form of report."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from google.protobuf import json_format, text_format
from support.project.checkout import ROOT

from onnx_lint import lint, schema
from onnx_lint.reporters import Options, write_report

MODEL = """\
ir_version: 10
producer_name: "somebody" opset_import { version: 21 }
graph {
  name: "g"
  input { name: "x" type { tensor_type { elem_type: FLOAT shape { dim { dim_value: 3 } } } } }
  node { name: "é\t" op_type: "Relu" input: ["x"] output: ["y"] }
  node { name: "second" op_type: "Relu" input: ["x"] output: ["y"] }
  output { name: "y" type { tensor_type { elem_type: FLOAT shape { dim { dim_value: 3 } } } } }
}
""".replace("FLOAT", "1")
PLACE, RELATED = "graph.node[1].output[0]", "graph.node[0].output[0]"
POSITION, RELATED_POSITION = ((line, MODEL.split("\n")[line - 1].index('["y"]') + 2) for line in (7, 6))
LINE, COLUMN = POSITION


def written(path: Path, form: str, **options: Any) -> str:
    stream = io.StringIO()
    write_report(form, lint(path, select="duplicate-definition"), stream, Options(root=str(path.parent), **options))
    return stream.getvalue()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.textproto"
    path.write_text(MODEL, encoding="utf-8")
    return path


def test_the_library_has_positions(model: Path):
    (found,) = lint(model, select="duplicate-definition").diagnostics
    assert (found.place, found.position, found.byte_range) == (PLACE, POSITION, None)
    assert [(item.place, item.position) for item in found.related] == [(RELATED, RELATED_POSITION)]


def test_a_binary_file_has_none(tmp_path: Path):
    path = tmp_path / "model.onnx"
    path.write_bytes(text_format.Parse(MODEL, schema.message("ModelProto")()).SerializeToString())
    (found,) = lint(path, select="duplicate-definition").diagnostics
    assert (found.position, *(item.position for item in found.related)) == (None, None)
    assert not {"line", "column"} & set(json.loads(written(path, "json"))["files"][0]["diagnostics"][0])
    assert written(path, "concise").startswith(f"{path}: {PLACE}: ")


def test_forms_for_people_have_line_and_column(model: Path):
    text = written(model, "text").splitlines()
    assert text[1] == f"  --> {model}:{LINE}:{COLUMN}: {PLACE}"
    related = "{}:{}:{}: {}: ".format(model, *RELATED_POSITION, RELATED)
    assert [line for line in text if line.startswith(f"  ::: {related}")]
    assert written(model, "concise").startswith(f"{model}:{LINE}:{COLUMN}: {PLACE}: error[duplicate-definition] ")
    assert f"`{PLACE}` (line {LINE}, column {COLUMN})<br>" in written(model, "markdown")
    (failure,) = ElementTree.fromstring(written(model, "junit")).iter("failure")
    assert f"error: {PLACE} (line {LINE}, column {COLUMN}): " in str(failure.text)


def test_annotations_of_github_and_issues_of_gitlab_stand_at_the_line(model: Path):
    github = written(model, "github")
    assert github.startswith(f"::error file=model.textproto,line={LINE},col={COLUMN},title=")
    (issue,) = json.loads(written(model, "gitlab"))
    assert issue["location"] == {"path": "model.textproto", "lines": {"begin": LINE}}


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_forms_for_programs_have_line_and_column(form: str, model: Path):
    text = written(model, form)
    if form == "json":
        document = json.loads(text)
        found = document["files"][0]["diagnostics"][0]
        jsonschema.validate(document, json.loads((ROOT / "docs" / "report.schema.json").read_text()))
    else:
        found = next(line for line in map(json.loads, text.splitlines()) if line["record"] == "finding")
        jsonschema.validate(found, json.loads((ROOT / "docs" / "report-line.schema.json").read_text()))
    assert (found["line"], found["column"], found["bytes"]) == (LINE, COLUMN, None)
    assert [(item["line"], item["column"]) for item in found["related"]] == [RELATED_POSITION]


def test_results_of_sarif_have_a_region_of_text(model: Path):
    (result,) = json.loads(written(model, "sarif"))["runs"][0]["results"]
    places = [result["locations"][0]["physicalLocation"], result["relatedLocations"][0]["physicalLocation"]]
    regions = [place["region"] for place in places]
    assert [(region["startLine"], region["startColumn"]) for region in regions] == [POSITION, RELATED_POSITION]
    assert not any("byteOffset" in region for region in regions)


def test_places_in_json_have_no_positions(tmp_path: Path):
    path = tmp_path / "model.json"
    message = text_format.Parse(MODEL, schema.message("ModelProto")())
    path.write_text(json_format.MessageToJson(message, indent=1), encoding="utf-8")
    (found,) = lint(path, select="duplicate-definition").diagnostics
    assert [item.position for item in (found, *found.related)] == [None, None]
    assert "line" not in json.loads(written(path, "json"))["files"][0]["diagnostics"][0]


MARK = b"\xef\xbb\xbf"
FAULTS = {
    "syntax of text": (b"ir_version: 8\r\ngraph {\t@ }", (2, 9)),
    "an unknown field in text": (b"ir_version: 8\ngraph {\n # \xc3\xa9\n nodes { } }", (4, 2)),
    "syntax of JSON": (b'{"irVersion": 8,\n "\xc3\xa9": }', (2, 7)),
    "no UTF-8": (b"ir_version: 8\n# " + b"\xc3\xa9" * 4000 + b'"\xff"', (2, 4004)),
    "nesting": (b"ir_version: 8\ngraph {\n" + b"node { attribute { g {\n" * 40, (36, 6)),
}


@pytest.mark.parametrize("mark", [b"", MARK])
@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_the_text_have_positions(name: str, mark: bytes):
    data, position = FAULTS[name]
    (found,) = lint(mark + data, filename="model.json" if "JSON" in name else "model.textproto").diagnostics
    assert (found.rule in {"malformed-text", "excessive-nesting"}, found.position) == (True, position)
    assert found.byte_range is not None
    start = found.byte_range[0]
    line, column = position
    assert (mark + data)[:start].count(b"\n") == line - 1
    assert len((mark + data)[:start].decode("utf-8-sig").split("\n")[-1]) == column - 1


def test_what_is_too_large_is_not_read():
    (file,) = lint(MODEL.encode(), {"limits": {"text_bytes": 10}}, filename="model.textproto").files
    assert (file.diagnostics, "limit text_bytes of 10" in (file.unreadable or "")) == ((), True)
