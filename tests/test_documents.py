# SPDX-License-Identifier: Apache-2.0
"""Files that are no models: operator sets, single messages, values."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf import json_format, text_format

from onnx_lint import lint, schema

SET = """magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 2
operator { op_type: "Blur" since_version: 1 } operator { op_type: "Warp" since_version: 3 }"""
WRONG = ("operator[1].since_version", "operator 'Warp' is declared since version 3, but the operator set has version 2")


def _found(report):
    (file,) = report.files
    assert file.internal_errors == ()
    return [(diagnostic.place, diagnostic.message) for diagnostic in file.diagnostics]


def _set():
    return text_format.Parse(SET, schema.message("OperatorSetProto")(), descriptor_pool=schema.pool())


def test_an_operator_set_is_recognized_in_every_form():
    document = _set()
    forms = [document.SerializeToString(), SET.encode(), json_format.MessageToJson(document).encode()]
    assert [_found(lint(data)) for data in forms] == [[WRONG]] * 3


@pytest.mark.parametrize("form", ["binary", "text", "json"])
def test_a_model_is_held_against_an_operator_set(form: str, tmp_path: Path):
    document = _set()
    forms = {
        "binary": document.SerializeToString(),
        "text": SET.encode(),
        "json": json_format.MessageToJson(document).encode(),
    }
    path = tmp_path / "set.onnxopset"
    path.write_bytes(forms[form])
    model = b"""ir_version: 10 producer_name: "p" opset_import { domain: "com.example" version: 2 }
    graph { name: "g" node { name: "a" domain: "com.example" op_type: "Blur" output: "y" }
    node { name: "b" domain: "com.example" op_type: "Smear" input: "y" output: "z" }
    output { name: "z" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } } }"""
    report = lint(model, opset_schemas=[path], select=["unknown-operator"])
    assert [place for place, _ in _found(report)] == ["graph.node[1].op_type"]
    assert report.files[0].not_verified == (("com.example", 1),)


PARTS = {
    "TensorProto": ("data_type: 1 dims: 2 float_data: 1", "float_data"),
    "SparseTensorProto": ("values { data_type: 1 dims: 2 float_data: 1 }", "values.float_data"),
    "GraphProto": ('name: "g" node { op_type: "Relu" input: "x" output: "y" }', "node[0].input[0]"),
    "FunctionProto": ('name: "f" domain: "d" node { op_type: "Relu" input: "x" output: "y" }', "node[0].input[0]"),
    "NodeProto": ('op_type: "Relu" attribute { name: "a" type: 1 f: 1 } attribute { name: "a" }', "attribute[1]"),
    "AttributeProto": ('name: "a" type: 4 t { data_type: 1 dims: 2 float_data: 1 }', "t.float_data"),
    "ValueInfoProto": ('name: "x" type { tensor_type { elem_type: 99 } }', "type.tensor_type.elem_type"),
    "TypeProto": ("tensor_type { elem_type: 99 }", "tensor_type.elem_type"),
}  # fmt: skip


@pytest.mark.parametrize("kind", PARTS)
def test_places_of_a_part_begin_at_its_root(kind: str):
    text, place = PARTS[kind]
    data = text_format.Parse(text, schema.message(kind)(), descriptor_pool=schema.pool()).SerializeToString()
    assert place in [found for found, _ in _found(lint(data, proto=kind))]


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="unknown kind of document 'TensorPoto'"):
        lint(b"", proto="TensorPoto")


@pytest.mark.corpus
def test_the_data_of_the_backend_tests_is_clean():
    import onnx

    files = sorted((Path(onnx.__file__).parent / "backend/test/data").rglob("*.pb"))
    assert files
    assert {str(path): found for path in files if (found := _found(lint(path)))} == {}
