# SPDX-License-Identifier: Apache-2.0
"""A name is found at the first part of the graph that has it."""

from __future__ import annotations

import pytest
from support.fixes.case import Case, graph
from support.fixes.deleting import LAST, node

from onnx_lint.input.source import BytesSource
from onnx_lint.ir.names.name_holders import NameHolders
from onnx_lint.loader import load

NODES = node("Relu", "x", "a") + 'node { name: "n" op_type: "Selu" input: "a" output: "b" attribute { name: "alpha" } }'


@pytest.mark.parametrize(
    ("name", "kind", "place"),
    [
        ("a", "value name", "graph.node[0].output[0]"),
        ("n", "node name", "graph.node[1].name"),
        ("Selu", "operator name", "graph.node[1].op_type"),
        ("alpha", "attribute name", "graph.node[1].attribute[0].name"),
    ],
)
def test_the_first_part_with_a_name(name: str, kind: str, place: str):
    model = load(BytesSource(Case("", graph(NODES + LAST), "").models()[0]), "model.onnx")
    found = NameHolders(model.main_graph).first(name)
    assert (found.kind, str(found.place)) == (kind, place)
