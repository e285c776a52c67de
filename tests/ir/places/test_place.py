# SPDX-License-Identifier: Apache-2.0
"""Places as paths and as JSON pointers."""

from __future__ import annotations

from onnx_lint.ir.places.place import ROOT, PlaceKey
from onnx_lint.model import Place


def _place(key: PlaceKey) -> Place:
    place = ROOT
    for name, index in key:
        place = place.at(name, index)
    return place


def test_places_are_written_as_paths_and_pointers():
    place = ROOT.at("graph").at("node", 3).at("attribute", 0).at("g").at("input", 1)
    assert str(place) == "graph.node[3].attribute[0].g.input[1]"
    assert place.pointer() == "/graph/node/3/attribute/0/g/input/1"
    assert (str(ROOT), ROOT.pointer(), ROOT.key) == ("model", "", ())
    assert [str(ancestor) for ancestor in place.ancestors()][-2:] == ["graph", "model"]
    assert (place.last_step, place.at("g").last_step) == ("input[1]", "g")
    assert place == _place(place.key)
