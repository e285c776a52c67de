# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from onnx_lint.model import MAP_KEYS, DataType, Model, Place, describe_element_type
from onnx_lint.rule import Finding, on_elements, rule
from onnx_lint.wording import and_others


@rule(clause=("VAL-3", "VAL-3b"), since="0.1.0", needs="value")
def unsupported_map_keys(model: Model) -> Iterator[Finding]:
    """The keys of a serialized map are of a type that keys cannot have, in the field of another type, or not UTF-8.

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
    - A string that is not UTF-8 is a warning, because the text requires UTF-8 only of the strings of tensors and
      attributes.
    """
    for value, place in model.values.of("MapProto"):
        stated_type = describe_element_type(value.key_type)
        if value.key_type not in MAP_KEYS:
            stated = f"keys of type {stated_type}" if value.HasField("key_type") else "no type of keys"
            allowed = "an integer type or STRING"
            yield Finding(place.at("key_type"), f"the map states {stated}", clause="VAL-3", allowed=allowed)
            continue
        wrong, right = ("keys", "string_keys") if value.key_type == DataType.STRING else ("string_keys", "keys")
        if len(getattr(value, wrong)):
            message = f"the map has keys in {wrong}, which is not the field for {stated_type}"
            yield Finding(place.at(wrong, 0), message, clause="VAL-3", allowed=right)
        faulty = [(index, at) for index, key in enumerate(value.string_keys) if (at := _fault(key)) is not None]
        if faulty:
            yield on_elements(partial(_not_utf8, place), faulty[0], len(faulty), faulty)


def _not_utf8(place: Place, key: tuple[int, int], count: int) -> Finding:
    index, at = key
    message = f"key {index} of the map is not UTF-8 at byte {at}{and_others(count)}"
    return Finding(place.at("string_keys", index), message, clause="VAL-3b", allowed="UTF-8")


def _fault(key: bytes) -> int | None:
    """Return the first byte of a key that is not UTF-8."""
    try:
        key.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None
