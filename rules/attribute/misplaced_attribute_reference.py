# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="ATT-6", since="0.1.0")
def misplaced_attribute_reference(model: Model) -> Iterator[Finding]:
    """An attribute outside of functions refers to an attribute parameter.

    ### Why it matters

    `ref_attr_name` stands for the value that the caller of a function gives to a parameter. A node of the main
    graph or of a training graph has no caller, so the attribute has no value.

    ### What is allowed

    References in the nodes of a function body and in the graphs nested in them.

    ### Example

    ```
    graph { node {
      op_type: "Elu" input: "x" output: "y" attribute { name: "alpha" type: FLOAT ref_attr_name: "slope" }
    } }
    ```
    """
    for attribute in model.attributes_where(lambda signature: signature.is_reference):
        if attribute.function is not None:
            continue
        yield Finding(
            attribute.place.at("ref_attr_name"),
            f"{attribute.describe()} refers to {quote(attribute.proto.ref_attr_name)}, "
            "and the node stands in no function",
            allowed="a value",
            subject=attribute.proto.name,
        )
