# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import MAP_KEYS, STRING_TYPE, Model, describe_element_type
from onnx_lint.rule import Finding, rule


@rule(clause="VAL-3", since="0.1.0", needs="value")
def unsupported_map_keys(model: Model) -> Iterator[Finding]:
    """The keys of a serialized map are of a type that keys cannot have, or in the field of another type.

    ### How to fix

    Write whole numbers into `keys`, or strings into `string_keys` with the type STRING (8).

    ### Example

    ```
    # proto: MapProto
    key_type: 1 keys: 1
    values { elem_type: 1 tensor_values { data_type: 1 float_data: 0.5 } }
    ```

    Corrected:

    ```
    # proto: MapProto
    key_type: 8 string_keys: "1.0"
    values { elem_type: 1 tensor_values { data_type: 1 float_data: 0.5 } }
    ```

    ### Why it matters

    A reader reads the keys from the field of their type.

    ### Details

    - `keys` needs an integer type: INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32 or UINT64.
    - `string_keys` needs STRING.
    """
    for value, place in model.values.of("MapProto"):
        stated_type = describe_element_type(value.key_type)
        if value.key_type not in MAP_KEYS:
            stated = f"keys of type {stated_type}" if value.HasField("key_type") else "no type of keys"
            yield Finding(place.at("key_type"), f"the map states {stated}", allowed="an integer type or STRING")
            continue
        wrong, right = ("keys", "string_keys") if value.key_type == STRING_TYPE else ("string_keys", "keys")
        if len(getattr(value, wrong)):
            message = f"the map has keys in {wrong}, which is not the field for {stated_type}"
            yield Finding(place.at(wrong, 0), message, allowed=right)
