# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.sharding import ShardingSpec, node_device_configurations, sharding_specs
from onnx_lint.model import ROOT, Model, Place, Proto, has_device_configurations
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(
    clause=("DEV-1", "DEV-2", "DEV-4", "DEV-6", "DEV-8", "DEV-10"),
    since="0.1.0",
    about=has_device_configurations,
    needs="node",
)
def incomplete_device_configuration(model: Model) -> Iterator[Finding]:
    """A device configuration lacks a required field.

    ### How to fix

    Write the missing field.

    ### Example

    ```
    configuration { name: "two_devices" }
    ```

    Corrected:

    ```
    configuration { name: "two_devices" num_devices: 2 }
    ```

    ### Why it matters

    Without the field, a consumer does not know the devices, or how to split a tensor. It cannot place the model.

    ### Details

    - A configuration of the model must have a name, and a number of devices above 0.
    - A configuration of a node must have the name of a configuration of the model (`configuration_id`).
    - A sharding must name its tensor.
    - Each split dimension of a sharding must have an axis, and each of its `simple_sharding` entries a number of shards
      above 0.
    - Axis 0 must be written: an absent field is a missing axis.
    """
    for index, configuration in enumerate(model.proto.configuration):
        yield from _configuration(configuration, index)
    for used in node_device_configurations(model.nodes_with("device_configurations")):
        if not used.proto.configuration_id:
            yield Finding(
                used.place.at("configuration_id"),
                f"device configuration {used.place.index} of {used.node.describe()} names no configuration",
                clause="DEV-4",
                allowed="the name of a device configuration of the model",
                inner=f"configuration {used.place.index}",
            )
    for spec in sharding_specs(model.nodes_with("device_configurations")):
        yield from _sharding(spec)


def _configuration(configuration: Proto, index: int) -> Iterator[Finding]:
    place = ROOT.at("configuration", index)
    if not configuration.name:
        yield Finding(
            place.at("name"),
            f"device configuration {index} has no name",
            clause="DEV-1",
            allowed="a name by which nodes refer to it",
            inner=f"configuration {index}",
        )
    if configuration.num_devices <= 0:
        name = quote(configuration.name) if configuration.name else str(index)
        yield Finding(
            place.at("num_devices"),
            f"device configuration {name} {_states(configuration, 'num_devices', 'number of devices')}",
            clause="DEV-2",
            allowed="a number of devices above 0",
            subject=configuration.name or None,
        )


def _states(message: Proto, field: str, what: str) -> str:
    stated = f"states the {what} {getattr(message, field)}, but must state at least 1"
    return stated if message.HasField(field) else f"states no {what}"


def _sharding(spec: ShardingSpec) -> Iterator[Finding]:
    if not spec.proto.tensor_name:
        yield Finding(
            spec.place.at("tensor_name"),
            f"{spec.describe()} names no tensor",
            clause="DEV-6",
            allowed="the name of an input or output of the node",
        )
    for index, cut in enumerate(spec.proto.sharded_dim):
        described = f"sharded dimension {index} of {spec.describe()}"
        yield from _sharded_dimension(cut, spec.place.at("sharded_dim", index), described)


def _sharded_dimension(cut: Proto, place: Place, described: str) -> Iterator[Finding]:
    if not cut.HasField("axis"):
        yield Finding(place.at("axis"), f"{described} states no axis", clause="DEV-8", allowed="an axis, 0 too")
    for position, simple in enumerate(cut.simple_sharding):
        if simple.num_shards <= 0:
            yield Finding(
                place.at("simple_sharding", position).at("num_shards"),
                f"{described} {_states(simple, 'num_shards', 'number of shards')}",
                clause="DEV-10",
                allowed="a number of shards above 0",
            )
