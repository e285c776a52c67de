# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.columns.attribute_kinds import value_fields
from onnx_lint.model import Model, has_unusual_attributes
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import listed, quote


@rule(clause="ATT-4", since="0.1.0", about=has_unusual_attributes, needs="attribute")
def ambiguous_attribute_value(model: Model) -> Iterator[Finding]:
    """An attribute has values in several fields.

    ### How to fix

    Keep the field of the attribute's type and clear the others. `onnx.helper.make_attribute` fills exactly one field.

    ### Example

    ```
    node { op_type: "Softmax" input: "x" output: "y" attribute { name: "axis" type: INT i: 1 f: 1 } }
    ```

    Corrected:

    ```
    node { op_type: "Softmax" input: "x" output: "y" attribute { name: "axis" type: INT i: 1 } }
    ```

    ### Why it matters

    The attribute does not say which of the values it has. Consumers refuse the model; a reader that does not check the
    fields takes one of the values.

    ### Details

    - An attribute must have a value in one field only.
    - A singular field has a value if it is present in the file, also if it is 0.
    - A list has a value if it has elements, because an empty list is not written.
    """
    for attribute in model.attributes(lambda kind: len(kind.fields) > 1):
        yield Finding(
            attribute.place,
            f"{attribute.describe()} has values in fields {listed([*map(quote, value_fields(attribute.proto))])}",
            allowed="a value in one field",
            subject=attribute.proto.name,
        )
