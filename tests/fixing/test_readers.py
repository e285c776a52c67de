# SPDX-License-Identifier: Apache-2.0
"""A repeated entry is deleted only if no reader can see the difference: some take the first entry, some the last."""

from __future__ import annotations

import onnx.helper
import pytest

from onnx_lint import lint


def _model() -> onnx.ModelProto:
    x, y = (onnx.helper.make_tensor_value_info(name, 1, [2]) for name in "xy")
    nodes = [onnx.helper.make_node("Relu", ["x"], ["a"], "r"), onnx.helper.make_node("Relu", ["a"], ["y"], "s")]
    graph = onnx.helper.make_graph(nodes, "g", [x], [y])
    return onnx.helper.make_model(graph, producer_name="t", opset_imports=[])


def _fixable(model: onnx.ModelProto, rule: str) -> list[bool]:
    found = [each for each in lint(model, {"pedantic": True}).diagnostics if each.rule == rule]
    assert found
    return [each.fix is not None for each in found]


@pytest.mark.parametrize(("versions", "fixable"), [((17, 17), [True]), ((17, 18, 17), [False, False])])
def test_imports(versions: tuple[int, ...], fixable: list[bool]):
    model = _model()
    for version in versions:
        model.opset_import.add(domain="", version=version)
    assert _fixable(model, "duplicate-opset-import") == fixable


@pytest.mark.parametrize(("values", "fixable"), [("vv", [True]), ("vwv", [False, False])])
def test_metadata(values: str, fixable: list[bool]):
    model = _model()
    model.opset_import.add(domain="", version=17)
    for value in values:
        model.metadata_props.add(key="k", value=value)
    assert _fixable(model, "duplicate-metadata-key") == fixable


@pytest.mark.parametrize(("sizes", "is_fixable"), [((2, 2), True), ((2, 3, 2), False)])
def test_value_infos(sizes: tuple[int, ...], is_fixable: bool):
    model = _model()
    model.opset_import.add(domain="", version=17)
    for size in sizes:
        model.graph.value_info.append(onnx.helper.make_tensor_value_info("a", 1, [size]))
    assert any(_fixable(model, "duplicate-value-info")) is is_fixable
