# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.sharding import sharding_specs
from onnx_lint.model import Model, has_device_configurations, salted_text
from onnx_lint.rule import Finding, Related, rule


@rule(clause="META-6", since="0.1.0", about=has_device_configurations, needs="node")
def duplicate_device_group(model: Model) -> Iterator[Finding]:
    """A sharding defines a group of devices twice.

    ### How to fix

    Give each group a different number, and list all of them in `device`.

    ### Example

    ```
    configuration { name: "c" num_devices: 4 }
    node { op_type: "Relu" input: "x" output: "y" device_configurations {
      configuration_id: "c"
      sharding_spec {
        tensor_name: "x" device: -1
        index_to_device_group_map { key: -1 value: [0, 1] }
        index_to_device_group_map { key: -1 value: [2, 3] }
      }
    } }
    ```

    Corrected:

    ```
    configuration { name: "c" num_devices: 4 }
    node { op_type: "Relu" input: "x" output: "y" device_configurations {
      configuration_id: "c"
      sharding_spec {
        tensor_name: "x" device: [-1, -2]
        index_to_device_group_map { key: -1 value: [0, 1] }
        index_to_device_group_map { key: -2 value: [2, 3] }
      }
    } }
    ```

    ### Why it matters

    `device` refers to a group by its key. With two groups of one key, it is undefined which devices store the shard.

    ### Details

    - Each key must occur only once in an `index_to_device_group_map`.
    - ONNX writes maps as lists of entries, and allows each key once.
    """
    for spec in sharding_specs(model.nodes_with("device_configurations")):
        first: dict[str, int] = {}
        for index, group in enumerate(spec.proto.index_to_device_group_map):
            other = first.setdefault(salted_text(group.key), index)
            if other != index:
                yield Finding(
                    spec.place.at("index_to_device_group_map", index),
                    f"device group {group.key} of {spec.describe()} is listed twice",
                    related=(
                        Related(spec.place.at("index_to_device_group_map", other), f"first group of key {group.key}"),
                    ),
                    allowed="each key once",
                    subject=spec.proto.tensor_name or None,
                )
