# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_incomplete_nodes
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="NOD-3", since="0.1.0", about=has_incomplete_nodes, needs="node")
def missing_op_type(model: Model) -> Iterator[Finding]:
    """A node does not name its operator.

    ### How to fix

    Name the operator, or delete the node.

    ### Example

    ```
    node { input: "x" output: "y" }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    ```

    ### Why it matters

    Nothing defines what the node computes.

    ### Details

    - `op_type` must name an operator or a model-local function.
    """
    for node in model.nodes():
        if not node.op_type:
            name = quote(node.name) if node.name else str(node.index)
            what = f"node {name} of {node.graph.describe()}" if node.name or not node.graph.is_file else "the node"
            yield Finding(
                node.place.at("op_type"),
                f"{what} names no operator",
                allowed="the name of an operator or of a function",
                subject=node.name or None,
            )
