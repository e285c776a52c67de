# SPDX-License-Identifier: Apache-2.0
"""Documents that are no models, made to mislead: tests/data/documents.txt holds them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from google.protobuf import json_format, text_format
from support.project.checkout import TESTS
from support.project.each_case import each_case

from onnx_lint import lint, schema
from onnx_lint.cli.application import run
from onnx_lint.common.record import replace
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.loader.binary import strip_payloads
from onnx_lint.loader.identity import other_messages
from onnx_lint.report.findings import Diagnostic
from onnx_lint.reporters import REPORTERS
from onnx_lint.spec.clauses import DEFAULT_EDITION

CASES = re.findall(
    r"^\[(\w+)\] (.+?)(?: -> (.+))?\n((?:[^\[#\n].*\n)*)",
    (TESTS / "data" / "documents.txt").read_text(encoding="utf-8"),
    re.MULTILINE,
)
CONFORMING = {what: (kind, text) for kind, what, rules, text in CASES if not rules}
FAULTY = {what: (kind, text, set(rules.split(", "))) for kind, what, rules, text in CASES if rules}


def _rules(kind: str, text: str, edition: str) -> list[str]:
    """The rules that report something about the document in its three forms, which have to agree.

    No text is an empty document in binary form alone.
    """
    proto = text_format.Parse(text, schema.message(kind)(), descriptor_pool=schema.pool())
    forms = [proto.SerializeToString()]
    if text:
        forms += [text.encode(), json_format.MessageToJson(proto).encode()]
    reports = [lint(data, {"proto": kind, "edition": edition}) for data in forms]
    assert [report.files[0].internal_errors for report in reports] == [()] * len(forms)
    rules = [[item.rule for item in report.diagnostics] for report in reports]
    assert rules == rules[:1] * len(forms)
    return rules[0]


@pytest.mark.parametrize(
    "edition", ["1.9", "1.23", *(pytest.param(each, marks=pytest.mark.heavy) for each in ("1.16", "1.21"))]
)
@each_case(("kind", "text"), CONFORMING.values(), ids=CONFORMING)
def test_an_odd_document_conforms(kind: str, text: str, edition: str):
    newer = set() if edition == DEFAULT_EDITION else {"unknown-ir-version", "unknown-opset-version"}
    assert [rule for rule in _rules(kind, text, edition) if rule not in newer] == []


@each_case(("kind", "text", "rules"), FAULTY.values(), ids=FAULTY)
def test_a_faulty_document_is_found_out(kind: str, text: str, rules: set[str]):
    assert set(_rules(kind, text, "1.23")) == rules


def test_no_case_is_lost():
    assert (len(CONFORMING), len(FAULTY)) == (55, 68)


@pytest.mark.parametrize(
    ("text", "rule", "reason"),
    [
        ('op_type: "Relux" input: "x" output: "y"', "unknown-operator", None),
        (
            'op_type: "Unsqueeze" input: "x" output: "y" attribute { name: "axes" type: INTS ints: 0 }',
            "unknown-operator-attribute",
            "the document is one node, and has no place for a Constant",
        ),
    ],
)
def test_a_node_by_itself_is_judged_by_an_operator_set(text: str, rule: str, reason: str | None):
    node = text_format.Parse(text, schema.message("NodeProto")(), descriptor_pool=schema.pool())
    report = lint(node.SerializeToString(), {"proto": "NodeProto", "opset_imports": {"": 21}})
    assert report.files[0].internal_errors == ()
    assert [item.advice.no_fix for item in report.diagnostics if item.rule == rule] == [reason]


def test_a_name_that_looks_like_a_place_stays_as_it_is():
    node = 'node { op_type: "Relu" input: "the model" output: "y" }'
    text = f'name: "graph.node[0]" {node} input {{ name: "graph.output[0]" }}'
    graph = text_format.Parse(text, schema.message("GraphProto")(), descriptor_pool=schema.pool())
    report = lint(
        graph.SerializeToString(), {"proto": "GraphProto", "opset_imports": {"": 17}}, select="undefined-name"
    )
    assert [(item.place, item.message) for item in report.diagnostics] == [
        (
            "node[0].input[0]",
            "unnamed node 0 (Relu) of the graph uses 'the model', which nothing defines; "
            "nothing uses 'graph.output[0]' or 'y'",
        )
    ]


@pytest.mark.parametrize("format_name", REPORTERS)
def test_every_format_tells_of_an_operator_set(format_name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "set.onnxopset"
    path.write_text(FAULTY["an operator of a later version"][1], encoding="utf-8")
    assert run([str(tmp_path), "--format", format_name, "--no-config"]) == 1
    out = capsys.readouterr().out
    assert "invalid-since-version" in out
    assert "operator[0].since_version" in out.replace("\\", "")


TINY = "data_type: 9 dims: 1 int32_data: 1"


def _large() -> dict[str, tuple[str, str]]:
    """Documents whose tensors are worth leaving in the file, with a fault in the contents of each."""
    ones = "1, " * 39 + "1"
    tensor = f"data_type: 9 dims: 41 int32_data: [{ones}, 2]"
    sparse = f"values {{ {tensor} }} indices {{ data_type: 7 dims: 41 int64_data: [{'3, ' * 40}3] }} dims: 9"
    node = f'op_type: "Constant" output: "c" attribute {{ name: "value" type: TENSOR t {{ {tensor} }} }}'
    imports = 'domain: "com.example" opset_import { version: 17 }'
    sequence = f"elem_type: 1 tensor_values {{ {TINY} }} tensor_values {{ {tensor} }}"
    return {
        "tensor": ("TensorProto", tensor),
        "raw tensor": ("TensorProto", f'data_type: 9 dims: 40 raw_data: "{"x" * 40}"'),
        "short tensor": ("TensorProto", tensor.replace("dims: 41", "dims: 42")),
        "sparse tensor": ("SparseTensorProto", sparse),
        "attribute": ("AttributeProto", f'name: "a" type: TENSORS tensors {{ {TINY} }} tensors {{ {tensor} }}'),
        "node": ("NodeProto", node),
        "graph": ("GraphProto", f'name: "g" initializer {{ name: "x" {tensor} }} node {{ {node} }}'),
        "function": ("FunctionProto", f'name: "f" {imports} node {{ {node} }}'),
        "operator set": (
            "OperatorSetProto",
            f'magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 1 '
            f'functions {{ name: "f" {imports} node {{ {node} }} }}',
        ),
        "sequence": ("SequenceProto", sequence),
        "sparse sequence": ("SequenceProto", f"elem_type: 2 sparse_tensor_values {{ {sparse} }}"),
        "map": ("MapProto", f"key_type: 7 keys: [1, 2] values {{ {sequence} }}"),
        "optional": (
            "OptionalProto",
            f"elem_type: 5 optional_value {{ elem_type: 3 sequence_value {{ {sequence} }} }}",
        ),
    }


@pytest.mark.parametrize(("kind", "text"), _large().values(), ids=_large())
def test_contents_that_stay_in_the_file_are_judged_as_well(kind: str, text: str, monkeypatch: pytest.MonkeyPatch):
    proto = text_format.Parse(text, schema.message(kind)(), descriptor_pool=schema.pool())
    data = proto.SerializeToString()
    answer = _bare(lint(data, {"proto": kind}).diagnostics)
    untold = lint_source(BytesSource(data), "input_0.pb", Settings()).diagnostics
    assert answer
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", 16)
    monkeypatch.setattr(strip_payloads, "INTEGER_BYTES", 16)
    monkeypatch.setattr(other_messages, "_MAX_BYTES_WITH_PAYLOADS", 0)
    assert load(BytesSource(data), proto=kind).payloads
    assert _bare(lint(data, {"proto": kind}).diagnostics) == answer
    assert lint_source(BytesSource(data), "input_0.pb", Settings()).diagnostics == untold


def _bare(diagnostics: tuple[Diagnostic, ...]) -> list[Diagnostic]:
    """The diagnostics without the lines around them, which show no values that stay in the file."""
    return [replace(item, context=()) for item in diagnostics]


def test_a_file_named_as_an_operator_set_is_told_what_is_wrong_with_its_magic_word(tmp_path: Path):
    text = 'ir_version: 8 domain: "com.example" opset_version: 2 operator { op_type: "A" since_version: 1 }'
    for magic, found in (("", "no magic word"), ('magic: "onnxopset"', "the magic word 'onnxopset'")):
        proto = text_format.Parse(magic + text, schema.message("OperatorSetProto")(), descriptor_pool=schema.pool())
        path = tmp_path / "set.onnxopset"
        path.write_bytes(proto.SerializeToString())
        (item,) = lint(path).diagnostics
        assert (item.rule, item.message) == ("missing-magic", f"the operator set has {found}")
        other = path.rename(tmp_path / "set.onnx")
        assert [item.rule for item in lint(other).diagnostics] == ["not-a-model"]


def test_a_name_does_not_make_an_operator_set_of_another_message(tmp_path: Path):
    text = 'name: "t" data_type: 1 dims: 1 float_data: 1'
    tensor = text_format.Parse(text, schema.message("TensorProto")(), descriptor_pool=schema.pool())
    path = tmp_path / "set.onnxopset"
    path.write_bytes(tensor.SerializeToString())
    assert [item.rule for item in lint(path).diagnostics] == ["not-a-model"]
