# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.element_types import DEFAULT_LOCATION


@rule(clause="EXT-15", since="0.1.0", about=Model.external_data, needs="tensor")
def unmarked_external_data(model: Model) -> Iterator[Finding]:
    """A tensor names an external file but is not marked as stored there.

    ### How to fix

    - The values are in the file: set `data_location` to EXTERNAL.
    - The values are in the tensor: clear `external_data`.

    ### Example

    ```
    # beside the model: weights.bin, 4 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 1 float_data: 0
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

    Readers ignore the entries and take the values from the model, where there may be none.

    ### Details

    - A tensor with entries in `external_data` should have `data_location: EXTERNAL`.
    """
    for data in model.external_data:
        if data.keys and data.data_location == DEFAULT_LOCATION:
            yield Finding(
                data.tensor.place.at("external_data", 0),
                f"{data.describe()} has external_data, but is not marked EXTERNAL, so readers ignore it",
                allowed="data_location EXTERNAL beside external_data",
                subject=data.proto.name,
            )
