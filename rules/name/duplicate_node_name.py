# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Graph, GraphKind, Model, Node
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause=("NAM-4", "TRN-9"), since="0.1.0", needs="node")
def duplicate_node_name(model: Model) -> Iterator[Finding]:
    """Two nodes of a graph have the same name.

    ### Why it matters

    The name is what diagnostics, profilers and quantisation tools know a node by. Versions of ONNX Runtime refuse a
    model in which two nodes share one.

    ### What is allowed

    Each name once in a graph or function body; a nested graph has names of its own. A node may go without a name. A
    training algorithm is one graph with the inference graph, so their names must differ as well.

    ### Example

    ```
    node { name: "n" op_type: "Relu" input: "x" output: "a" }
    node { name: "n" op_type: "Abs" input: "a" output: "y" }
    ```
    """
    for graph in model.graphs:
        # A training algorithm is one graph with the inference graph.
        inference = _first_nodes(graph.parent) if graph.kind is GraphKind.ALGORITHM and graph.parent else {}
        if _has_duplicates(graph) or not graph.distinct_node_names.isdisjoint(inference):
            yield from _duplicates(graph, inference)


def _has_duplicates(graph: Graph) -> bool:
    names, distinct = graph.node_names, graph.distinct_node_names
    return len(distinct) < len(names) and len(distinct - {""}) < len(names) - names.count("")


def _first_nodes(graph: Graph) -> dict[str, int]:
    """The index of the first node of each name."""
    names = graph.node_names
    found = dict(zip(reversed(names), range(len(names) - 1, -1, -1), strict=True))
    found.pop("", None)
    return found


def _duplicates(graph: Graph, inference: dict[str, int]) -> Iterator[Finding]:
    own = _first_nodes(graph)
    for index, name in enumerate(graph.node_names):
        if own.get(name, index) != index:
            yield _finding(graph.nodes[index], graph.nodes[own[name]], "NAM-4")
        elif name in inference and graph.parent is not None:
            yield _finding(graph.nodes[index], graph.parent.nodes[inference[name]], "TRN-9")


def _finding(node: Node, other: Node, clause: str) -> Finding:
    outside = "" if other.graph is node.graph else f" of {other.graph.describe()}"
    return Finding(
        node.place.at("name"),
        f"{node.describe()} of {node.graph.describe()} has the name of node {other.index} ({other.op_type}){outside}",
        clause=clause,
        related=(Related(other.place, f"first node called {quote(node.name)}: {other.describe()}"),),
        allowed="each node name once in a graph",
        subject=node.name,
    )
