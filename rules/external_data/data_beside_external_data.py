# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule


@rule(clause="EXT-6", since="0.1.0", about=Model.external_data, needs="tensor", security=("CVE-2025-51480",))
def data_beside_external_data(model: Model) -> Iterator[Finding]:
    r"""A tensor has values in the model although it is stored outside.

    ### How to fix

    - The values in the file are right: clear those in the tensor. `onnx.load` replaces only those in `raw_data`.
    - The values in the tensor are right: clear `data_location` and `external_data`.

    ### Example

    ```
    # beside the model: weights.bin, 4 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 1 data_location: EXTERNAL raw_data: "\000\000\000\000"
      external_data { key: "location" value: "weights.bin" }
    }
    ```

    Corrected:

    ```
    # beside the model: weights.bin, 4 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 1 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
    }
    ```

    ### Why it matters

    Consumers take the values of the file. A tool that saves the model may write the other ones.

    ### Details

    - A tensor that is marked EXTERNAL must have its values in the file only.
    """
    for data in model.external_data:
        if not data.is_external:
            continue
        fields = data.value_fields
        if fields:
            yield Finding(
                data.tensor.place.at(fields[0]),
                f"{data.describe()} is stored outside {model.describe()}, but has values in {' and '.join(fields)}",
                allowed="no value field in a tensor with external data",
                subject=data.proto.name,
            )
