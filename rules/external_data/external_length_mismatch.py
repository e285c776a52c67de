# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule


@rule(clause="EXT-9", since="0.1.0", about=Model.external_data, needs="tensor", security=("CWE-125",))
def external_length_mismatch(model: Model) -> Iterator[Finding]:
    """The length of external data is not what the tensor needs.

    ### How to fix

    - Write the number of bytes that the tensor needs: the product of its dimensions times the size of an element.
    - After you changed the shape or the type of a tensor, write its data again.

    ### Example

    ```
    # beside the model: weights.bin, 16 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 4 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
      external_data { key: "length" value: "15" }
    }
    ```

    Corrected:

    ```
    # beside the model: weights.bin, 16 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 4 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
      external_data { key: "length" value: "16" }
    }
    ```

    ### Why it matters

    Either the shape or the length is wrong, and consumers differ in which one they use.

    ### Details

    - The length must be the number of bytes that the tensor would have in `raw_data`.
    - The length is not checked if the tensor has a `segment`, because the file then stores only a part of it.
    """
    for data in model.external_data:
        length = data.length
        needed = data.needed_bytes if data.is_external and length is not None else None
        if needed is not None and length != needed:
            yield Finding(
                data.entry_place("length"),
                f"the external data of {data.describe()} has {length:,} bytes, but the tensor needs {needed:,}",
                allowed=f"{needed:,} bytes",
                subject=data.proto.name,
            )
