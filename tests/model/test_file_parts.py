# SPDX-License-Identifier: Apache-2.0
"""What the model answers for all graphs and functions at once is what each of them says."""

from __future__ import annotations

from support.models import exhaustive_walk as walked
from support.models.fixture_models import some_models

FIELDS = ("doc_string", "metadata_props", "value_info", "initializer", "quantization_annotation")


def test_graphs_by_what_they_have():
    for name, model in some_models().items():
        for field in FIELDS:
            expected = [graph for graph in model.graphs if getattr(graph.proto, field, None)]
            assert model.graphs_with(field) == expected, (name, field)


def test_what_has_documentation_or_metadata():
    for name, model in some_models().items():
        value_infos = [each for each in walked.value_infos(model) if each.proto.doc_string or each.proto.metadata_props]
        assert [str(each.place) for each in model.annotated_value_infos] == [str(each.place) for each in value_infos]
        nodes = [
            node
            for node in model.nodes()
            if node.proto.doc_string or node.proto.metadata_props or node.overload or node.proto.device_configurations
        ]
        assert list(model.annotated_nodes) == nodes, name


def test_the_forms_of_all_nodes():
    for name, model in some_models().items():
        assert model.forms == {node.form for node in model.nodes()}, name


def test_nodes_that_define_a_name_again():
    for name, model in some_models().items():
        for graph in model.graphs:
            outputs = [output for node in graph.nodes for output in node.outputs if output]
            before = {*graph.input_names, *graph.initializer_names, *graph.sparse_initializer_names}
            is_again = len(set(outputs)) < len(outputs) or not before.isdisjoint(outputs)
            assert graph.has_redefinitions == is_again, name
