# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_incomplete_nodes
from onnx_lint.rule import Finding, rule


@rule(clause="NOD-1", since="0.1.0", about=has_incomplete_nodes, needs="node")
def node_without_outputs(model: Model) -> Iterator[Finding]:
    """A node has no outputs.

    ### How to fix

    Name the outputs, or delete the node.

    ### Example

    ```
    node { op_type: "Relu" input: "x" }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    ```

    ### Why it matters

    A graph has no side effects: a node without outputs has no effect. Optimisers delete it, other consumers refuse the
    model.

    ### Details

    - A node needs at least one output.
    - Omitted outputs, with an empty name, are outputs and are not reported here.
    """
    for node in model.nodes():
        if not node.outputs:
            yield Finding(
                node.place,
                f"{node.describe()} has no outputs",
                allowed="one output or more",
                subject=node.name or None,
            )
