# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.columns.attribute_kinds import value_fields
from onnx_lint.model import Model, has_unusual_attributes
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote, quote_some


@rule(clause="ATT-11", since="0.1.0", about=has_unusual_attributes, needs="attribute")
def data_in_attribute_reference(model: Model) -> Iterator[Finding]:
    """An attribute refers to a parameter of a function and also has a value.

    ### How to fix

    Clear the value; the call or a default of the function provides it. `onnx.helper.make_attribute_ref` creates such
    a reference.

    ### Example

    ```
    functions {
      name: "F" domain: "com.example" input: "x" output: "y" attribute: "slope"
      node { op_type: "Elu" input: "x" output: "y" attribute { name: "alpha" type: FLOAT ref_attr_name: "slope" f: 1 } }
    }
    ```

    Corrected:

    ```
    functions {
      name: "F" domain: "com.example" input: "x" output: "y" attribute_proto { name: "slope" type: FLOAT f: 1 }
      node { op_type: "Elu" input: "x" output: "y" attribute { name: "alpha" type: FLOAT ref_attr_name: "slope" } }
    }
    ```

    ### Why it matters

    The value could be a default, an override or a leftover, and readers disagree. A default is written in the
    function's `attribute_proto`.

    ### Details

    - An attribute must not have both `ref_attr_name` and a value.
    """
    for attribute in model.attributes(lambda kind: kind.is_reference and bool(kind.fields)):
        fields = value_fields(attribute.proto)
        where = "in field" if len(fields) == 1 else "in fields"
        yield Finding(
            attribute.place,
            f"{attribute.describe()} refers to {quote(attribute.proto.ref_attr_name)}, but has a value "
            f"{where} {quote_some(fields, len(fields))}",
            allowed="a reference or a value",
            subject=attribute.proto.name,
        )
