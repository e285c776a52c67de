# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model, has_device_configurations
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="DEV-12", since="0.1.0", about=has_device_configurations)
def duplicate_device_configuration(model: Model) -> Iterator[Finding]:
    """Two device configurations of a model have the same name.

    ### How to fix

    Give each configuration its own name, and write the name into the nodes.

    ### Example

    ```
    configuration { name: "c" num_devices: 2 }
    configuration { name: "c" num_devices: 4 }
    ```

    Corrected:

    ```
    configuration { name: "two_devices" num_devices: 2 }
    configuration { name: "four_devices" num_devices: 4 }
    ```

    ### Why it matters

    Nodes refer to a configuration by its name. With two of one name, it is undefined which one applies.

    ### Details

    - Each `configuration` of the model must have a different name.
    - The schema does not state it; it follows from the references.
    """
    first: dict[str, int] = {}
    for index, configuration in enumerate(model.proto.configuration):
        name = configuration.name
        other = first.setdefault(name, index)
        if name and other != index:
            yield Finding(
                ROOT.at("configuration", index).at("name"),
                f"device configurations {other} and {index} are both called {quote(name)}",
                related=(Related(ROOT.at("configuration", other), f"first one called {quote(name)}"),),
                allowed="a name of its own for each device configuration",
                subject=name,
            )
