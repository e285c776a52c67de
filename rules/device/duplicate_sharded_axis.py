# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.sharding import sharding_specs
from onnx_lint.model import Model, has_device_configurations, salted_text
from onnx_lint.rule import Finding, Related, rule


@rule(clause="DEV-9a", since="0.1.0", about=has_device_configurations, needs="node")
def duplicate_sharded_axis(model: Model) -> Iterator[Finding]:
    """A sharding splits a tensor along one axis twice.

    ### How to fix

    Keep one `sharded_dim` for each axis. If a reshape has merged dimensions that were split, list their splits in
    `simple_sharding` of that one.

    ### Example

    ```
    configuration { name: "c" num_devices: 2 }
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } dim { dim_value: 8 } } } } }
    node { op_type: "Relu" input: "x" output: "y" device_configurations {
      configuration_id: "c"
      sharding_spec {
        tensor_name: "x" device: [0, 1]
        sharded_dim { axis: 1 simple_sharding { dim_value: 8 num_shards: 2 } }
        sharded_dim { axis: -1 simple_sharding { dim_value: 8 num_shards: 1 } }
      }
    } }
    ```

    Corrected:

    ```
    configuration { name: "c" num_devices: 2 }
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } dim { dim_value: 8 } } } } }
    node { op_type: "Relu" input: "x" output: "y" device_configurations {
      configuration_id: "c"
      sharding_spec {
        tensor_name: "x" device: [0, 1]
        sharded_dim { axis: 1 simple_sharding { dim_value: 8 num_shards: 2 } }
      }
    } }
    ```

    ### Why it matters

    It is undefined which of the two splits applies, and which device has which part of the tensor.

    ### Details

    - `sharded_dim` must have at most one entry for each axis; the schema has it consist of the sharding of each axis.
    - An axis from the end is the same as one from the start if the rank of the tensor, declared or inferred, makes
      it so; if the rank is unknown, only equal numbers are one axis.
    - An axis that the tensor does not have is reported by `sharded-axis-out-of-range`.
    """
    for spec in sharding_specs(model.nodes_with("device_configurations")):
        cuts = [(index, cut.axis) for index, cut in enumerate(spec.proto.sharded_dim) if cut.HasField("axis")]
        if len(cuts) < 2:
            continue
        shape = model.shape_of(spec.proto.tensor_name, spec.node.graph)
        first: dict[str, int] = {}
        for index, axis in cuts:
            from_start = axis + len(shape) if axis < 0 and shape is not None else axis
            place = first.setdefault(salted_text(from_start), index)
            if place != index:
                yield Finding(
                    spec.place.at("sharded_dim", index).at("axis"),
                    f"{spec.describe()} cuts axis {axis} twice",
                    related=(Related(spec.place.at("sharded_dim", place).at("axis"), "first cut of the axis"),),
                    allowed="each axis once",
                    subject=spec.proto.tensor_name or None,
                )
