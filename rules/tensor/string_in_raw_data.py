# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_suspect_tensors
from onnx_lint.rule import Finding, rule


@rule(clause="TEN-7", since="0.1.0", about=has_suspect_tensors, needs="tensor")
def string_in_raw_data(model: Model) -> Iterator[Finding]:
    """A tensor of strings has its values in raw_data.

    ### How to fix

    Write each string as an entry of `string_data`.

    ### Example

    ```
    initializer { name: "labels" data_type: 8 dims: 1 raw_data: "cat" }
    ```

    Corrected:

    ```
    initializer { name: "labels" data_type: 8 dims: 1 string_data: "cat" }
    ```

    ### Why it matters

    `raw_data` stores elements of one fixed width. It does not mark where a string ends.

    ### Details

    - A tensor of strings must have its values in `string_data`, one entry for each string.
    - The clause also forbids `raw_data` for the type UNDEFINED. No tensor may have that type, and
      `unknown-tensor-element-type` reports it.
    """
    for tensor in model.tensors.miscounted:
        if tensor.field == "raw_data" and tensor.type and tensor.type.name == "string" and tensor.elements != 0:
            yield Finding(
                tensor.place.at("raw_data"),
                f"{tensor.describe()} is of type string, but its values are in raw_data",
                allowed="string_data",
                offset=tensor.offset,
                subject=tensor.proto.name,
            )
