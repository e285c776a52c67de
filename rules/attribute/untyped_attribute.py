# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ATTRIBUTE_TYPE_NAMES, Attribute, Model, has_unusual_attributes
from onnx_lint.rule import Finding, rule

_TYPES_SINCE = 2
"""The IR version that brought the field."""


@rule(clause="ATT-2", since="0.1.0", about=has_unusual_attributes, needs="attribute")
def untyped_attribute(model: Model) -> Iterator[Finding]:
    """An attribute does not state its type.

    ### How to fix

    Write the type of the value. `onnx.helper.make_attribute` derives it from the value. For an empty list, pass
    `attr_type`.

    ### Example

    ```
    node { op_type: "Softmax" input: "x" output: "y" attribute { name: "axis" i: 1 } }
    ```

    Corrected:

    ```
    node { op_type: "Softmax" input: "x" output: "y" attribute { name: "axis" type: INT i: 1 } }
    ```

    ### Why it matters

    The type says which field has the value. Without it a reader must guess, and it cannot guess a value of 0 or an
    empty list, which may not be in the file.

    ### Details

    - The type must be a member of the enumeration other than `UNDEFINED`.
    - An attribute that refers to a parameter of a function must also have a type.
    - Models of IR version 1 are not checked, because that version has no such field.
    """
    if model.effective_ir_version < _TYPES_SINCE:
        return
    for attribute in model.attributes(lambda kind: kind.type not in ATTRIBUTE_TYPE_NAMES):
        yield Finding(
            attribute.place,
            f"{attribute.describe()} {_what(attribute)}",
            allowed="one of the types that AttributeProto.AttributeType lists, other than UNDEFINED",
            subject=attribute.proto.name,
        )


def _what(attribute: Attribute) -> str:
    if attribute.proto.type:
        return f"states the unknown type {attribute.proto.type}"
    return "has the type UNDEFINED" if attribute.proto.HasField("type") else "states no type"
