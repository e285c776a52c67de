# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Attribute, Model, has_unnamed_attributes
from onnx_lint.rule import Finding, rule


@rule(clause=("ATT-1", "FUN-6a"), since="0.1.0", about=has_unnamed_attributes, needs="attribute")
def unnamed_attribute(model: Model) -> Iterator[Finding]:
    """An attribute has no name.

    ### How to fix

    Write the name that the operator defines, or delete the attribute.

    ### Example

    ```
    node { op_type: "LeakyRelu" input: "x" output: "y" attribute { type: FLOAT f: 0.1 } }
    ```

    Corrected:

    ```
    node { op_type: "LeakyRelu" input: "x" output: "y" attribute { name: "alpha" type: FLOAT f: 0.1 } }
    ```

    ### Why it matters

    Operators look up attributes by name. Nothing reads the value of this one.

    ### Details

    - Each attribute of a node, and each default in a function's `attribute_proto`, must have a name that is not empty.
    - An empty entry of a function's `attribute` is a warning: no call can pass such an attribute, but consumers accept
      the function.
    """
    for attribute in model.attributes(lambda kind: not kind.is_named):
        yield Finding(
            attribute.place,
            f"{_describe(attribute)} has no name",
            clause="ATT-1",
            allowed="a non-empty name",
            inner=f"attribute {attribute.place.index}",
        )
    for function in model.parametric_functions:
        for index, name in enumerate(function.attribute_names):
            if not name:
                yield Finding(
                    function.place.at("attribute", index),
                    f"attribute parameter {index} of {function.body.describe()} has no name",
                    clause="FUN-6a",
                    allowed="a non-empty name",
                    inner=f"attribute {index}",
                )


def _describe(attribute: Attribute) -> str:
    if attribute.node is None and attribute.graph.is_file:
        return "the attribute"
    holder = attribute.node.describe() if attribute.node else attribute.graph.describe()
    return f"attribute {attribute.place.index} of {holder}"
