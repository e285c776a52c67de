# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.sharding import ShardingSpec, sharding_specs
from onnx_lint.model import Model, Place, has_device_configurations, salted_text
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="DEV-13", since="0.1.0", about=has_device_configurations)
def device_index_out_of_range(model: Model) -> Iterator[Finding]:
    """A sharding refers to a device that its device configuration does not have.

    ### How to fix

    Number the devices from 0, or raise `num_devices` if one is missing.

    ### Example

    ```
    configuration { name: "c" num_devices: 2 }
    node {
      op_type: "Relu" input: "x" output: "y"
      device_configurations { configuration_id: "c" sharding_spec { tensor_name: "x" device: [0, 2] } }
    }
    ```

    Corrected:

    ```
    configuration { name: "c" num_devices: 2 }
    node {
      op_type: "Relu" input: "x" output: "y"
      device_configurations { configuration_id: "c" sharding_spec { tensor_name: "x" device: [0, 1] } }
    }
    ```

    ### Why it matters

    The device for the shard does not exist.

    ### Details

    - Each entry of `device` must be an index from 0 to `num_devices` - 1, or a key of the sharding's
      `index_to_device_group_map`. A key may be any number.
    - Each entry of a group in that map must be an index in the same range.
    - Nothing is reported if the configuration is unknown or has no number of devices.
    - The schema does not state these bounds; they follow from the proposals behind it.
    """
    counts: dict[str, int] = {}
    for configuration in model.proto.configuration:
        counts.setdefault(configuration.name, configuration.num_devices)
    for spec in sharding_specs(model.nodes_with("device_configurations")):
        name = spec.configuration.proto.configuration_id
        if name and counts.get(name, 0) > 0:
            yield from _findings(spec, name, counts[name])


def _findings(spec: ShardingSpec, name: str, count: int) -> Iterator[Finding]:
    for place, device in _devices(spec):
        if not 0 <= device < count:
            yield Finding(
                place,
                f"{spec.describe()} refers to device {device}, but device configuration {quote(name)} has {count:,} "
                f"device{'s' if count > 1 else ''}",
                allowed=f"0 to {count - 1}, or a key of index_to_device_group_map",
                subject=spec.proto.tensor_name or None,
            )


def _devices(spec: ShardingSpec) -> Iterator[tuple[Place, int]]:
    """The place and the index of each device that the sharding refers to, itself or in a group."""
    groups = {salted_text(group.key) for group in spec.proto.index_to_device_group_map}
    for index, device in enumerate(spec.proto.device):
        if salted_text(device) not in groups:
            yield spec.place.at("device", index), device
    for index, group in enumerate(spec.proto.index_to_device_group_map):
        place = spec.place.at("index_to_device_group_map", index)
        for position, device in enumerate(group.value):
            yield place.at("value", position), device
