# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.sharding import ShardingSpec, sharding_specs
from onnx_lint.model import Model, Place, has_device_configurations, salted_text
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import counted, quote


@rule(clause="DEV-13", since="0.1.0", about=has_device_configurations, needs="node")
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
    - If the configuration is unknown or has no number of devices, only indices below 0 are reported. A file with a
      graph, function, node or attribute has no configurations.
    - The schema does not state these bounds; they follow from the proposals behind it.
    """
    counts: dict[str, int] = {}
    for configuration in model.proto.configuration:
        counts.setdefault(configuration.name, configuration.num_devices)
    for spec in sharding_specs(model.nodes_with("device_configurations")):
        name = spec.configuration.proto.configuration_id
        yield from _findings(spec, name, counts.get(name, 0) if name else 0)


def _findings(spec: ShardingSpec, name: str, count: int) -> Iterator[Finding]:
    """Yield the findings on a sharding. `count`: the number of devices; 0 or less if it is unknown."""
    for place, device in _devices(spec):
        if device < 0 or 0 < count <= device:
            number = f"device configuration {quote(name)} has {counted(count, 'device')}"
            yield Finding(
                place,
                f"{spec.describe()} refers to device {device}, but {number if count > 0 else 'the first device is 0'}",
                allowed=f"0 to {count - 1}, or a key of index_to_device_group_map"
                if count > 0
                else "0 or more, or a key of index_to_device_group_map",
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
