# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_unusual_attributes
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="ATT-6", since="0.1.0", about=has_unusual_attributes, needs="function")
def misplaced_attribute_reference(model: Model) -> Iterator[Finding]:
    """An attribute outside of function bodies refers to an attribute parameter.

    ### How to fix

    - Write the value in place of the reference.
    - If you copy the body of a function into a graph, insert the values of the call.
      `onnx.inliner.inline_local_functions` does it.

    ### Example

    ```
    node {
      op_type: "Elu" input: "x" output: "y" attribute { name: "alpha" type: FLOAT ref_attr_name: "slope" }
    }
    ```

    Corrected:

    ```
    node { op_type: "Elu" input: "x" output: "y" attribute { name: "alpha" type: FLOAT f: 1 } }
    ```

    ### Why it matters

    `ref_attr_name` names a parameter whose value the caller passes. A node of the main graph or a training graph has
    no caller, and its attribute has no value.

    ### Details

    - References are allowed in the nodes of a function body, and in graphs that are nested in them.
    - A function's default must not refer to a parameter: it is used if the caller passes nothing.
    """
    for attribute in model.attributes(lambda kind: kind.is_reference):
        if attribute.function is not None and attribute.node is not None:
            continue
        why = "the node is not in a function" if attribute.node else "a default is not in a function body"
        yield Finding(
            attribute.place.at("ref_attr_name"),
            f"{attribute.describe()} refers to {quote(attribute.proto.ref_attr_name)}, but {why}",
            allowed="a value",
            subject=attribute.proto.name,
        )
