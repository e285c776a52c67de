# SPDX-License-Identifier: Apache-2.0
"""Files that are no models: operator sets, single messages, values."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format, text_format

from onnx_lint import lint, schema
from onnx_lint.engine import Settings, lint_source
from onnx_lint.model.documents import KINDS
from onnx_lint.source import BytesSource

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
    """Told or untold what they are; an optional with a value is the same bytes as a sequence of it."""
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
                assert _found(lint(data, proto=kind)) == [], case.name
                file = lint_source(BytesSource(data), "input_0.pb", Settings())
                assert (file.diagnostics, file.not_judged) == ((), None), case.name
                assert file.kind == kind or (kind, file.kind) == ("OptionalProto", "SequenceProto"), case.name
    assert set(kinds) == {"TensorProto", "SequenceProto", "OptionalProto"}


def _standard_set(domain: str, version: int) -> Any:
    """An operator-set document of the operators that ONNX publishes, those with a body as functions."""
    import onnx

    newest: dict[str, Any] = {}
    for schema_ in onnx.defs.get_all_schemas_with_history():
        if schema_.domain == domain and schema_.since_version <= version:
            newest[schema_.name] = max(newest.get(schema_.name, schema_), schema_, key=lambda item: item.since_version)
    document = onnx.OperatorSetProto(magic="ONNXOPSET", ir_version=10, domain=domain, opset_version=version)
    for name, schema_ in sorted(newest.items()):
        body = schema_.function_body if schema_.has_function else None
        if schema_.deprecated:
            continue
        if body is None or not body.node:
            document.operator.add(op_type=name, since_version=schema_.since_version, status=1)
        else:
            document.functions.add().CopyFrom(body)
            document.functions[-1].domain = domain
    return document


@pytest.mark.parametrize(
    ("domain", "version"),
    [*(("", version) for version in (1, 7, 13, 17, 18, 21, 23)), ("ai.onnx.ml", 5), ("ai.onnx.preview.training", 1)],
)
def test_the_standard_operators_are_a_sound_operator_set(domain: str, version: int):
    """AffineGrid has two graphs of one name in its body, which is but a recommendation."""
    document = _standard_set(domain, version)
    report = lint(document)
    assert [item.rule for item in report.diagnostics if item.rule != "duplicate-graph-name"] == []
    assert report.files[0].not_verified == ()
    for function in document.functions:
        assert lint(function).conforms


# --- models against operator sets


def _declared(version: int, *operators: str, domain: str = "com.example") -> str:
    head = f'magic: "ONNXOPSET" ir_version: 10 domain: "{domain}" opset_version: {version}\n'
    pairs = (operator.partition(":") for operator in operators)
    return head + "\n".join(f'operator {{ op_type: "{name}" since_version: {since or 1} }}' for name, _, since in pairs)


def _against(tmp_path: Path, sets: list[str], version: int, operator: str, domain: str = "com.example") -> list[str]:
    """The rules that report something about a node of the domain, and the domains that are not verified."""
    paths = [tmp_path / f"{index}.onnxopset" for index, _ in enumerate(sets)]
    for path, text in zip(paths, sets, strict=True):
        path.write_text(text, encoding="utf-8")
    model = f"""ir_version: 10 producer_name: "p" opset_import {{ domain: "{domain}" version: {version} }}
    graph {{ name: "g" node {{ domain: "{domain}" op_type: "{operator}" input: "x" output: "y" }}
    input {{ name: "x" type {{ tensor_type {{ elem_type: 1 shape {{ }} }} }} }}
    output {{ name: "y" type {{ tensor_type {{ elem_type: 1 shape {{ }} }} }} }} }}"""
    report = lint(model.encode(), opset_schemas=paths)
    (file,) = report.files
    not_verified = [f"not verified: {name}" for name, _ in file.not_verified]
    return [item.rule for item in file.diagnostics if item.clause != "MOD-6a"] + not_verified


UNKNOWN, OPEN, NEWER = ["unknown-operator"], ["not verified: com.example"], ["unknown-opset-version"]
TWO = [_declared(1, "A", "B"), _declared(3, "A", "C:2")]
AGAINST = {
    "declared": ([_declared(2, "A")], 2, "A", OPEN),
    "not declared": ([_declared(2, "A")], 2, "B", UNKNOWN),
    "in another case": ([_declared(2, "A")], 2, "a", UNKNOWN),
    "by a set of nothing": ([_declared(2)], 2, "A", UNKNOWN),
    "by two documents of one version": ([_declared(2, "A"), _declared(2, "B")], 2, "B", OPEN),
    "an older version": ([_declared(2, "A")], 1, "A", OPEN),
    "an operator that came later": ([_declared(2, "A:2")], 1, "A", UNKNOWN),
    "an older version, not declared": ([_declared(2, "A")], 1, "B", UNKNOWN),
    "a newer version": ([_declared(2, "A")], 3, "B", NEWER + OPEN),
    "of several versions the one": (TWO, 1, "C", UNKNOWN),
    "of several versions the other": (TWO, 3, "B", UNKNOWN),
    "between two versions, in the older one": (TWO, 2, "B", OPEN),
    "between two versions, in the newer one": (TWO, 2, "C", OPEN),
    "between two versions, in none": (TWO, 2, "D", UNKNOWN),
    "another domain": ([_declared(2, "A", domain="com.elsewhere")], 2, "B", OPEN),
}


@pytest.mark.parametrize(("sets", "version", "operator", "found"), AGAINST.values(), ids=AGAINST)
def test_which_operators_a_set_has(tmp_path: Path, sets: list[str], version: int, operator: str, found: list[str]):
    assert _against(tmp_path, sets, version, operator) == found


STANDARD = _declared(17, "Relu:14", "Elu:6", "Own", domain="ai.onnx")
AGAINST_STANDARD = {
    "a standard operator": (17, "Relu", []),
    "a standard operator that the set leaves out": (17, "Abs", UNKNOWN),
    "one that ONNX does not know": (17, "Own", ["not verified: ai.onnx"]),
    "another version": (13, "Abs", []),
    "another version, unknown": (13, "Own", UNKNOWN),
}


@pytest.mark.parametrize(("version", "operator", "found"), AGAINST_STANDARD.values(), ids=AGAINST_STANDARD)
def test_which_standard_operators_a_set_has(tmp_path: Path, version: int, operator: str, found: list[str]):
    assert _against(tmp_path, [STANDARD], version, operator, domain="") == found


REFUSED = {
    "no version": (b'magic: "ONNXOPSET"\nir_version: 10', "opset_version: the operator set states no version"),
    "cut off": (_set().SerializeToString()[:-1], "no operator set can be read from the file: the file ends"),
    "bad text": (b'magic: "ONNXOPSET"\noperators { }', 'has no field named "operators"'),
    "a model": (b"\x08\x0a\x3a\x03\x12\x01g", "the file is neither an operator set nor a schema file, which is JSON"),
}


@pytest.mark.parametrize(("data", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_operator_set_is_refused(tmp_path: Path, data: bytes, reason: str):
    path = tmp_path / "set"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=re.escape(reason)):
        lint(b"", opset_schemas=[path])
