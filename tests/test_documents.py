# SPDX-License-Identifier: Apache-2.0
"""Files that are no models: operator sets, single messages, values."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf import json_format, text_format

from onnx_lint import lint, schema
from onnx_lint.model.documents import KINDS

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


LIBRARY = """ir_version: 10 producer_name: "p" opset_import { version: 17 }
opset_import { domain: "com.example" version: 1 }
functions { name: "F" domain: "com.example" input: "x" output: "y" opset_import { version: 17 }
node { op_type: "Relu" input: "x" output: "z" } node { op_type: "Abss" input: "z" output: "y" } }"""


def test_the_functions_of_a_model_without_a_graph_are_judged():
    diagnostics = lint(LIBRARY.encode()).diagnostics
    assert [(item.severity.label, item.rule, item.place) for item in diagnostics] == [
        ("warning", "missing-graph", "graph"),
        ("error", "unknown-operator", "functions[0].node[1].op_type"),
    ]
    assert lint(LIBRARY.replace("Abss", "Abs").encode()).conforms


# --- messages of the onnx package


def _objects():
    """A conforming message of each kind, and a faulty one with its rule."""
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper

    value = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2])
    result = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2])
    node = helper.make_node("Relu", ["x"], ["y"])
    wrong_node = helper.make_node("Relu", ["x", "x"], ["y"])
    tensor = numpy_helper.from_array(np.array([1, 2], np.float32), "x")
    short = numpy_helper.from_array(np.array([1, 2], np.float32), "x")
    short.dims[0] = 3
    index = numpy_helper.from_array(np.array([1], np.int64))
    imports = [helper.make_opsetid("", 17)]
    sequence = numpy_helper.from_list([np.array([1.0]), np.array([2.0, 3.0])], "x")
    mixed = onnx.SequenceProto(elem_type=onnx.SequenceProto.TENSOR, tensor_values=[tensor, index])
    mapping = numpy_helper.from_dict({1: np.array([1.0]), 2: np.array([2.0])}, "x")
    lone_key = onnx.MapProto(key_type=onnx.TensorProto.INT64, keys=[1])
    graph = helper.make_graph([node], "g", [value], [result])
    wrong_type = onnx.TypeProto(tensor_type=onnx.TypeProto.Tensor(elem_type=99))
    model = helper.make_model(graph, opset_imports=imports, ir_version=10, producer_name="p")
    wrong_model = onnx.ModelProto()
    wrong_model.CopyFrom(model)
    wrong_model.graph.node[0].output[0] = "z"
    operator_set = onnx.OperatorSetProto(magic="ONNXOPSET", ir_version=10, domain="com.example", opset_version=1)
    return {
        "ModelProto": (model, wrong_model, "undefined-name"),
        "OperatorSetProto": (
            operator_set,
            onnx.OperatorSetProto(magic="ONNXOPSET", ir_version=10),
            "missing-operator-set-version",
        ),
        "FunctionProto": (
            helper.make_function("com.example", "F", ["x"], ["y"], [node], imports),
            helper.make_function("com.example", "F", ["x"], ["y"], [wrong_node], imports),
            "operator-arity",
        ),
        "GraphProto": (graph, helper.make_graph([wrong_node], "g", [value], [result]), "operator-arity"),
        "NodeProto": (node, wrong_node, "operator-arity"),
        "AttributeProto": (helper.make_attribute("a", 1.0), onnx.AttributeProto(name="a", f=1), "untyped-attribute"),
        "TensorProto": (tensor, short, "tensor-size-mismatch"),
        "SparseTensorProto": (
            onnx.SparseTensorProto(values=helper.make_tensor("x", 1, [1], [1.0]), indices=index, dims=[3]),
            onnx.SparseTensorProto(values=helper.make_tensor("x", 1, [1], [1.0]), indices=index, dims=[1]),
            "sparse-index-out-of-range",
        ),
        "ValueInfoProto": (value, onnx.ValueInfoProto(name="x", type=wrong_type), "unknown-element-type"),
        "TypeProto": (value.type, wrong_type, "unknown-element-type"),
        "SequenceProto": (sequence, mixed, "mixed-value-types"),
        "MapProto": (mapping, lone_key, "mismatched-map-lengths"),
        "OptionalProto": (
            numpy_helper.from_optional(np.array([1.0])),
            onnx.OptionalProto(elem_type=7),
            "mismatched-optional-value",
        ),
    }  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_messages_of_the_onnx_package_are_linted_as_what_they_are(kind: str):
    right, wrong, rule = _objects()[kind]
    imports = {"ai.onnx": 17}
    for given in ({}, {"proto": kind}):
        report = lint(right, opset_imports=imports, **given)
        assert ([item.rule for item in report.diagnostics], report.files[0].kind) == ([], kind)
        assert report.files[0].not_verified == ()
        assert [item.rule for item in lint(wrong, opset_imports=imports, **given).diagnostics] == [rule]
    assert lint(right.SerializeToString(), proto=kind, opset_imports=imports).conforms


def test_a_graph_without_imports_says_that_its_operators_were_not_looked_up():
    (file,) = lint(_objects()["GraphProto"][0]).files
    assert file.not_verified == (("ai.onnx", 1),)
    assert "option --opset-import" in file.incomplete[-1]


def test_an_import_needs_a_version():
    with pytest.raises(ValueError, match=r"^0 is no operator set version"):
        lint(b"", proto="GraphProto", opset_imports={"": 0})
