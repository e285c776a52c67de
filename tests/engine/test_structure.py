# SPDX-License-Identifier: Apache-2.0
"""The structure around a place, and the names around it."""

from __future__ import annotations

import pytest
from onnx import parser

from onnx_lint.engine.structure import Structures
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.places.place import Place
from onnx_lint.loader import load
from onnx_lint.model import Model

TEXT = """
<ir_version: 8, opset_import: ["" : 17]>
main (float[2] x, float[2] z) => (float[2] y, float[2] u) <float[2] v = {1, 2}, float[2] w = {1, 2}, float[2] a> {
  [first] a = Add(x, v)
  [second] y = Add(a, w)
  u = Mul(z, w)
}
"""


@pytest.fixture(scope="module")
def model() -> Model:
    return load(BytesSource(parser.parse_model(TEXT).SerializeToString()))


@pytest.mark.parametrize(
    ("field", "index", "steps", "names"),
    [
        ("input", 0, "input 0", ("x",)),
        ("output", 0, "output 0", ("y",)),
        ("initializer", 0, "initializer ['Add 1 1']", ("v",)),
        ("initializer", 1, "initializer ['Add 2 1', 'Mul 1 1']", ("w",)),
        ("node", 0, "Add 1 ['input 0', ''] [['Add 2 0']]", ("first", "a")),
        ("node", 1, "Add 2 ['Add', ''] [['output 0']]", ("second", "y")),
        ("initializer", 7, "initializer 7", ()),
        ("node", 7, "node 7", ()),
    ],
)
def test_each_kind_of_place(model: Model, field: str, index: int, steps: str, names: tuple[str, ...]):
    found = Structures(model).of(_place(model, field, index))
    assert found == (("graph None", steps), names)


def _place(model: Model, field: str, index: int) -> Place:
    return model.main_graph.place.at(field, index)
