# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import MappingProxyType
from typing import Final

from onnx_lint.model import ELEMENT_TYPES, Model, Place, Proto, describe_element_type
from onnx_lint.rule import Finding, on_elements, rule
from onnx_lint.spec.element_types import INTEGER_KEYS
from onnx_lint.wording import and_others

_INT32: Final = (-0x8000_0000, 0x7FFF_FFFF)
"""The numbers of INT32, for which a tensor has a field of its own."""

# INT64 has all numbers that `keys` holds; so has UINT64, whose greater half is written as negative numbers.
_RANGES: Final = MappingProxyType(
    {
        number: ELEMENT_TYPES[number].entry_range or _INT32
        for number in sorted(INTEGER_KEYS)
        if ELEMENT_TYPES[number].bits < 64
    }
)


@rule(clause="VAL-3a", since="0.1.0", needs="value")
def out_of_range_map_key(model: Model) -> Iterator[Finding]:
    """A key of a serialized map is not a number of the type that the map states.

    ### How to fix

    State a type that has the number: 300 is not an INT8 (3) but an INT64 (7).

    ### Example

    ```
    # proto: MapProto
    key_type: 3 keys: 300
    values { elem_type: 1 tensor_values { data_type: 1 float_data: 0.5 } }
    ```

    Corrected:

    ```
    # proto: MapProto
    key_type: 7 keys: 300
    values { elem_type: 1 tensor_values { data_type: 1 float_data: 0.5 } }
    ```

    ### Why it matters

    A reader truncates the number to the type of the keys: the value gets another key.

    ### Details

    - The type in `key_type` gives the range, for example -128 to 127 for INT8.
    - A negative key of type UINT64 is accepted: `keys` has signed 64-bit numbers, and larger ones are written as
      negative.
    - There is one finding for each map; it names the first such key and the number of others.
    """
    for value, place in model.values.of("MapProto"):
        if value.key_type not in _RANGES or not value.keys:
            continue
        least, greatest = _RANGES[value.key_type]
        if least <= min(value.keys) and max(value.keys) <= greatest:
            continue
        wrong = [index for index, key in enumerate(value.keys) if not least <= key <= greatest]
        yield on_elements(partial(_finding, value, place), wrong[0], len(wrong), wrong)


def _finding(value: Proto, place: Place, index: int, count: int) -> Finding:
    least, greatest = _RANGES[value.key_type]
    of_type = f"a number of the type of the keys, {describe_element_type(value.key_type)}"
    return Finding(
        place.at("keys", index),
        f"key {value.keys[index]} is not {of_type}{and_others(count)}",
        allowed=f"{least} to {greatest}",
    )
