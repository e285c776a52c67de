# SPDX-License-Identifier: Apache-2.0
"""The distribution of nodes over devices: device configurations, and the sharding of inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnx_lint.common.record import Record
from onnx_lint.ir.graph import Node
from onnx_lint.ir.places.place import Place
from onnx_lint.schema import Proto
from onnx_lint.wording import quote


class NodeDeviceConfiguration(Record):
    """A NodeDeviceConfigurationProto: the part of a node in one device configuration of the model."""

    node: Node
    proto: Proto
    index: int
    """Its index among those of the node."""

    @property
    def place(self) -> Place:
        """The place. It is not stored: a hostile file may have a configuration in every four bytes."""
        return self.node.place.at("device_configurations", self.index)


class ShardingSpec(Record):
    """A ShardingSpecProto: how one input or output of a node is cut into shards."""

    configuration: NodeDeviceConfiguration
    proto: Proto
    index: int
    """Its index in the configuration."""

    @property
    def place(self) -> Place:
        """The place. It is not stored either."""
        return self.configuration.place.at("sharding_spec", self.index)

    @property
    def node(self) -> Node:
        """The node whose input or output is cut."""
        return self.configuration.node

    def describe(self) -> str:
        """Return the name of the sharding in messages."""
        name = self.proto.tensor_name
        tensor = f"of {quote(name)}" if name else f"{self.index}"
        return f"sharding {tensor} in {self.node.describe()}"


def node_device_configurations(nodes: Iterable[Node]) -> Iterator[NodeDeviceConfiguration]:
    """Yield every device configuration of the nodes."""
    for node in nodes:
        for index, proto in enumerate(node.proto.device_configurations):
            yield NodeDeviceConfiguration(node, proto, index)


def sharding_specs(nodes: Iterable[Node]) -> Iterator[ShardingSpec]:
    """Yield every sharding of an input or output of the nodes."""
    for configuration in node_device_configurations(nodes):
        for index, proto in enumerate(configuration.proto.sharding_spec):
            yield ShardingSpec(configuration, proto, index)
