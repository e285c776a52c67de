# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.inference.types.distinct_types import describe_case
from onnx_lint.model import ELEMENT_TYPES, MAP_KEYS, Model, Proto, describe_element_type, has_unusual_types
from onnx_lint.rule import Finding, rule


@rule(clause="TYP-5", since="0.1.0", about=has_unusual_types, needs="type")
def unsupported_map_key_type(model: Model) -> Iterator[Finding]:
    """The keys of a map type are neither integers nor strings.

    ### How to fix

    Use whole numbers or strings as keys.

    ### Example

    ```
    node { op_type: "Score" domain: "com.example" input: "x" output: "y" }
    output { name: "y" type { map_type { key_type: 1 value_type { tensor_type { elem_type: 1 } } } } }
    ```

    Corrected:

    ```
    node { op_type: "Score" domain: "com.example" input: "x" output: "y" }
    output { name: "y" type { map_type { key_type: 7 value_type { tensor_type { elem_type: 1 } } } } }
    ```

    ### Why it matters

    Keys must be compared exactly, which is impossible for floating-point numbers. Runtimes have no such maps.

    ### Details

    - Allowed are `int8`, `int16`, `int32`, `int64`, their unsigned counterparts, and `string`.
    - Reported by another rule: a map type without a key type (`incomplete-type`).
    """
    for found in model.types(_has_unsupported_keys):
        yield Finding(
            found.place.at("map_type").at("key_type"),
            f"{describe_case(found)} has keys of {_name(found.proto.map_type.key_type)}",
            allowed="keys of an integer type of 8 to 64 bits or string",
        )


def _has_unsupported_keys(proto: Proto) -> bool:
    if not proto.HasField("map_type") or not proto.map_type.HasField("key_type"):
        return False
    return proto.map_type.key_type not in MAP_KEYS


def _name(code: int) -> str:
    if code == 0:
        return "type UNDEFINED"
    return (
        f"type {describe_element_type(code)}, but must have integers or strings"
        if code in ELEMENT_TYPES
        else f"type {code}, which is not defined"
    )
