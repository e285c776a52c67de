# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote, suggestion

_KEYS = ("location", "offset", "length", "checksum", "basepath")
"""The keys that are defined; `basepath` is set at run time."""


@rule(
    clause="EXT-12",
    since="0.1.0",
    about=Model.external_data,
    needs="tensor",
    security=(
        "CVE-2026-34445",
        "CWE-915",
    ),
)
def unknown_external_key(model: Model) -> Iterator[Finding]:
    """An entry of external data has a key that is not defined.

    ### How to fix

    Use a key that the specification defines. Write your own notes into the tensor's `metadata_props`.

    ### Example

    ```
    # beside the model: weights.bin, 16 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 4 data_location: EXTERNAL
      external_data { key: "location" value: "weights.bin" }
      external_data { key: "size" value: "16" }
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

    Consumers ignore the entry. Some loaders have set attributes of their own objects from such keys.

    ### Details

    - The defined keys are `location`, `offset`, `length` and `checksum`.
    - `basepath`, which loaders set at run time, is accepted.
    """
    for data in model.external_data:
        for index, key in enumerate(data.keys):
            if key not in _KEYS:
                yield Finding(
                    data.tensor.place.at("external_data", index),
                    f"the key {quote(key)} in the external data of {data.describe()} is not defined"
                    f"{suggestion(key, _KEYS)}",
                    allowed="location, offset, length, checksum",
                    subject=key,
                )
