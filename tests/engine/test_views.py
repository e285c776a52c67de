# SPDX-License-Identifier: Apache-2.0
"""A description of a node is that of one node, or it is of no use."""

from __future__ import annotations

import itertools
import unicodedata

import onnx
import pytest
from support.models.places import place_at
from support.project.each_case import each_case

from onnx_lint.engine.structure import Structures, digest
from onnx_lint.engine.views import Description, stable_repr
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.places.place import place_of
from onnx_lint.loader import load

COMPARED = ("before", "after", "both_ends", "whole")
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
@pytest.mark.parametrize("ends", ["front", "after", "both"])
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


MODEL = """
<ir_version: 10, opset_import: ["" : 21]>
main (float[2] x, bool c) => (float[2] y, float[2] u) <float[2] w = {1, 2}, float[2] h> {
  [constant] k = Constant <value_float = 1.0> ()
  [first] a = Add(x, w)
  [same] s = Identity(a)
  [second] h = Add(s, k)
  [choice] y = If (c) <
    then_branch = one () => (float[2] p) { [inner] p = Mul(h, w) },
    else_branch = two () => (float[2] q) { [other] q = Neg(h) }
  >
  u = Relu(a)
}
"""

DIGESTS = {
    "graph.input[0]": "37c17cc79aa2",
    "graph.output[1]": "90fe917ba546",
    "graph.initializer[0].dims[0]": "2544b144dbc5",
    "graph.value_info[0].type": "4b1e48a69d59",
    "graph.node[0]": "bd4c2d0e38fd",
    "graph.node[1].input[1]": "d22d3a25f250",
    "graph.node[2].input[0]": "415f0764ad81",
    "graph.node[3].op_type": "368fef7fa2c4",
    "graph.node[4].attribute[0].g.node[0].input[0]": "49cf42ecb820",
    "graph.node[5].attribute[2]": "2dae7e21803a",
    "metadata_props[0].value": "0653a6becd0f",
}
"""Places in `MODEL`, each with a digest of its texts. Stored baselines have these digests: they must not change."""


@each_case("place", DIGESTS)
def test_texts_of_stored_baselines_do_not_change(place: str):
    structures = Structures(load(BytesSource(onnx.parser.parse_model(MODEL).SerializeToString())))
    found = structures.of(place_at(place))
    texts = [*found.steps, *found.names, *found.inside, *found.keys]
    for each in found.descriptions():
        texts += each.texts
    assert digest(*texts) == DIGESTS[place]


NEW_IN_UNICODE_15 = "\N{SQUARED OK}\U0001fae8"
NEW_IN_UNICODE_15_1 = "\u2ffc"

REPRESENTATIONS = {
    "Relu": "'Relu'",
    "it's": '"it\'s"',
    'it\'s "Relu"': "'it\\'s \"Relu\"'",
    "a\\xe9\t\x00": r"'a\\xe9\t\x00'",
    "Größe": "'Größe'",
    "Relu\u200b\xa0\ud800": r"'Relu\u200b\xa0\ud800'",
    NEW_IN_UNICODE_15: f"'{NEW_IN_UNICODE_15}'",
    NEW_IN_UNICODE_15_1: f"'{NEW_IN_UNICODE_15_1}'",
}


@each_case("text", REPRESENTATIONS)
def test_texts_are_equal_with_every_python(text: str):
    assert stable_repr([text, (None, 1)]) == f"[{REPRESENTATIONS[text]}, (None, 1)]"


def test_characters_are_escaped_as_in_stored_baselines():
    """Baselines were written with `repr`. Python 3.11 has Unicode 14; later versions print more characters."""
    texts = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cn", "Cf")]
    assert stable_repr(texts) == repr(texts)


def test_an_operator_of_another_unicode_version_is_described_equally_with_every_python():
    operator = f"Relu{NEW_IN_UNICODE_15_1}"
    nodes = [onnx.helper.make_node("Neg", ["x"], ["a"]), onnx.helper.make_node(operator, ["a"], ["b"])]
    model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", [], []))
    found = Structures(load(BytesSource(model.SerializeToString()))).of(place_at("graph.node[0]"))
    assert found.steps[-1] == f"Neg 1 [''] [['{operator} 1 0']]"
    assert found.views[-1].legacy.by_operators == f"Neg 0 [''] [['{operator} 0 0']]"
    assert found.views[-1].view.after.startswith(f"Neg 2  [['{operator} 1 0']] ")
