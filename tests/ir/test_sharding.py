# SPDX-License-Identifier: Apache-2.0
"""The device configurations of nodes, and the shardings in them."""

from __future__ import annotations

from support.models.model_samples import from_text

from onnx_lint.ir.sharding import node_device_configurations, sharding_specs

TEXT = """
graph {
  node { op_type: "Relu" output: "x" }
  node {
    name: "n" op_type: "Relu" input: "x" output: "y"
    device_configurations { configuration_id: "a" sharding_spec { tensor_name: "x" } sharding_spec { } }
    device_configurations { configuration_id: "b" sharding_spec { tensor_name: "y" } }
  }
}
"""


def test_each_sharding_is_found_with_its_node_and_place():
    model = from_text(TEXT)
    assert [
        found.proto.configuration_id for found in node_device_configurations(model.nodes_with("device_configurations"))
    ] == ["a", "b"]
    base = "graph.node[1].device_configurations"
    assert [
        (str(found.place), found.describe(), found.node.index)
        for found in sharding_specs(model.nodes_with("device_configurations"))
    ] == [
        (f"{base}[0].sharding_spec[0]", "sharding of 'x' in node 'n' (Relu)", 1),
        (f"{base}[0].sharding_spec[1]", "sharding 1 in node 'n' (Relu)", 1),
        (f"{base}[1].sharding_spec[0]", "sharding of 'y' in node 'n' (Relu)", 1),
    ]


def test_a_model_without_devices_has_none():
    model = from_text('graph { node { op_type: "Relu" output: "x" } }')
    assert not list(node_device_configurations(model.nodes_with("device_configurations")))
    assert not list(sharding_specs(model.nodes_with("device_configurations")))
