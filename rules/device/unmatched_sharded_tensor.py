# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.sharding import sharding_specs
from onnx_lint.model import Model, Node, has_device_configurations
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import Suggestions, quote, quote_some


@rule(clause="DEV-7", since="0.1.0", about=has_device_configurations, needs="node")
def unmatched_sharded_tensor(model: Model) -> Iterator[Finding]:
    """A sharding refers to a tensor that is neither an input nor an output of its node.

    ### How to fix

    Write the name of an input or output of the node. If a pass renames values, let it rename them here as well.

    ### Example

    ```
    configuration { name: "c" num_devices: 2 }
    node { op_type: "Relu" input: "x" output: "y"
           device_configurations { configuration_id: "c" sharding_spec { tensor_name: "z" device: [0, 1] } } }
    ```

    Corrected:

    ```
    configuration { name: "c" num_devices: 2 }
    node { op_type: "Relu" input: "x" output: "y"
           device_configurations { configuration_id: "c" sharding_spec { tensor_name: "x" device: [0, 1] } } }
    ```

    ### Why it matters

    The sharding applies to nothing, and the intended tensor is not split.

    ### Details

    - `tensor_name` must be one of the names in the node's own `input` and `output`.
    - The comment in the schema mentions lists of ValueInfoProto, which nodes do not have; it means these names.
    """
    suggestions = Suggestions()
    values_of: dict[Node, dict[str, None]] = {}
    for spec in sharding_specs(model.nodes_with("device_configurations")):
        name = spec.proto.tensor_name
        if spec.node not in values_of:
            values_of[spec.node] = dict.fromkeys(filter(None, (*spec.node.inputs, *spec.node.outputs)))
        values = values_of[spec.node]
        if name and name not in values:
            yield Finding(
                spec.place.at("tensor_name"),
                f"{spec.node.describe()} has a sharding of {quote(name)}, "
                f"which is neither an input nor output of the node"
                f"{suggestions(name, values)}",
                allowed=quote_some(values, 10) if values else "no sharding, as the node has no values",
                subject=name,
            )
