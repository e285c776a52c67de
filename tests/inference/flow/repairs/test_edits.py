# SPDX-License-Identifier: Apache-2.0
"""The edits of changes with which the shapes of a node fit."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_lint.inference.flow.repairs.edits import converted, transposed, unsqueezed, with_attributes, with_list
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.places.edits import Assign, Insert
from onnx_lint.loader import load


def _model(opset: int = 21):
    head = f'<ir_version: 8, opset_import: ["": {opset}]>'
    text = f"{head} g (float[4] x, float[4] axes) => (float[4] y) {{ y = Add(x, axes) }}"
    return load(BytesSource(onnx.parser.parse_model(text).SerializeToString()))


def _shown(edits) -> list[str]:
    """Each edit as its kind, its place and the operator, attribute or text that it writes."""
    found = []
    for edit in edits:
        assert isinstance(edit, Assign | Insert)
        value = edit.value
        what = value if isinstance(value, str) else getattr(value, "op_type", "") or getattr(value, "name", "")
        found.append(f"{type(edit).__name__} {edit.place} {what}")
    return found


@pytest.mark.parametrize(
    ("opset", "shown"),
    [
        (12, ["Insert graph.node[0] Unsqueeze", "Assign graph.node[0].input[0] x_unsqueeze"]),
        (
            13,
            [
                "Insert graph.node[0] Constant",
                "Insert graph.node[0] Unsqueeze",
                "Assign graph.node[0].input[0] x_unsqueeze",
            ],
        ),
    ],
)
def test_the_axes_of_unsqueeze_are_an_input_from_version_13_on(opset: int, shown: list[str]):
    model = _model(opset)
    edits = list(unsqueezed(model.main_graph.nodes[0], 0, [1], model.operators))
    assert _shown(edits) == shown
    [unsqueeze] = [edit.value for edit in edits if isinstance(edit, Insert) and edit.value.op_type == "Unsqueeze"]
    assert list(unsqueeze.input) == (["x"] if opset < 13 else ["x", "axes_1"])


def test_a_node_before_an_input_takes_what_the_input_was():
    node = _model().main_graph.nodes[0]
    for edits, operator in ((transposed(node, 1, [0]), "Transpose"), (converted(node, 1, 7), "Cast")):
        insert, assign = edits
        assert isinstance(insert, Insert)
        assert isinstance(assign, Assign)
        assert (insert.value.op_type, list(insert.value.input)) == (operator, ["axes"])
        assert list(insert.value.output) == [assign.value]
        assert str(assign.place) == "graph.node[0].input[1]"


def test_a_list_is_a_constant_for_this_node_alone():
    assert _shown(with_list(_model().main_graph.nodes[0], 1, [2, -1])) == [
        "Insert graph.node[0] Constant",
        "Assign graph.node[0].input[1] axes_list",
    ]


def test_attributes_have_a_number_or_a_list():
    edits = list(with_attributes(_model().main_graph.nodes[0], {"group": 2, "kernel_shape": (3, 3)}))
    assert [(each.value.type, each.value.i, list(each.value.ints)) for each in edits] == [(2, 2, []), (7, 0, [3, 3])]
