# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import EXTERNAL_LOCATION, Model
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.element_types import DEFAULT_LOCATION


@rule(clause="EXT-14", since="0.1.0", about=Model.external_data, needs="tensor")
def unknown_data_location(model: Model) -> Iterator[Finding]:
    """The data_location of a tensor has a value that is not defined.

    ### How to fix

    Clear the field if the values are in the tensor. Write EXTERNAL if they are in a file.

    ### Example

    ```
    initializer { name: "w" data_type: 1 dims: 1 data_location: 7 float_data: 1 }
    ```

    Corrected:

    ```
    initializer { name: "w" data_type: 1 dims: 1 float_data: 1 }
    ```

    ### Why it matters

    A consumer does not know where the values are. Most parsers ignore the number and look in the model.

    ### Details

    - The defined values are DEFAULT (0) and EXTERNAL (1). Old copies of ExternalData.md name MESSAGE and RAW, for which
      the schema has no number.
    """
    for data in model.external_data:
        if data.data_location not in (DEFAULT_LOCATION, EXTERNAL_LOCATION):
            yield Finding(
                data.tensor.place.at("data_location"),
                f"{data.describe()} has the data location {data.data_location}, which is not defined",
                allowed="DEFAULT (0) or EXTERNAL (1)",
                subject=data.proto.name,
            )
