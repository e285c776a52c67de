# SPDX-License-Identifier: Apache-2.0
from onnx import helper
from support.models.model_samples import loaded

from onnx_lint.model.searches import searches


def _search(**attributes: int):
    body = helper.make_graph([], "body", [], [])
    node = helper.make_node("BeamSearch", ["x"], ["y"], "n", domain="com.microsoft", decoder=body, **attributes)
    graph = helper.make_graph([node], "g", [], [])
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    (found,) = searches(loaded(helper.make_model(graph, opset_imports=imports).SerializeToString()))
    return found


def test_the_model_type_decides_the_graphs():
    assert set(_search().forms) == {"decoder", "init_decoder"}
    assert set(_search(model_type=1).forms) == {"decoder", "encoder"}
    assert _search(model_type=7).forms == {}


def test_a_search_has_its_graphs_and_numbers():
    found = _search(vocab_size=5)
    assert (found.subject, found.anchor) == ("n", "ContribOperators.md#com.microsoft.BeamSearch")
    assert [graph.name for graph in found.graphs.values()] == ["body"]
    assert (found.numbers["vocab_size"], found.numbers["model_type"]) == (5, 0)
