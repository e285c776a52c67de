# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.sharding import node_device_configurations
from onnx_lint.model import Model, has_device_configurations
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import Suggestions, quote, quote_some


@rule(clause="DEV-5", since="0.1.0", about=has_device_configurations)
def unknown_device_configuration(model: Model) -> Iterator[Finding]:
    """A node refers to a device configuration that the model does not have.

    ### How to fix

    - Write the name of a configuration of the model, or add the missing one.
    - If a tool extracts a graph from a model, let it copy the configurations as well.

    ### Example

    ```
    configuration { name: "two_devices" num_devices: 2 }
    node { op_type: "Relu" input: "x" output: "y" device_configurations { configuration_id: "four_devices" } }
    ```

    Corrected:

    ```
    configuration { name: "two_devices" num_devices: 2 }
    node { op_type: "Relu" input: "x" output: "y" device_configurations { configuration_id: "two_devices" } }
    ```

    ### Why it matters

    The model's configuration has the number and the names of the devices. Without it, the sharding of the node means
    nothing.

    ### Details

    - `configuration_id` of a node must be the name of a `configuration` entry of the model.
    """
    suggestions = Suggestions()
    known = dict.fromkeys(configuration.name for configuration in model.proto.configuration if configuration.name)
    for used in node_device_configurations(model.nodes_with("device_configurations")):
        name = used.proto.configuration_id
        if name and name not in known:
            yield Finding(
                used.place.at("configuration_id"),
                f"{used.node.describe()} refers to device configuration {quote(name)}, which the model does not have"
                f"{suggestions(name, known)}",
                allowed=quote_some(known, 10) if known else "no device configuration, as the model has none",
                subject=name,
                inner=name,
            )
