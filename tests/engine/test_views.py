# SPDX-License-Identifier: Apache-2.0
"""A description of a node is that of one node, or it is of no use."""

from __future__ import annotations

import itertools

import onnx
import pytest

from onnx_lint.engine.structure import Structures
from onnx_lint.engine.views import Description
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.places.place import place_of
from onnx_lint.loader import load

COMPARED = ("before", "behind", "both_ends", "whole")
"""The kinds of descriptions that a baseline of today compares."""


def _chain(operators: str, *, wrong: int | None = None) -> list[list[Description]]:
    """Return the descriptions of the nodes of a chain, each with its place for the operator, if that may be wrong."""
    names = {"R": "Relu", "N": "Neg", "I": "Identity", "?": "Reluy"}
    nodes = [onnx.helper.make_node(names[each], [f"v{at}"], [f"v{at + 1}"]) for at, each in enumerate(operators)]
    values = [onnx.helper.make_tensor_value_info(f"v{at}", 1, [2]) for at in (0, len(nodes))]
    model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", values[:1], values[1:]))
    structures = Structures(load(BytesSource(model.SerializeToString())))
    field = ("op_type", None) if wrong is not None else ("input", 0)
    return [structures.of(place_of((("graph", None), ("node", at), field))).descriptions() for at in range(len(nodes))]


def _is_known(now: list[Description], before: list[Description]) -> bool:
    """Return whether a baseline takes the two for one place: an entry has the first description of each kind."""
    known = {each.kind: each for each in reversed(before)}
    return any(known[kind] in now for kind in COMPARED)


@pytest.mark.parametrize(
    ("before", "now", "moved"),
    [
        ("RNR", "RNR", 0),
        ("RNR", "NRNR", 1),
        ("RNR", "RNRN", 0),
        ("RNR", "NRNRN", 1),
        ("RNR", "NNRNRN", 2),
        ("RNR", "RINR", None),
        ("RIN", "RNIN", None),
    ],
)
def test_nodes_at_the_ends_change_no_place(before: str, now: str, moved: int | None):
    old, new = _chain(before), _chain(now)
    for at, each in enumerate(old):
        if moved is not None:
            assert _is_known(new[at + moved], each), at
    for (at, one), (other, another) in itertools.product(enumerate(old), enumerate(new)):
        if moved is not None and other != at + moved:
            assert not _is_known(another, one), (at, other)


@pytest.mark.parametrize("more", ["R", "N", "RR", "NN"])
@pytest.mark.parametrize("ends", ["front", "behind", "both"])
def test_of_equal_nodes_no_other_one_is_known(ends: str, more: str):
    """A Reluy that was a Relu has moved to another node, while nodes came to the ends."""
    length = 6
    for was, is_now in itertools.permutations(range(length), 2):
        front, behind = more if ends != "behind" else "", more if ends != "front" else ""
        before = "R" * was + "?" + "R" * (length - 1 - was)
        now = front + "R" * is_now + "?" + "R" * (length - 1 - is_now) + behind
        old, new = _chain(before, wrong=was)[was], _chain(now, wrong=0)[len(front) + is_now]
        assert not _is_known(new, old), (before, now)


def test_a_node_without_neighbours_is_not_known_by_its_operator():
    model = onnx.helper.make_model(
        onnx.helper.make_graph([onnx.helper.make_node("Relu", [f"a{at}"], [f"b{at}"]) for at in range(5)], "g", [], [])
    )
    found = []
    for at in (1, 3):
        wrong = onnx.ModelProto.FromString(model.SerializeToString())
        wrong.graph.node[at].op_type = "Reluy"
        place = place_of((("graph", None), ("node", at), ("op_type", None)))
        found.append(Structures(load(BytesSource(wrong.SerializeToString()))).of(place).descriptions())
    assert not _is_known(*found)
    of_old = [[each for each in one if each.kind == "by_operators"] for one in found]
    assert of_old[0] == of_old[1]


@pytest.mark.parametrize(("was", "now"), [(2, 3), (3, 2)])
@pytest.mark.parametrize("operator", ["Identity", "Constant"])
def test_a_misspelled_node_that_does_not_count_is_not_its_neighbour(operator: str, was: int, now: int):
    found = []
    for at in (was, now):
        nodes = [onnx.helper.make_node("Split", ["x"], ["a", "b"], num_outputs=2)]
        names = (("a", "y0"), ("a", "y1"), ("b", "y2"), ("b", "y3"))
        for source, name in names:
            reads = [source] if operator == "Identity" else []
            nodes.append(onnx.helper.make_node(operator, reads, [name]))
        nodes[at].op_type += "y"
        model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", [], []))
        place = place_of((("graph", None), ("node", at), ("op_type", None)))
        found.append(Structures(load(BytesSource(model.SerializeToString()))).of(place).descriptions())
    assert not _is_known(*found)
