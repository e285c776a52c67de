# SPDX-License-Identifier: Apache-2.0
"""Operator-set documents: how they are recognized, and which operators they have."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import json_format, text_format

from onnx_lint import lint, schema
from onnx_lint.spec.operators import BUILT_IN
from onnx_lint.spec.operators.declared import declared_set

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


@pytest.mark.parametrize(
    ("operator", "version", "found"),
    [
        ("Blur", 2, True),
        ("blur", 2, False),
        ("Warp", 2, True),
        ("Smear", 2, False),
        ("Blur", 1, True),
        ("Warp", 1, False),
        ("Smear", 1, False),
        ("Blur", 3, None),
    ],
)
def test_which_operators_a_set_has(operator: str, version: int, found: bool | None):
    schemas = BUILT_IN.with_declared(declared_set(_set()))
    assert schemas.is_declared("com.example", operator, version) is found
    assert schemas.is_declared("com.elsewhere", operator, version) is None


@pytest.mark.parametrize(("version", "operator", "found"), [(17, "Relu", True), (17, "Abs", False), (13, "Abs", None)])
def test_which_standard_operators_a_set_has(version: int, operator: str, found: bool | None):
    document = _set()
    document.domain, document.opset_version, document.operator[0].op_type = "ai.onnx", 17, "Relu"
    assert BUILT_IN.with_declared(declared_set(document)).is_declared("", operator, version) is found


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
