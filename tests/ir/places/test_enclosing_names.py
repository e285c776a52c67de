# SPDX-License-Identifier: Apache-2.0
"""The names around a place."""

from __future__ import annotations

import pytest
from support.models.model_samples import from_text

from onnx_lint import schema
from onnx_lint.ir.places.place import ROOT, EnclosingNames
from onnx_lint.model import Proto


def opened_from_now_on(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of the messages that are opened, in their order."""
    parsed: list[str] = []
    outline = schema.outline

    def counted(message: str) -> type[Proto]:
        parsed.append(message)
        return outline(message)

    monkeypatch.setattr(schema, "outline", counted)
    return parsed


def test_the_surroundings_of_places_in_one_node_take_one_look_at_it(monkeypatch: pytest.MonkeyPatch):
    body = 'name: "body" node { op_type: "Abs" output: "y" } node { domain: "d" op_type: "Relu" name: "r" } '
    outer = f'name: "l" op_type: "Loop" attribute {{ name: "body" g {{ {body} }} }}'
    model = from_text(f'graph {{ name: "g" node {{ {outer} }} }}')
    parsed = opened_from_now_on(monkeypatch)
    node = ROOT.at("graph").at("node", 0)
    graph = node.at("attribute", 0).at("g")
    inside = ("g", "l", "body", "body")
    expected = {
        ROOT: EnclosingNames(),
        ROOT.at("graph").at("node"): EnclosingNames(graph="g", scope=("g",)),
        ROOT.at("graph").at("node", 1): EnclosingNames(graph="g", scope=("g",)),
        node.at("output", 0): EnclosingNames("l", "Loop", "g", ("g", "l")),
        node.at("attribute", 0).at("name"): EnclosingNames("l", "Loop", "g", ("g", "l", "body")),
        graph.at("name"): EnclosingNames(None, None, "body", inside),
        graph.at("node", 0): EnclosingNames("", "Abs", "body", (*inside, "Abs y")),
        graph.at("node", 1).at("no_such_field"): EnclosingNames("r", "d::Relu", "body", (*inside, "r")),
    }
    assert {place: model.places.enclosing_names(place) for place in expected} == expected
    assert parsed == ["NodeProto"] * 3


def test_of_small_messages_the_last_one_is_kept_and_of_large_ones_all(monkeypatch: pytest.MonkeyPatch):
    long = "a" * 600
    model = from_text(
        "graph { "
        + "".join(f'node {{ name: "{name}" output: "{long}" }} node {{ name: "s{name}" }} ' for name in "ab")
        + "}"
    )
    parsed = opened_from_now_on(monkeypatch)
    nodes = [ROOT.at("graph").at("node", index) for index in (0, 2, 0, 2, 1, 1, 3, 1)]
    assert [model.places.enclosing_names(node).node for node in nodes] == ["a", "b", "a", "b", "sa", "sa", "sb", "sa"]
    assert parsed.count("NodeProto") == 5
