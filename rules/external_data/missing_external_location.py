# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule


@rule(clause="EXT-1", since="0.1.0", about=Model.external_data, needs="tensor")
def missing_external_location(model: Model) -> Iterator[Finding]:
    """A tensor with external data does not say in which file.

    ### How to fix

    Name the file. If there is none, store the values in the tensor and clear `data_location`.

    ### Example

    ```
    initializer { name: "w" data_type: 1 dims: 4 data_location: EXTERNAL }
    ```

    Corrected:

    ```
    # beside the model: weights.bin, 16 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 4 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
    }
    ```

    ### Why it matters

    The tensor has no values: neither the model nor a file has them.

    ### Details

    - A tensor that is marked EXTERNAL must have an entry with the key `location` and a path that is not empty.
    """
    for data in model.external_data:
        if data.is_external and not data.location:
            stated = "states an empty location" if data.get("location") is not None else "states no location"
            yield Finding(
                data.entry_place("location"),
                f"{data.describe()} is stored outside {model.describe()}, but {stated}",
                allowed=f"a path relative to {model.describe()}'s folder under the key 'location'",
                subject=data.proto.name,
            )
