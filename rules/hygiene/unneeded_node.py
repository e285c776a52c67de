# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule


@rule(clause="HYG-4", since="0.2.0", needs="graph")
def unneeded_node(model: Model) -> Iterator[Finding]:
    """A node is not needed by any output of its graph.

    ### How to fix

    Delete the node and the nodes that only it needs, or make its result an output.
    `onnx_ir.passes.common.RemoveUnusedNodesPass()(model)` deletes all of them.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    node { op_type: "Relu" input: "x" output: "y" }
    node { op_type: "Exp" input: "x" output: "cut_off" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    ```

    ### Why it matters

    A runtime computes the node in vain, or drops it. Often the nodes are left of an output that was removed.

    ### Details

    - Nodes that only unneeded nodes use are unneeded. Only the last ones, whose outputs nothing uses, are reported.
    - Nodes without outputs are not reported.
    """
    for graph in model.graphs:
        nodes = model.uses.unneeded_nodes(graph)
        if graph.is_file or not nodes:
            continue
        used = model.uses.used_in(graph)
        for node in [node for node in nodes if used.isdisjoint(node.outputs)] or nodes[:1]:
            yield Finding(
                node.place,
                f"{node.describe()} is not needed by any output of {graph.describe()}",
                allowed="nodes that an output needs",
                subject=node.name or next(filter(None, node.outputs)),
                cause="unneeded",
            )
