# SPDX-License-Identifier: Apache-2.0
"""`onnx-lint shapes`: the values as a table and as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper
from support.project.checkout import ROOT

from onnx_lint.cli.application import run

DOCUMENTED = """
<ir_version: 10, opset_import: ["" : 21, "com.example" : 1]>
main (float[N, 3] x) => (y, z)
<float[3, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, int64[2] shape = {-1, 6}>
{
  [project] h = MatMul (x, w)
  [fold] y = Reshape (h, shape)
  [last] z = com.example.Last (y)
}
"""

NESTED = """
<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
main (float[N, 3] x, bool c, float[2] scales, seq(float[2, 2]) s) => (float[?, ?] y, float[a, b] either, l)
{
  either = If (c) <
    then_branch = t () => (float[?, 3] r) { a = Relu (x) r = local.f (a) },
    else_branch = e () => (float[?, 3] r) { r = Neg (x) }
  >
  t = Transpose (x)
  y = local.f (t)
  again = local.f (t)
  first, all = Loop (, c, x) <body = b (int64 i, bool k, float[?, ?] v) => (bool k2, float[?, ?] v2, float[?] p) {
    k2 = Identity (k)
    v2 = Relu (v)
    p = Constant <value_floats = [1.0, 2.5]> ()
  }>
  big = Resize (x, , scales)
  l = SequenceLength (s)
}
<domain: "local", opset_import: ["" : 21]>
f (a) => (r) { m = Abs (a) r = Identity (m) }
<domain: "local", opset_import: ["" : 21]>
unused (a) => (r) { r = Abs (a) }
"""

LOCAL_F = "functions[0]"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("model.onnx", DOCUMENTED), ("nested.onnx", NESTED)):
        (tmp_path / name).write_bytes(onnx.parser.parse_model(text).SerializeToString())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["shapes", *arguments]) == 0
    output = capsys.readouterr()
    assert output.err == ""
    return output.out


def _validated(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    found = json.loads(_shown(capsys, *arguments, "-f", "json"))
    schema = json.loads((ROOT / "docs" / "shapes.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    errors = jsonschema.Draft202012Validator(schema).iter_errors(found)
    assert [(error.json_path, error.message) for error in errors] == []
    return found


@pytest.mark.usefixtures("folder")
def test_the_documentation_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "shapes.md").read_text(encoding="utf-8")
    call, _, output = text.partition("```text\n")[2].partition("```")[0].partition("\n")
    assert _shown(capsys, *call.split()[3:]) == output


def _by_graph(found: Any) -> list[tuple[str, str | None, dict[str, Any]]]:
    return [
        (graph["place"], graph["called_by"], {value["name"]: value["shape"] for value in graph["values"]})
        for graph in found["graphs"]
    ]


@pytest.mark.usefixtures("folder")
def test_json_has_each_value_of_each_graph_and_call(capsys: pytest.CaptureFixture[str]) -> None:
    found = _validated(capsys, "nested.onnx")
    main = {
        "x": ["N", 3], "c": [], "scales": [2], "s": None, "either": ["a", 3], "t": [3, "N"], "y": [3, "N"],
        "again": [3, "N"], "first": ["N", 3], "all": [None, 2], "big": [None, None], "l": [],
    }  # fmt: skip
    body = {"i": [], "k": [], "v": ["N", 3], "k2": [], "v2": ["N", 3], "p": [2]}
    assert _by_graph(found) == [
        ("graph", None, main),
        ("graph.node[0].attribute[0].g", None, {"a": ["N", 3], "r": ["N", 3]}),
        ("graph.node[0].attribute[1].g", None, {"r": ["N", 3]}),
        ("graph.node[4].attribute[0].g", None, body),
        # The third call has the arguments of the second one.
        (LOCAL_F, "graph.node[0].attribute[0].g.node[1]", {"a": ["N", 3], "m": ["N", 3], "r": ["N", 3]}),
        (LOCAL_F, "graph.node[2]", {"a": [3, "N"], "m": [3, "N"], "r": [3, "N"]}),
        ("functions[1]", None, {"a": None, "r": None}),
    ]
    assert (found["values"], found["unknown"]) == (29, 2)
    values = {value["name"]: value for value in found["graphs"][0]["values"]}
    assert (values["s"]["unknown"], values["s"]["inside"]["shape"]) == (None, [2, 2])
    assert (values["x"]["type"], values["x"]["place"]) == ("tensor(float)", "graph.input[0]")
    assert values["big"]["pointer"] == "/graph/node/5/output/0"
    assert found["graphs"][3]["values"][5]["elements"] == [1.0, 2.5]
    assert found["graphs"][6]["values"][1]["unknown"] == {"kind": "input", "name": "a"}


def test_names_of_strangers_cannot_steer_the_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b[2J\r\n\u202e\x07"
    model = onnx.parser.parse_model(DOCUMENTED)
    model.graph.name = evil
    model.graph.node[0].name = evil
    model.graph.node[2].op_type = evil
    model.graph.node[2].output[0] = model.graph.output[1].name = evil + "z" * 5_000
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = evil + "n" * 5_000
    (folder / "evil.onnx").write_bytes(model.SerializeToString())
    text = _shown(capsys, "evil.onnx")
    assert all(line.isprintable() for line in text.splitlines())
    assert max(map(len, text.splitlines())) < 1_000
    assert len(json.dumps(_validated(capsys, "evil.onnx"))) < 40_000


def test_a_model_may_have_functions_and_no_graph(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = onnx.parser.parse_model(NESTED)
    model.ClearField("graph")
    (folder / "library.onnx").write_bytes(model.SerializeToString())
    assert [graph["place"] for graph in _validated(capsys, "library.onnx")["graphs"]] == [LOCAL_F, "functions[1]"]


# --- files that are not models


def _refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["shapes", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    return output.err


def test_what_is_no_model_is_told_as_a_run_tells_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty.onnx").write_bytes(b"")
    (folder / "cut.onnx").write_bytes((folder / "model.onnx").read_bytes()[:-3])
    tensor = helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0])
    (folder / "tensor.pb").write_bytes(tensor.SerializeToString())
    for name in ("missing.onnx", "modl.onnx", "."):
        said = _refused(capsys, name)
        assert said.startswith(f"Error: {name}: ")
        if name != ".":
            assert run([name]) == 2
            assert capsys.readouterr().err == said
    for name in ("empty.onnx", "cut.onnx"):
        said = _refused(capsys, name)
        assert run([name, "-f", "json"]) in {1, 2}
        [file] = json.loads(capsys.readouterr().out)["files"]
        assert said == f"Error: {name}: {file['diagnostics'][-1]['message']}\n"
    assert _refused(capsys, "tensor.pb") == "Error: tensor.pb: the file holds the message TensorProto, not a model\n"


@pytest.mark.usefixtures("folder")
def test_limits_and_configurations_count_as_in_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = _refused(capsys, "model.onnx", "--limit", "memory=2")
    assert "limit memory of 2 " in said
    (folder / "onnx-lint.toml").write_text("limits = { memory = 2 }\n")
    warning = "Warning: onnx-lint.toml changes the verdict: limits.memory = 2\n"
    assert _refused(capsys, "model.onnx") == warning + said
    assert _shown(capsys, "model.onnx", "--no-config").startswith("model.onnx: 6 values, 5 of known shape\n")
    assert "unknown limit" in _refused(capsys, "model.onnx", "--limit", "memry=2").lower()


# --- streams


def _process(folder: Path, *arguments: str, **streams: Any) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "onnx_lint", "shapes", *arguments]
    return subprocess.run(command, env=environment, cwd=folder, check=False, timeout=600, **streams)


def test_standard_input_is_read(folder: Path) -> None:
    with (folder / "model.onnx").open("rb") as stream:
        done = _process(folder, "-", stdin=stream, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"<stdin>: 6 values, 5 of known shape\n")
