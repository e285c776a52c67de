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
        for field in ("doc_string", "metadata_props", "device_configurations"):
            nodes = [node for node in model.nodes() if getattr(node.proto, field)]
            found = [node for node in model.nodes_with(field) if getattr(node.proto, field)]
            assert found == nodes, (name, field)
        assert list(model.overloaded_nodes) == [node for node in model.nodes() if node.overload], name
        repeating = {
            str(node.place)
            for node in model.nodes_with("metadata_props")
            if len({entry.key for entry in node.proto.metadata_props}) < len(node.proto.metadata_props)
        }
        suspects = {str(each.place) for each in model.metadata_with_suspect_keys() if each.message == "NodeProto"}
        assert suspects >= repeating, name


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
