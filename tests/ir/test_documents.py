# SPDX-License-Identifier: Apache-2.0
"""Files that are no models: operator sets, single messages, values."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format
from support.models.clean_model import clean_proto
from support.project.each_case import each_case

from onnx_lint import lint, schema
from onnx_lint.cli.application import run
from onnx_lint.cli.paths import find_inputs
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.documents.kinds import KINDS


def _found(report):
    (file,) = report.files
    assert file.internal_errors == ()
    return [(diagnostic.place, diagnostic.message) for diagnostic in file.diagnostics]


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
    assert place in [found for found, _ in _found(lint(data, {"proto": kind}))]


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="unknown kind of document 'TensorPoto'"):
        lint(b"", {"proto": "TensorPoto"})


@pytest.mark.corpus
def test_the_data_of_the_backend_tests_is_clean():
    import onnx

    files = sorted((Path(onnx.__file__).parent / "backend/test/data").rglob("*.pb"))
    assert files
    reports = {path: lint(path) for path in files}
    assert {str(path): found for path, report in reports.items() if (found := _found(report))} == {}
    assert {report.files[0].kind for report in reports.values()} == {"TensorProto"}


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


@each_case("kind", KINDS)
def test_messages_of_the_onnx_package_are_linted_as_what_they_are(kind: str):
    right, wrong, rule = _objects()[kind]
    imports = {"ai.onnx": 17}
    for given in ({}, {"proto": kind}):
        report = lint(right, {"opset_imports": imports, **given})
        assert ([item.rule for item in report.diagnostics], report.files[0].kind) == ([], kind)
        assert report.files[0].not_verified == ()
        assert [item.rule for item in lint(wrong, {"opset_imports": imports, **given}).diagnostics] == [rule]
    assert lint(right.SerializeToString(), {"proto": kind, "opset_imports": imports}).conforms


def test_a_graph_without_imports_says_that_its_operators_were_not_looked_up():
    (file,) = lint(_objects()["GraphProto"][0]).files
    assert file.not_verified == (("ai.onnx", 1),)
    assert "option --opset-import" in file.incomplete[-1]


def test_an_import_needs_a_version():
    with pytest.raises(ValueError, match=r"^version 0 of 'ai.onnx' does not exist"):
        lint(b"", {"proto": "GraphProto", "opset_imports": {"": 0}})


# --- what ONNX itself has written


def _as_file(value: Any, declared: Any) -> tuple[str, bytes]:
    """The value of a test case as ONNX writes it to `input_0.pb`, and the message that this is."""
    from onnx import TensorProto, numpy_helper

    match declared.type.WhichOneof("value"):
        case "map_type":
            return "MapProto", numpy_helper.from_dict(value, declared.name).SerializeToString()
        case "sequence_type":
            return "SequenceProto", numpy_helper.from_list(value, declared.name).SerializeToString()
        case "optional_type":
            return "OptionalProto", numpy_helper.from_optional(value, declared.name).SerializeToString()
        case _:
            tensor = value if isinstance(value, TensorProto) else numpy_helper.from_array(value, declared.name)
            return "TensorProto", tensor.SerializeToString()


@pytest.mark.corpus
def test_the_data_of_the_node_tests_are_clean():
    """With and without `--proto`. An optional with a value has the same bytes as a sequence of that value."""
    import warnings

    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
    kinds: Counter[str] = Counter()
    for case in cases:
        for inputs, outputs in case.data_sets or ():
            declared = [*case.model.graph.input, *case.model.graph.output]
            for value, value_info in zip([*inputs, *outputs], declared, strict=False):
                kind, data = _as_file(value, value_info)
                kinds[kind] += 1
                assert _found(lint(data, {"proto": kind})) == [], case.name
                file = lint_source(BytesSource(data), "input_0.pb", Settings())
                assert (file.diagnostics, file.not_judged) == ((), None), case.name
                assert file.kind == kind or (kind, file.kind) == ("OptionalProto", "SequenceProto"), case.name
    assert set(kinds) == {"TensorProto", "SequenceProto", "OptionalProto"}


# --- the command line


def test_a_rule_tells_the_kinds_of_file_that_it_looks_at(capsys: pytest.CaptureFixture[str]):
    assert run(["explain", "missing-magic"]) == 0
    assert "Checks OperatorSetProto." in capsys.readouterr().out
    assert run(["explain", "missing-graph"]) == 0
    assert "Checks ModelProto." in capsys.readouterr().out


def test_folders_are_searched_for_operator_sets_and_not_for_data(tmp_path: Path):
    for name in ("set.onnxopset", "SET.ONNXOPSET", "input_0.pb", "model.onnx", "set.json"):
        (tmp_path / name).write_bytes(b"")
    names = sorted(Path(item.path).name for item in find_inputs([str(tmp_path)]))
    assert names == ["SET.ONNXOPSET", "model.onnx", "set.onnxopset"]
    (item,) = find_inputs([f"{tmp_path}/*.pb"])
    assert Path(item.path).name == "input_0.pb"


def test_the_configuration_of_a_folder_says_what_its_files_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "onnx-lint.toml").write_text('proto = "FunctionProto"\n', encoding="utf-8")
    path = tmp_path / "function.bin"
    path.write_bytes(_objects()["FunctionProto"][1].SerializeToString())
    assert run([str(path), "--format", "json"]) == 1
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert file["kind"] == "FunctionProto"
    assert [item["place"] for item in file["diagnostics"]] == ["node[0].input[1]"]
    assert run([str(path), "--no-config", "--format", "concise"]) == 1
    assert "the file is not a ModelProto, but may be FunctionProto (option --proto)" in capsys.readouterr().out


def test_sarif_tells_what_a_file_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "input_0.pb"
    path.write_bytes(_objects()["TensorProto"][1].SerializeToString())
    assert run([str(path), "--no-config", "--format", "sarif"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["runs"]
    assert found["artifacts"][0]["properties"] == {"kind": "TensorProto", "facts": "tensor"}
    assert [item["properties"]["place"] for item in found["results"]] == ["raw_data"]


def _tensor_file(**fields: Any) -> bytes:
    given = {"name": "x", "data_type": 1, "dims": [2], "float_data": [1, 2], **fields}
    given = {name: value for name, value in given.items() if value}
    return bytes(schema.message("TensorProto")(**given).SerializeToString())


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (_tensor_file(float_data=[1]), "tensor-size-mismatch"),
        (_tensor_file(data_type=0, float_data=[], raw_data=bytes(8)), "unknown-tensor-element-type"),
        (_tensor_file(raw_data=bytes(8)), "ambiguous-tensor-data"),
        (_tensor_file(float_data=[]) + b"\x25\0\0\x80\x3f", "tensor-size-mismatch"),
        (_tensor_file() + b"\x10\x01", "repeated-singular-field"),
    ],
)
def test_a_whole_tensor_with_a_fault_is_judged_as_a_tensor(data: bytes, rule: str):
    file = lint_source(BytesSource(data), "input_0.pb", Settings())
    assert file.kind == "TensorProto"
    assert rule in {item.rule for item in file.diagnostics}


OF_NO_MESSAGE = "the file is a Protocol Buffers message, but not an ONNX message"
NOT_WHOLE = "the file is not a complete Protocol Buffers message"
HINT = "; to check it as a tensor, use --proto TensorProto"


@pytest.mark.parametrize(
    ("data", "said", "rule"),
    [
        (_tensor_file(data_type=99), OF_NO_MESSAGE, "unknown-tensor-element-type"),
        (_tensor_file(dims=[-2]), OF_NO_MESSAGE, "invalid-tensor-shape"),
        (_tensor_file(float_data=[], int64_data=[1, 2]), OF_NO_MESSAGE, "misplaced-tensor-data"),
        (_tensor_file(float_data=[], double_data=[1, 2]), OF_NO_MESSAGE, "misplaced-tensor-data"),
        (_tensor_file() + b"\xc2\x3e\x01!", OF_NO_MESSAGE, "unknown-field"),
        (_tensor_file() + b"\x60\x01", OF_NO_MESSAGE, "wrong-wire-type"),
        (_tensor_file(float_data=[], raw_data=bytes(8))[:-3], NOT_WHOLE, "truncated-file"),
        (_tensor_file(name="")[:-3], NOT_WHOLE, "truncated-file"),
        (_tensor_file(name="n").replace(b"\x42\x01n", b"\x42\x01\xff"), OF_NO_MESSAGE, "invalid-utf8"),
        (_tensor_file(doc_string="n").replace(b"\x62\x01n", b"\x62\x01\xff"), OF_NO_MESSAGE, "invalid-utf8"),
    ],
)
def test_what_is_no_whole_tensor_is_not_a_model_unless_the_message_is_named(data: bytes, said: str, rule: str):
    source = BytesSource(data)
    assert [(item.rule, item.message) for item in lint_source(source, "input_0.pb", Settings()).diagnostics] == [
        ("not-a-model", said + HINT)
    ]
    assert rule in {item.rule for item in lint(data, {"proto": "TensorProto"}).diagnostics}


@pytest.mark.parametrize("size", [-1, -20])
def test_a_cut_model_keeps_its_faults_under_the_name_of_data(size: int):
    data = clean_proto().SerializeToString()[:size]
    found = lint_source(BytesSource(data), "model.pb", Settings()).diagnostics
    assert found == lint_source(BytesSource(data), "model.onnx", Settings()).diagnostics
    assert "truncated-file" in {item.rule for item in found}


@pytest.mark.parametrize(
    "data",
    [
        _tensor_file(data_type=99, dims=[-2]),
        _tensor_file(data_type=99, float_data=[], dims=[]),
        _tensor_file(data_type=99, float_data=[], raw_data=bytes(8))[:-3],
        _tensor_file(name="n", float_data=[], raw_data=bytes(8)).replace(b"\x42\x01n", b"\x42\x01\xff")[:-3],
        # What TensorFlow and Caffe2 keep under that suffix: messages of messages.
        b"\x0a\x0d\x0a\x01a\x12\x08Constant\x12\x00\x22\x03\x08\xa9\x01",
        b"\x0a\x03net\x12\x06\x0a\x01x\x22\x01y",
    ],
)
def test_what_is_further_from_a_tensor_is_not_taken_for_one(data: bytes):
    file = lint_source(BytesSource(data), "input_0.pb", Settings())
    assert (file.kind, [item.rule for item in file.diagnostics]) == ("ModelProto", ["not-a-model"])


# --- the parts of graphs in files by themselves


def test_a_finding_on_a_node_by_itself_cites_its_operator():
    node = text_format.Parse('op_type: "Cast" input: "x" output: "y"', schema.message("NodeProto")())
    (diagnostic,) = lint(node.SerializeToString(), {"proto": "NodeProto", "opset_imports": {"": 21}}).diagnostics
    assert (diagnostic.rule, diagnostic.place) == ("missing-operator-attribute", "node")
    assert diagnostic.anchor == "Changelog.md#Cast-21"


def test_a_finding_in_a_function_by_itself_cites_the_operator_of_its_imports():
    function = """name: "f" domain: "d" input: "x" output: "y" opset_import { domain: "ai.onnx.ml" version: 3 }
    node { op_type: "Scaler" domain: "ai.onnx.ml" output: "y" }"""
    message = text_format.Parse(function, schema.message("FunctionProto")())
    (diagnostic,) = lint(message.SerializeToString(), {"proto": "FunctionProto"}).diagnostics
    assert (diagnostic.rule, diagnostic.anchor) == ("operator-arity", "Operators-ml.md#ai.onnx.ml.Scaler")
