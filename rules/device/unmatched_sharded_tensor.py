# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, Node, has_device_configurations, sharding_specs
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import Suggestions, quote, quote_some


@rule(clause="DEV-7", since="0.1.0", about=has_device_configurations)
def unmatched_sharded_tensor(model: Model) -> Iterator[Finding]:
    """A sharding is about a tensor that is neither an input nor an output of its node.

    ### How to fix

    Name an input or output of the node itself; a pass that renames values has to rename them here too.

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

    The sharding applies to nothing, and the tensor that was meant is left in one piece.

    ### Details

    As `tensor_name`: one of the names in the node's own `input` and `output`. The schema's comment speaks of lists
    of ValueInfoProto there, which nodes do not have; these names are meant.
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
