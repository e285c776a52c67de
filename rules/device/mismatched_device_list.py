# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model, has_device_configurations
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="DEV-3", since="0.1.0", about=has_device_configurations)
def mismatched_device_list(model: Model) -> Iterator[Finding]:
    """A device configuration names more or fewer devices than it has.

    ### How to fix

    Name all devices, or none.

    ### Example

    ```
    configuration { name: "c" num_devices: 4 device: "gpu0" device: "gpu1" }
    ```

    Corrected:

    ```
    configuration { name: "c" num_devices: 2 device: "gpu0" device: "gpu1" }
    ```

    ### Why it matters

    Shardings refer to devices by index. With a list of another length, an index has no name, or a name has no index.

    ### Details

    - The list of names must be empty or have `num_devices` entries.
    - `incomplete-device-configuration` reports a number of devices that is missing or not above 0.
    """
    for index, configuration in enumerate(model.proto.configuration):
        count = len(configuration.device)
        if count and 0 < configuration.num_devices != count:
            name = quote(configuration.name) if configuration.name else str(index)
            yield Finding(
                ROOT.at("configuration", index).at("device"),
                f"device configuration {name} names {count:,} device{'s' if count > 1 else ''}, but has "
                f"{configuration.num_devices:,}",
                allowed="no device names, or one for each device",
                subject=configuration.name or None,
            )
