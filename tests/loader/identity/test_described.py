# SPDX-License-Identifier: Apache-2.0
"""Operator-set documents: how they are recognized, and models that are compared with them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

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
    report = lint(model, {"opset_schemas": [path]}, select=["unknown-operator"])
    assert [place for place, _ in _found(report)] == ["graph.node[1].op_type"]
    assert report.files[0].not_verified == (("com.example", 1),)


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
    report = lint(model.encode(), {"opset_schemas": paths})
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
        lint(b"", {"opset_schemas": [path]})


# --- what ONNX itself publishes


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
        rules = {item.rule for item in lint(function).diagnostics}
        assert rules <= {"duplicate-graph-name", "markup-in-documentation"}, function.name
