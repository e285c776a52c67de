# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule

_OPTIONAL = 5


@rule(clause="VAL-4a", since="0.1.0", needs="value")
def unsupported_map_values(model: Model) -> Iterator[Finding]:
    """The values of a serialized map are optionals.

    ### How to fix

    Write the values themselves, and omit a key that has no value.

    ### Example

    ```
    # proto: MapProto
    key_type: 7 keys: 1
    values { elem_type: 5 optional_values { } }
    ```

    Corrected:

    ```
    # proto: MapProto
    key_type: 7 values { elem_type: 1 }
    ```

    ### Why it matters

    Readers cannot represent a map of optional values.

    ### Details

    - The `elem_type` of the values must be TENSOR (1), SPARSE_TENSOR (2), SEQUENCE (3) or MAP (4). A sequence that is
      not in a map may also have OPTIONAL.
    - Reported by another rule: a kind that does not exist (`unknown-sequence-kind`).
    """
    for value, place in model.values.of("MapProto"):
        if value.values.elem_type == _OPTIONAL:
            yield Finding(
                place.at("values").at("elem_type"),
                "the values of the map are of kind 5 (OPTIONAL)",
                allowed="TENSOR (1), SPARSE_TENSOR (2), SEQUENCE (3) or MAP (4)",
            )
