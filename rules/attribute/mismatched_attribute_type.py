# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.columns.attribute_kinds import VALUE_FIELD_OF_TYPE, value_fields
from onnx_lint.model import ATTRIBUTE_TYPE_NAMES, AttributeKind, Model, has_unusual_attributes
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="ATT-3", since="0.1.0", about=has_unusual_attributes, needs="attribute")
def mismatched_attribute_type(model: Model) -> Iterator[Finding]:
    """The value of an attribute is in another field than its type says.

    ### How to fix

    - Move the value into the field of the type, or write the type of the field that has the value. The operator
      defines which is right.
    - `onnx.helper.make_attribute(name, value, attr_type=...)` writes a matching pair.

    ### Example

    ```
    node { op_type: "Softmax" input: "x" output: "y" attribute { name: "axis" type: INT f: 1 } }
    ```

    Corrected:

    ```
    node { op_type: "Softmax" input: "x" output: "y" attribute { name: "axis" type: INT i: 1 } }
    ```

    ### Why it matters

    A reader that uses the type finds nothing and takes 0 or an empty list. A reader that uses the fields finds the
    value. The two compute different results.

    ### Details

    - The value must be in the field of the stated type: `i` for `INT`, `ints` for `INTS`, `t` for `TENSOR`, and
      likewise for the others.
    - Reported by other rules: values in several fields (`ambiguous-attribute-value`), a missing or unknown type
      (`untyped-attribute`).
    """
    for attribute in model.attributes(_is_mismatched):
        kind = attribute.proto.type
        (field,) = value_fields(attribute.proto)
        yield Finding(
            attribute.place,
            f"{attribute.describe()} is of type {ATTRIBUTE_TYPE_NAMES[kind]}, but its value is in field {quote(field)}",
            allowed=f"a value in field {quote(VALUE_FIELD_OF_TYPE[kind])}",
            subject=attribute.proto.name,
        )


def _is_mismatched(kind: AttributeKind) -> bool:
    expected = VALUE_FIELD_OF_TYPE.get(kind.type)
    return expected is not None and len(kind.fields) == 1 and kind.fields[0] != expected
