# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, Node, has_repeated_attributes
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="ATT-7", since="0.1.0", about=has_repeated_attributes, needs="attribute")
def duplicate_attribute(model: Model) -> Iterator[Finding]:
    """A node has two attributes of one name.

    ### How to fix

    Keep the attribute that you mean. Code that sets an attribute of an existing node must replace it, not append it.

    ### Example

    ```
    node { op_type: "Softmax" input: "x" output: "y"
      attribute { name: "axis" type: INT i: 0 }
      attribute { name: "axis" type: INT i: 1 }
    }
    ```

    Corrected:

    ```
    node { op_type: "Softmax" input: "x" output: "y" attribute { name: "axis" type: INT i: 1 } }
    ```

    ### Why it matters

    Some readers take the first attribute, others the last.

    ### Details

    - The attributes of a node must have different names.
    - Reported by other rules: the parameters of a function (`duplicate-function-attribute`), attributes without a
      name (`unnamed-attribute`).
    """
    for alike in model.operators.alike_nodes:
        names = [name for name, _ in alike.attributes]
        if len(set(names)) != len(names):
            for node in alike.nodes:
                yield from _duplicates(node)


def _duplicates(node: Node) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for index, attribute in enumerate(node.attribute_protos):
        name = attribute.name
        other = first.setdefault(name, index)
        if other == index or not name:
            continue
        yield Finding(
            node.place.at("attribute", index),
            f"attribute {quote(name)} of {node.describe()} is listed twice",
            related=(Related(node.place.at("attribute", other), f"first attribute {quote(name)}"),),
            allowed="each attribute of a node once",
            subject=name,
        )
