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

    Write the value where the reference stands. Code that copies the body of a function into a graph has to put the
    values of the call in; `onnx.inliner.inline_local_functions` does.

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

    `ref_attr_name` names a parameter of a function, whose value the caller gives. A node of the main graph or of a
    training graph has no caller, so the attribute has no value. A default is used if the caller passes nothing, so
    a default that refers to a parameter has no value.

    ### Details

    References in the nodes of a function body and in the graphs nested in them.
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
