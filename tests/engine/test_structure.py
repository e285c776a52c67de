# SPDX-License-Identifier: Apache-2.0
"""The structure around a place, and the names around it."""

from __future__ import annotations

import pytest
from onnx import parser
from support.models.places import place_at

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
    ("field", "index", "steps", "names", "views"),
    [
        ("input", 0, "input 0", ("x",), ["input 0", "input -2 from the end", "input 0"]),
        ("output", 0, "output 0", ("y",), ["output 0", "output -2 from the end", "output 0"]),
        ("initializer", 0, "initializer ['Add 1 1']", ("v",), ["Add 0 1", "Add 3 1", "Add 0 1"]),
        (
            "initializer",
            1,
            "initializer ['Add 2 1', 'Mul 1 1']",
            ("w",),
            ["Mul 0 1', 'Add 1 1", "Mul 1 1', 'Add 2 1", "Mul 0 1', 'Add 1 1"],
        ),
        (
            "node",
            0,
            "Add 1 ['input 0', ''] [['Add 2 0']]",
            ("first", "a"),
            ["Add 0  ['input 0', '']", "Add 3  [['Add 2 0']]", "Add 0 ['input 0', ''] [['Add 1 0']]"],
        ),
        (
            "node",
            1,
            "Add 2 ['Add', ''] [['output 0']]",
            ("second", "y"),
            ["Add 1  ['Add 0', '']", "Add 2  [['output 0']]", "Add 1 ['Add 1', ''] [['output 0']]"],
        ),
        ("initializer", 7, "initializer 7", (), ["initializer 7", "initializer 5 from the end", "initializer 7"]),
        ("node", 7, "node 7", (), ["node 7", "node 7 from the end", "node 7"]),
    ],
)
def test_each_kind_of_place(
    model: Model, field: str, index: int, steps: str, names: tuple[str, ...], views: list[str]
) -> None:
    found = Structures(model).of(_place(model, field, index))
    assert (found.steps, found.names) == (["graph None", steps], names)
    given = found.descriptions()[:3]
    shown = [f"initializer ['{view}']" if "'" in steps and field == "initializer" else view for view in views]
    assert [each.texts[1:] for each in given] == [(view,) for view in shown]


@pytest.mark.parametrize(
    ("place", "inside"),
    [
        ("graph.node[0].input[1]", ("input 1",)),
        ("graph.node[0].attribute[2].ints[3]", ("ints 3",)),
        ("graph.input[0].type.tensor_type.shape.dim[3].dim_value", ("dim 3",)),
        ("graph.node[0].op_type", ()),
        ("graph.initializer[0].external_data[1].value", ()),
        ("metadata_props[1].key", ()),
    ],
)
def test_indices_of_named_elements_are_not_inside_of_a_value(model: Model, place: str, inside: tuple[str, ...]) -> None:
    assert Structures(model).of(place_at(place)).inside == inside


@pytest.mark.parametrize(
    ("text", "place", "is_same"),
    [
        (TEXT, "graph.node[1]", True),
        (TEXT.replace("u = Mul", "u2 = Mul"), "graph.node[1]", False),
        (TEXT.replace("[second]", "[third]"), "graph.node[1]", False),
        (TEXT.replace("[second]", "[third]"), "graph.initializer[0]", True),
        (TEXT.replace("w", "w2"), "graph.initializer[0]", False),
        (TEXT.replace("w", "w2"), "graph.node[0]", True),
    ],
)
def test_a_digest_of_names_tells_whether_any_has_changed(model: Model, text: str, place: str, is_same: bool) -> None:
    other = load(BytesSource(parser.parse_model(text).SerializeToString()))
    digests = [Structures(each).digest_of_names(place_at(place)) for each in (model, other)]
    assert (digests[0] == digests[1]) == is_same


def _place(model: Model, field: str, index: int) -> Place:
    return model.main_graph.place.at(field, index)
