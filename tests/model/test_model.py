# SPDX-License-Identifier: Apache-2.0
"""The model of a loaded file, its parts, and the facts inferred from them."""

from __future__ import annotations

import pytest
from google.protobuf import text_format
from onnx import FunctionProto, GraphProto, NodeProto
from support.models import exhaustive_walk as walked
from support.models.fixture_models import some_models
from support.models.messages import message_of
from support.models.model_samples import from_text, loaded
from support.wire.wire_bytes import (
    GRAPH,
    length,
    number,
    rich_model,
)

from onnx_lint.engine.facts import shapes_of
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.graph import Nodes
from onnx_lint.ir.places.place import ROOT
from onnx_lint.loader import load
from onnx_lint.model import Model, overloaded_nodes

MAX_MEMBERS = 61


def test_a_model_that_was_not_read_is_empty():
    model = loaded(b"")
    assert not model.loaded
    assert (model.graphs, model.functions, list(model.nodes()), list(walked.tensors(model))) == ([], [], [], [])
    assert (list(model.main_graph.nodes), model.ir_version) == ([], 0)


def test_the_message_is_read_as_text_writes_it():
    model = loaded(rich_model())
    again = load(BytesSource(text_format.MessageToString(message_of(model)).encode()), "model.textproto")
    assert message_of(again) == message_of(model)


def test_an_occurrence_of_another_wire_type_does_not_count():
    """The parser leaves it aside, so the node behind it is the first one."""
    data = number(1, 10) + length(7, number(1, 5) + GRAPH)
    model = loaded(data)
    assert len(model.proto.graph.node) == 1
    assert model.places.byte_range(ROOT.at("graph").at("node", 0)) == (6, 20)


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
        assert list(overloaded_nodes(model)) == [node for node in model.nodes() if node.overload], name
        repeating = {
            str(node.place)
            for node in model.nodes_with("metadata_props")
            if len({entry.key for entry in node.proto.metadata_props}) < len(node.proto.metadata_props)
        }
        suspects = {str(node.place) for graph in model.graphs for node in Nodes(graph, graph.table.repeated_keys)}
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


RELU = 'node { op_type: "Relu" input: "x" output: "y" }'
INPUT = (
    'input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_param: "N" } } } } }'
)


def test_shapes_are_followed_when_somebody_asks():
    model = from_text(f"opset_import {{ version: 21 }} graph {{ {RELU} {INPUT} }}")
    assert shapes_of(model) is None
    assert (model.shape_of("y"), model.shape_of("nothing")) == ((2, "N"), None)
    found = shapes_of(model)
    assert found is not None
    assert found.unknown == 0


@pytest.mark.parametrize(
    ("document", "stated", "versions"),
    [
        (GraphProto(name="g"), {}, {}),
        (GraphProto(name="g"), {"": 21}, {"": 21}),
        (NodeProto(op_type="Relu"), {"com.example": 3}, {"com.example": 3}),
        # A function says itself what it imports, and its domain is one in which it may stand.
        (FunctionProto(name="F", domain="com.example"), {"": 21}, {"com.example": 1}),
    ],
)
def test_what_is_imported_outside_of_functions(document, stated: dict[str, int], versions: dict[str, int]):
    data = document.SerializeToString()
    model = load(BytesSource(data), proto=document.DESCRIPTOR.name, opset_imports=stated)
    assert model.imports.versions(None) == versions


def test_an_operator_set_imports_itself():
    text = 'domain: "com.example" opset_version: 3 ir_version: 10 functions { name: "F" domain: "com.other" }'
    model = load(BytesSource(text.encode()), "set.textproto", proto="OperatorSetProto")
    assert model.imports.versions(None) == {"com.example": 3, "com.other": 3}


def test_a_former_member_names_the_function():
    model = from_text("graph { }")
    with pytest.raises(AttributeError, match=r"^Model\.has_faults is now the function has_faults of onnx_lint\.model$"):
        model.has_faults  # noqa: B018
    with pytest.raises(AttributeError, match=r"^Model\.nothing does not exist$"):
        model.nothing  # noqa: B018


def test_the_error_of_a_property_is_not_taken_for_a_missing_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Model, "main_graph", property(lambda _: {}.missing))
    with pytest.raises(AttributeError, match="'dict' object has no attribute 'missing'"):
        from_text("graph { }").main_graph  # noqa: B018


def test_a_model_has_few_members():
    model = from_text("graph { }")
    assert len([name for name in {*vars(model), *vars(Model)} if not name.startswith("_")]) <= MAX_MEMBERS
