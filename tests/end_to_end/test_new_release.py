# SPDX-License-Identifier: Apache-2.0
"""A made-up ONNX release, added step by step as docs/new_onnx_release.md says: nothing of it may go unnoticed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.project.checkout import ROOT

from onnx_lint.spec.releases import NEWEST_IR_VERSION, NEWEST_OPSET
from onnx_lint.spec.standard import EDITIONS

pytestmark = pytest.mark.slow

FOLDERS = ("onnx_lint", "rules", "tools")
NO_CACHES = shutil.ignore_patterns("__pycache__")

MESSAGES = (
    *("ModelProto", "GraphProto", "FunctionProto", "NodeProto", "AttributeProto", "ValueInfoProto", "TensorProto"),
    *("SparseTensorProto", "TypeProto", "TensorShapeProto", "OperatorSetIdProto", "StringStringEntryProto"),
    *("TrainingInfoProto", "TensorAnnotation"),
)
"""The messages that have a new field `made_up` in the made-up release."""

FOUND_AT_ONCE = MESSAGES[:4]
"""The messages whose new fields are found without a change of code."""

SCRIPT = """
import json, sys
from google.protobuf import text_format
from onnx_lint import lint, schema
found = []
for text, edition in json.load(sys.stdin):
    model = text_format.Parse(text, schema.message("ModelProto")())
    report = lint(model.SerializeToString(), {"edition": edition})
    found.append([[item.rule, item.place] for item in report.diagnostics if item.severity.label == "error"])
print(json.dumps(found))
"""


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path} has {text.count(old)} times {old!r}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def _run(checkout: Path, *arguments: str, given: str = "") -> str:
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=checkout, env=environment, input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout with ONNX 1.99 added: IR version 99, operator set 99."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=NO_CACHES)
    spec = folder / "onnx_lint" / "spec"
    proto = folder / "onnx_lint" / "schema" / "onnx.proto"
    for message in MESSAGES:
        _replace(proto, f"message {message} {{\n", f"message {message} {{\n  string made_up = 90;\n")
    _replace(proto, "repeated NodeDeviceConfigurationProto device_configurations = 10;", _SCHEDULE)
    _replace(spec / "releases.py", ')\n"""The released versions, oldest first."""', _RELEASE)
    _replace(spec / "standard.py", ')\n"""The editions', ', "1.99")\n"""The editions')
    rows = [f'    "{message}.made_up": Since(99, "NEW-1"),\n' for message in MESSAGES]
    rows.append('    "NodeProto.schedule": Since(99, "NEW-1"),\n')
    _replace(spec / "ir_versions.py", "}\n\n_TABLE_OF_TYPES", "".join([*rows, "}\n\n_TABLE_OF_TYPES"]))
    _replace(spec / "clauses.toml", "# ---- file\n", _CLAUSE)
    _replace(
        folder / "rules" / "versioning" / "premature_feature.py", '        "META-3",\n', '        "META-3", "NEW-1",\n'
    )
    _add_operator_version(spec / "operators" / "onnx.jsonl")
    for tool in ("compile_schema", "compile_clauses", "catalogue"):
        _run(folder, "-m", f"tools.{tool}")
    return folder


_SCHEDULE = "repeated NodeDeviceConfigurationProto device_configurations = 10;\n  string schedule = 91;"
_RELEASE = '    Release("1.99.0", 99, 99, 5, 1, 1),\n)\n"""The released versions, oldest first."""'
_CLAUSE = """# ---- file

[NEW-1]
summary = "What IR version 99 brought stands in models of that version or later ones only."
chapter = "file"
anchor = "IR.md#onnx-versioning"
since = 99
keyword = { "1.9" = "gate" }
static = "yes"
rules = ["premature-feature"]
"""


def _add_operator_version(path: Path) -> None:
    """Add version 99 of Relu, which has a new attribute."""
    lines = path.read_text(encoding="utf-8").splitlines()
    (index,) = (index for index, line in enumerate(lines) if line.startswith('["","Relu",'))
    domain, name, since, versions = json.loads(lines[index])
    newest = {**versions[-1], "attributes": {"slope": "float"}}
    lines[index] = json.dumps([domain, name, [*since, 99], [*versions, newest]], separators=(",", ":"))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _lint(checkout: Path, *models: tuple[str, str]) -> list[list[list[str]]]:
    """Return rule and place of the errors in each model, given as text with its edition."""
    return list(json.loads(_run(checkout, "-c", SCRIPT, given=json.dumps(models))))


MODEL = """
ir_version: IR producer_name: "p" producer_version: "1" MODELPROTO
opset_import { version: OPSET OPERATORSETIDPROTO } opset_import { domain: "org.example" version: 1 }
functions {
  name: "f" domain: "org.example" input: "a" output: "b" opset_import { version: OPSET } FUNCTIONPROTO
  node { op_type: "Relu" input: "a" output: "b" INFUNCTION }
}
graph {
  name: "g" GRAPHPROTO
  node { name: "n" op_type: "Relu" input: "x" output: "h" NODEPROTO RELU }
  node { name: "c" op_type: "Cast" input: "h" output: "i" attribute { name: "to" type: INT i: 1 ATTRIBUTEPROTO } }
  node { name: "m" domain: "org.example" op_type: "f" input: "i" output: "y" }
  initializer { name: "w" data_type: 1 dims: 1 float_data: 1.0 TENSORPROTO }
  sparse_initializer {
    values { name: "s" data_type: 1 dims: 1 float_data: 1.0 } indices { data_type: 7 dims: 1 int64_data: 1 } dims: 3
    SPARSETENSORPROTO
  }
  quantization_annotation { tensor_name: "h" TENSORANNOTATION }
  value_info { name: "h" type { TENSOR } metadata_props { key: "a" value: "b" STRINGSTRINGENTRYPROTO } VALUEINFOPROTO }
  input { name: "x" type { TENSOR TYPEPROTO } }
  output { name: "y" type { TENSOR } }
}
training_info { initialization { name: "i" } algorithm { name: "j" } TRAININGINFOPROTO }
"""
NEWEST = {"IR": "99", "OPSET": "99"}
BEFORE = {"IR": str(NEWEST_IR_VERSION), "OPSET": str(NEWEST_OPSET[""])}


def _model(**words: str) -> str:
    """The model with some of its words replaced and all others left out."""
    text = MODEL.replace("TENSOR }", "tensor_type { elem_type: 1 shape { dim { dim_value: 2 } SHAPE } } }").replace(
        "TENSOR TYPEPROTO", "tensor_type { elem_type: 1 shape { dim { dim_value: 2 } TENSORSHAPEPROTO } } TYPEPROTO"
    )
    slots = [*(message.upper() for message in MESSAGES), "INFUNCTION", "RELU", "SHAPE", "IR", "OPSET"]
    for slot in sorted(slots, key=len, reverse=True):
        text = "".join(words.get(slot, "") if part == slot else part for part in _split(text, slot))
    return text


def _split(text: str, slot: str) -> list[str]:
    return re.split(rf"\b({slot})\b", text)


def test_a_model_of_the_new_release_conforms(checkout: Path):
    made_up = {message.upper(): 'made_up: "x"' for message in MESSAGES}
    text = _model(**NEWEST, **made_up, INFUNCTION='schedule: "late"')
    assert _lint(checkout, (text, "1.99"), (_model(**NEWEST), "1.99"), (_model(**BEFORE), EDITIONS[-1])) == [[], [], []]


def test_each_new_field_is_reported_in_a_model_of_an_older_ir_version(checkout: Path):
    models = [(_model(**BEFORE, **{message.upper(): 'made_up: "x"'}), "1.99") for message in FOUND_AT_ONCE]
    models += [(_model(**BEFORE, NODEPROTO='schedule: "late"'), "1.99")]
    models += [(_model(**BEFORE, INFUNCTION='schedule: "late"'), "1.99")]
    silent = []
    for (text, _), errors in zip(models, _lint(checkout, *models), strict=True):
        if [rule for rule, _ in errors] != ["premature-feature"]:
            silent.append((text, errors))
    assert silent == []


def test_the_edition_before_does_not_know_the_new_versions(checkout: Path):
    (errors,) = _lint(checkout, (_model(**NEWEST), EDITIONS[-1]))
    assert {rule for rule, _ in errors} == {"unknown-ir-version", "unknown-opset-version"}


def test_an_attribute_of_the_new_operator_version_is_unknown_before(checkout: Path):
    slope = 'attribute { name: "slope" type: FLOAT f: 0.5 }'
    before, newest = _lint(checkout, (_model(**BEFORE, RELU=slope), "1.99"), (_model(**NEWEST, RELU=slope), "1.99"))
    assert [rule for rule, _ in before] == ["unknown-operator-attribute"]
    assert newest == []
