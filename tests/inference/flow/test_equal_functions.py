# SPDX-License-Identifier: Apache-2.0
"""Functions of the same bytes but for their names share what was found of the first of them."""

from __future__ import annotations

from itertools import count

import onnx
import pytest
from google.protobuf import text_format
from support.models.mutated_models import models

from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.documents import roots
from onnx_lint.loader import load
from onnx_lint.model import Model

TYPED = """
ir_version: 10 opset_import { version: 21 } opset_import { domain: "d" version: 1 }
graph { name: "g" input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } } } } }
  input { name: "n" type { tensor_type { elem_type: 7 shape { dim { dim_value: 3 } } } } } %s }
"""
BODY = """
functions { name: "%s" domain: "d" input: "a" output: "b" opset_import { version: 21 }
  node { op_type: "%s" input: "a" output: "b" } }
"""


def _model(functions: list[tuple[str, str]], calls: list[tuple[str, str]]) -> Model:
    nodes = "".join(
        f'node {{ op_type: "{name}" domain: "d" input: "{value}" output: "y{index}" }} output {{ name: "y{index}" }}'
        for index, (name, value) in enumerate(calls)
    )
    text = TYPED % nodes + "".join(BODY % function for function in functions)
    return load(BytesSource(text_format.Parse(text, onnx.ModelProto()).SerializeToString()), "model.onnx")


def test_equal_functions_share_columns_and_facts():
    model = _model([("F", "Relu"), ("G", "Relu"), ("H", "Abs")], [("F", "x"), ("G", "x"), ("H", "x")])
    one, same, other = (function.body for function in model.functions)
    assert (same.twin, other.twin) == (one, None)
    assert same.table is one.table
    assert (one.name, same.name) == ("F", "G")
    flow = model.value_flow
    walked = [flow.walks.of(body, None) for body in (one, same)]
    assert [each.graph for each in walked if each is not None] == [one, same]
    assert flow.fact_of("b", one) is flow.fact_of("b", same) is flow.fact_of("y1")


def test_each_of_two_equal_functions_is_followed_with_its_own_arguments():
    model = _model([("F", "Relu"), ("G", "Relu")], [("F", "x"), ("G", "n"), ("G", "x")])
    kinds = {name: fact.kind for name, fact in model.value_flow.facts.items() if name.startswith("y")}
    assert kinds == {"y0": "tensor(float)", "y1": "tensor(int64)", "y2": "tensor(float)"}
    one, same = (function.body for function in model.functions)
    assert [model.value_flow.fact_of("b", body).kind for body in (one, same)] == ["tensor(float)", "tensor(int64)"]


def test_a_fault_in_two_equal_functions_is_found_in_both():
    model = _model([("F", "Det"), ("G", "Det")], [("F", "x"), ("G", "x")])
    assert [conflict.node.graph.name for conflict in model.value_flow.shapes] == ["F", "G"]


def _with_twins(model: onnx.ModelProto) -> bytes:
    """The model with a copy of each function under another name, and of each call of it in the main graph."""
    names = {(function.domain, function.name) for function in model.functions}
    for function in list(model.functions):
        model.functions.add().CopyFrom(function)
        model.functions[-1].name += "_twin"
    for node in list(model.graph.node):
        if (node.domain, node.op_type) in names:
            copy = model.graph.node.add()
            copy.CopyFrom(node)
            copy.op_type += "_twin"
            copy.name += "_twin"
            copy.output[:] = [f"{output}_twin" for output in node.output]
    return model.SerializeToString()


def test_reports_are_the_same_as_when_each_function_is_followed(monkeypatch: pytest.MonkeyPatch):
    files = [(name, _with_twins(model)) for name, model in models() if model.functions]
    settings = Settings()
    shared = [lint_source(BytesSource(data), name, settings) for name, data in files]
    numbers = count()
    monkeypatch.setattr(roots, "_without_name", lambda _: str(next(numbers)).encode())
    alone = [lint_source(BytesSource(data), name, settings) for name, data in files]
    assert len(files) > 100
    assert shared == alone
    assert sum(len(report.diagnostics) for report in alone) > len(files)
