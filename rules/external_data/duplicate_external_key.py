# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="EXT-13", since="0.1.0", about=Model.external_data, needs="tensor", security=("CWE-694",))
def duplicate_external_key(model: Model) -> Iterator[Finding]:
    """A key of external data is listed twice.

    ### How to fix

    Clear `external_data` before you write it again. `onnx.external_data_helper.set_external_data` does it.

    ### Example

    ```
    # beside the model: old.bin, 16 zero bytes
    # beside the model: weights.bin, 16 zero bytes
    initializer {
      name: "w" data_type: 1 dims: 4 data_location: EXTERNAL
      external_data { key: "location" value: "old.bin" }
      external_data { key: "location" value: "weights.bin" }
    }
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

    The entries form a map. If a tensor has two locations, some consumers check one and open the other.

    ### Details

    - Each key must occur only once in the external data of a tensor.
    """
    for data in model.external_data:
        first: dict[str, int] = {}
        for index, key in enumerate(data.keys):
            if first.setdefault(key, index) != index:
                place = data.tensor.place
                yield Finding(
                    place.at("external_data", index),
                    f"the key {quote(key)} is listed twice in the external data of {data.describe()}",
                    related=(Related(place.at("external_data", first[key]), "first entry"),),
                    allowed="each key once",
                    subject=key,
                )
