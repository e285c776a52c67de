# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule


@rule(clause="VAL-4", since="0.1.0", needs="value")
def mismatched_map_lengths(model: Model) -> Iterator[Finding]:
    """A serialized map has more keys than values, or fewer.

    ### How to fix

    Write one value for each key, in the order of the keys.

    ### Example

    ```
    # proto: MapProto
    key_type: 7 keys: [1, 2]
    values { elem_type: 1 tensor_values { data_type: 1 float_data: 0.5 } }
    ```

    Corrected:

    ```
    # proto: MapProto
    key_type: 7 keys: [1, 2]
    values { elem_type: 1
             tensor_values { data_type: 1 float_data: 0.5 } tensor_values { data_type: 1 float_data: 0.25 } }
    ```

    ### Why it matters

    The position pairs a key with its value; a surplus key or value has no partner.

    ### Details

    - `values` must have one element for each key.
    - Reported by other rules: keys of several types (`unsupported-map-keys`), values of several types
      (`misplaced-sequence-values`, `mixed-value-types`).
    """
    for value, place in model.values.of("MapProto"):
        keys = len(value.keys) + len(value.string_keys)
        values = sum(len(found) for field, found in value.values.ListFields() if field.name.endswith("_values"))
        if keys != values:
            message = f"the map has {keys:,} key{'s' * (keys != 1)}, but {values:,} value{'s' * (values != 1)}"
            yield Finding(
                place.at("values") if value.HasField("values") else place, message, allowed="as many values as keys"
            )
