# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import DataType, Model
from onnx_lint.rule import Finding, rule


@rule(clause="EXT-16", since="0.1.0", about=Model.external_data, needs="tensor")
def external_string_tensor(model: Model) -> Iterator[Finding]:
    """A tensor of strings is stored outside the model.

    ### How to fix

    Store the strings in the model, in `string_data`.

    ### Example

    ```
    # beside the model: labels.bin, 3 zero bytes
    initializer {
      name: "labels" data_type: 8 dims: 1 data_location: EXTERNAL
      external_data { key: "location" value: "labels.bin" }
    }
    ```

    Corrected:

    ```
    initializer { name: "labels" data_type: 8 dims: 1 string_data: "cat" }
    ```

    ### Why it matters

    External data has the format of `raw_data`, which does not mark the end of a string.

    ### Details

    - A tensor of strings must have its values in `string_data`.
    """
    for data in model.external_data:
        if data.is_external and data.data_type == DataType.STRING:
            yield Finding(
                data.tensor.place,
                f"{data.describe()} holds strings, but is stored outside {model.describe()}",
                allowed="string_data",
                subject=data.proto.name,
            )
