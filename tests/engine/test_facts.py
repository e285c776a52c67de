# SPDX-License-Identifier: Apache-2.0
"""The facts about a file that a report has besides its findings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import AttributeProto, ModelProto, TensorProto, parser

from onnx_lint import lint
from onnx_lint.engine.facts import facts_of, not_examined
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.report.not_verified import not_verified_in_words

_STORED_OUTSIDE = TensorProto(name="t", data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)


@pytest.mark.parametrize(
    ("proto", "noun"),
    [
        (ModelProto(graph={"initializer": [_STORED_OUTSIDE]}), "model"),
        (_STORED_OUTSIDE, "tensor"),
        (AttributeProto(name="value", type=AttributeProto.TENSOR, t=_STORED_OUTSIDE), "attribute"),
    ],
)
def test_a_document_without_a_place_is_called_what_it_is(proto, noun):
    model = load(BytesSource(proto.SerializeToString()), proto=proto.DESCRIPTOR.name)
    [said] = not_examined(model, Settings())
    assert said == f"the files of external data were not examined: the {noun} has no place in the file system"


@pytest.mark.parametrize("limits", [{}, {"external_bytes": 8}], ids=["read", "beyond the limit"])
def test_a_file_of_external_data_that_is_not_read_is_named(tmp_path: Path, limits: dict[str, int]):
    text = """
    <ir_version: 10, opset_import: ["" : 21]>
    g (float[N] x) => (y) <int64[2] shape = {4, -1}> { y = Reshape(x, shape) }
    """
    proto = parser.parse_model(text)
    (tmp_path / "data.bin").write_bytes(np.array([4, -1], np.int64).tobytes())
    [shape] = proto.graph.initializer
    shape.ClearField("int64_data")
    shape.data_location = TensorProto.EXTERNAL
    shape.external_data.add(key="location", value="data.bin")
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    [file] = lint(tmp_path / "model.onnx", {"limits": limits}).files
    why = "its 16 bytes are more than the limit external_bytes leaves (option --limit external_bytes=N)"
    expected = (f"the contents of 'data.bin' were not verified: {why}",) if limits else ()
    assert file.incomplete == expected


def test_operators_count_with_the_version_that_their_graph_imports():
    text = """
    <ir_version: 8, opset_import: ["" : 17, "own" : 1]>
    g (float[N] x, bool c) => (float[N] y) {
      a = ai.onnx.Relu(x)
      b = own.f(a)
      y = If (c) <then_branch = t () => (z) { z = Relu(b) }, else_branch = e () => (z) { z = other.Relu(b) }>
    }
    <domain: "own", opset_import: ["" : 13]> f (x) => (y) { z = Relu(x) y = Relu(z) }
    """
    proto = parser.parse_model(text)
    facts = facts_of(load(BytesSource(proto.SerializeToString())), Settings())
    assert facts is not None
    assert {(each.domain, each.version, each.name): each.nodes for each in facts.operators} == {
        ("", 17, "Relu"): 2,
        ("", 17, "If"): 1,
        ("own", 1, "f"): 1,
        ("other", None, "Relu"): 1,
        ("", 13, "Relu"): 2,
    }
    assert [each.nodes for each in facts.operators] == [2, 2, 1, 1, 1]


@pytest.mark.parametrize(
    ("fields", "producer"),
    [
        ({"producer_name": "p", "producer_version": "1"}, "p 1"),
        ({"producer_name": "p"}, "p"),
        ({"producer_version": "1.2"}, "(no producer name) 1.2"),
        ({}, ""),
    ],
)
def test_a_version_without_a_producer_is_shown_as_one(fields: dict[str, str], producer: str):
    proto = ModelProto(ir_version=10, **fields)
    facts = facts_of(load(BytesSource(proto.SerializeToString())), Settings())
    assert facts is not None
    assert facts.producer == producer


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["Gellu"], "1 node of domain 'com.microsoft' with the unknown operator 'Gellu' (did you mean 'Gelu'?)"),
        (["Nothing", "Nothing"], "2 nodes of domain 'com.microsoft' with the unknown operator 'Nothing'"),
        (
            ["gelu", "Qx", "Qy", "Qz", "Q_"],
            "5 nodes of domain 'com.microsoft' with the unknown operators 'gelu' (did you mean 'Gelu'?), 'Qx', 'Qy', "
            "2 more",
        ),
    ],
)
def test_unknown_operators_of_a_known_domain_are_named(names: list[str], said: str):
    nodes = " ".join(f"y{index} = com.microsoft.{name}(x)" for index, name in enumerate(names))
    imports = 'opset_import: ["" : 21, "com.microsoft" : 1]'
    proto = parser.parse_model(f"<ir_version: 10, {imports}> g (float[N] x) => (float[N] y0) {{ {nodes} }}")
    (file,) = lint(proto).files
    assert [text for text in not_verified_in_words(file) if "domain" in text] == [said]


def test_a_call_of_another_overload_is_no_unknown_operator():
    text = """
    <ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>
    g (float[N] x) => (float[N] y) { y = com.microsoft.Mine:other(x) }
    <domain: "com.microsoft", overload: "one", opset_import: ["" : 21]> Mine (x) => (z) { z = Relu(x) }
    """
    (file,) = lint(parser.parse_model(text)).files
    assert (file.not_verified, file.not_listed) == ((("com.microsoft", 1),), ())


@pytest.mark.parametrize(("version", "why"), [(21, None), (99, "whose version 99 is not known")])
def test_an_operator_of_a_later_version_is_not_called_unknown(version: int, why: str | None):
    text = f'<ir_version: 10, opset_import: ["" : {version}]> g (float[N] x) => (float[N] y) {{ y = Newer(x) }}'
    proto = parser.parse_model(text)
    report = lint(proto)
    said = [text for file in report.files for text in not_verified_in_words(file) if "domain" in text]
    assert said == ([] if why is None else [f"1 node of domain 'ai.onnx', {why}"])
