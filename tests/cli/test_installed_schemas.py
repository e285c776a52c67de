# SPDX-License-Identifier: Apache-2.0
"""`onnx-lint schema --from` writes schema files that onnx-lint can use."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from onnx_lint import lint
from onnx_lint.cli.application import run
from onnx_lint.spec.operators.schema_file import load_schema_file

MODULE = """
from onnx import defs

schema = defs.OpSchema(
    "Twice", "com.example.installed", 2,
    inputs=[defs.OpSchema.FormalParameter("x", "T"),
            defs.OpSchema.FormalParameter("more", "T", param_option=defs.OpSchema.FormalParameterOption.Variadic)],
    outputs=[defs.OpSchema.FormalParameter("y", "T")],
    type_constraints=[("T", ["tensor(float)", "tensor(double)"], "")],
    attributes=[defs.OpSchema.Attribute("times", defs.OpSchema.AttrType.INT, required=True)],
)


class Scripted:
    op_schema = schema


class Unset:
    op_schema = property(lambda self: None)


twice, unset = Scripted(), Unset()
"""

MODEL = """
ir_version: 10
producer_name: "us"
opset_import { domain: "com.example.installed" version: 2 }
graph {
  name: "graph"
  node { op_type: "Thrice" domain: "com.example.installed" input: "x" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
}
"""


def test_the_operators_of_a_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "house_operators_of_a_test.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    assert run(["schema", "--from", "house_operators_of_a_test", "--domain", "com.example.installed"]) == 0
    sys.modules.pop("house_operators_of_a_test")
    path = tmp_path / "schema.json"
    path.write_text(capsys.readouterr().out)
    [schema] = load_schema_file(path).operators["Twice"]
    assert (schema.since_version, schema.min_input, schema.attributes["times"].required) == (2, 2, True)
    assert schema.type_constraints == {"T": {"tensor(float)", "tensor(double)"}}
    report = lint(MODEL.encode(), opset_schemas=[path])
    assert [each.rule for each in report.errors] == ["unknown-operator"]
    assert lint(MODEL.encode()).errors == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "no_such_module_of_a_test"], "no_such_module_of_a_test cannot be imported"),
        (["--from", "math", "--domain", "com.nobody"], "math has no operators to write"),
    ],
)
def test_what_cannot_be_written_is_a_sentence(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["schema", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_the_operators_of_onnxruntime(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnxruntime", reason="no part of the development packages")
    assert run(["schema", "--from", "onnxruntime"]) == 2
    assert "choose one by --domain" in capsys.readouterr().err
    assert run(["schema", "--from", "onnxruntime", "--domain", "com.microsoft"]) == 0
    path = tmp_path / "schema.json"
    path.write_text(capsys.readouterr().out)
    assert "FusedMatMul" in load_schema_file(path).operators
