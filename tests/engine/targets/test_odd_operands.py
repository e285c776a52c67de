# SPDX-License-Identifier: Apache-2.0
"""Nodes whose numbers of operands or types of attributes their operators do not allow are judged without a crash."""

from __future__ import annotations

import re

import onnx
import pytest
from support.project.checkout import ROOT

import onnx_lint
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES, BUILT_IN

TARGETS = ("onnxruntime=1.19", "openvino=2026.4", "onnx.full_check")
SLOW_TARGETS = ("onnxruntime=1.17", "onnxruntime=1.32", "openvino=2023.3", "tensorrt=10.15", "onnx.checker")
FOLDERS = ("onnx_lint/engine/targets", "onnx_lint/refusals", "onnx_lint/spec/products", "rules/target")
OPERANDS = {
    "no inputs": ([], ["y"]),
    "one input": (["x"], ["y"]),
    "omitted inputs": (["", "", ""], ["y"]),
    "an omitted first input": (["", "x", "c"], ["y"]),
    "an omitted second input": (["x", "", "c"], ["y"]),
    "omitted outputs": (["x", "c", "x"], ["", ""]),
    "no outputs": (["x", "c", "x"], []),
}
ODD_VALUES = {"STRING": {"s": b"\xff\xfe"}, "INT": {"i": 1, "s": b"\xff\xfe"}, "INTS": {"ints": [-1, 0]}}
"""A value for each type of attribute with which all attributes of the nodes are written. It may not be UTF-8."""


def _named_operators() -> dict[str, list[str]]:
    """Return the operators that the modules about targets name, by domain."""
    sources = [path.read_text(encoding="utf-8") for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    words = {word for source in sources for word in re.findall(r"\w+", source)}
    domains = ("", "ai.onnx.ml", "com.microsoft")
    return {domain: sorted(words.intersection(BUILT_IN.operator_names(domain))) for domain in domains}


def _model(version: int, element_type: int, kind: str | None) -> onnx.ModelProto:
    """Return a model with each operator beside each of `OPERANDS`. `kind`: the type of all of its attributes."""
    model = onnx.ModelProto(ir_version=10 if version < 24 else 13)
    graph = model.graph
    graph.name = "g"
    graph.input.append(onnx.helper.make_tensor_value_info("x", element_type, [2, 0, 3]))
    graph.initializer.add(name="c", data_type=element_type, dims=[0])
    for domain, operators in _named_operators().items():
        imported = {"": version, "ai.onnx.ml": 3}.get(domain, 1)
        model.opset_import.add(domain=domain, version=imported)
        for operator in operators:
            schema = BUILT_IN.find(domain, operator, imported)
            names = schema.attributes if schema is not None and kind is not None else ()
            for inputs, outputs in OPERANDS.values():
                node = graph.node.add(domain=domain, op_type=operator, input=inputs)
                node.output.extend(f"{name}{len(graph.node)}" if name else "" for name in outputs)
                for name in names:
                    node.attribute.add(name=name, type=ATTRIBUTE_TYPE_CODES[kind], **ODD_VALUES[kind])
    return model


def _crashes(version: int, element_type: int, kind: str | None, targets: tuple[str, ...]) -> list[str]:
    report = onnx_lint.lint(_model(version, element_type, kind), target=list(targets))
    return [f"{each.exception}\n{each.traceback}" for each in report.files[0].internal_errors]


def test_odd_nodes_are_judged_without_a_crash() -> None:
    assert _crashes(27, onnx.TensorProto.FLOAT16, "INT", TARGETS) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, *ODD_VALUES])
@pytest.mark.parametrize("element_type", [onnx.TensorProto.FLOAT16, onnx.TensorProto.INT32])
@pytest.mark.parametrize("version", [6, 10, 16, 20, 27])
def test_all_odd_nodes_are_judged_without_a_crash(version: int, element_type: int, kind: str | None) -> None:
    assert _crashes(version, element_type, kind, TARGETS + SLOW_TARGETS) == []
