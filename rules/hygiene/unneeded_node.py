# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Fix, Graph, Model, Node, is_onnx_domain
from onnx_lint.rule import Finding, rule


@rule(clause="HYG-4", since="0.2.0", needs="attribute")
def unneeded_node(model: Model) -> Iterator[Finding]:
    """A node is not needed by any output of its graph.

    ### How to fix

    Delete the node and the nodes that only it needs, or make its result an output.

    - `onnx-lint fix --select unneeded-node` (safe) deletes them.
    - Add `--unsafe-fixes` for operators that ONNX does not define, because they may do more than compute.
    - Add it as well for 16-bit floating-point numbers, and for nodes in functions.
    - `onnx_ir.passes.common.RemoveUnusedNodesPass()(model)` also deletes them.

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

    A runtime computes the node in vain, or drops it. Often it is left over from an output that was removed.

    ### Details

    - Nodes that only unneeded nodes use are unneeded. Only the last ones, whose outputs nothing uses, are reported.
    - Nodes without outputs are not reported.
    - In a graph without outputs nothing is reported. If it is the main graph, `graph-without-outputs` reports it.
    """
    unknown: dict[Graph, set[int]] = {}
    for graph in model.graphs:
        nodes = model.uses.unneeded_nodes(graph)
        if graph.is_file or not nodes or not graph.output_names:
            continue
        unknown = unknown or _with_unknown_effects(model)
        used = model.uses.used_in(graph)
        # In a cycle of unneeded nodes, each has an output that another one uses.
        for node in [node for node in nodes if used.isdisjoint(node.outputs)] or nodes[:1]:
            yield Finding(
                node.place,
                f"{node.describe()} is not needed by any output of {graph.describe()}",
                allowed="nodes that an output needs",
                subject=node.name or next(filter(None, node.outputs)),
                cause="unneeded",
                fix=_deletion(model, node, unknown[graph]),
            )


def _deletion(model: Model, node: Node, unknown: set[int]) -> Fix | str:
    numbers = model.removals.unused_with_producers(node.graph, node.index)
    others = f" and {len(numbers) - 1:,} that only it needs" if len(numbers) > 1 else ""
    is_safe = unknown.isdisjoint(numbers)
    return model.removals.delete_nodes(f"delete {node.describe()}{others}", node.graph, numbers, is_safe=is_safe)


def _with_unknown_effects(model: Model) -> dict[Graph, set[int]]:
    """Return for each graph the nodes that are, or hold in a subgraph, an operator that ONNX does not define."""
    found: dict[Graph, set[int]] = {graph: set() for graph in model.graphs}
    for graph in model.graphs:
        for form in graph.form_counts:
            schema = model.operators.operator_in(graph, form).schema
            if schema is None or not is_onnx_domain(schema.domain):
                found[graph].update(node.index for node in graph.nodes_of((form,)))
        if found[graph]:
            for around, position in graph.scopes():
                found.setdefault(around, set()).add(position)  # a training graph may be in no main graph
    return found
