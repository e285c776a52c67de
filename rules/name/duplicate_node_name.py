# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial

from onnx_lint.ir.graph import first_indices
from onnx_lint.model import Assign, Fix, FreshNames, Graph, GraphKind, Model, has_unusual_names
from onnx_lint.rule import Finding, Related, folded, replace, rule
from onnx_lint.wording import counted, quote


@rule(clause=("NAM-4", "TRN-9"), since="0.1.0", about=has_unusual_names, needs="node")
def duplicate_node_name(model: Model) -> Iterator[Finding]:
    """Two nodes of a graph have the same name.

    ### How to fix

    Rename one node, or remove its name. `onnx-lint fix --unsafe-fixes` (unsafe: other files may name nodes) adds a
    number to the second of two nodes: `n` and `n_1`.

    - `onnx_ir`: `onnx_ir.passes.common.NameFixPass()(model)`.
    - Call `onnx.compose.add_prefix` before you join two graphs.

    ### Example

    ```
    node { name: "n" op_type: "Relu" input: "x" output: "a" }
    node { name: "n" op_type: "Abs" input: "a" output: "y" }
    ```

    Corrected:

    ```
    node { name: "relu" op_type: "Relu" input: "x" output: "a" }
    node { name: "abs" op_type: "Abs" input: "a" output: "y" }
    ```

    ### Why it matters

    Diagnostics, profilers and quantization tools identify a node by its name. ONNX Runtime refuses the model, unless
    all but one of the nodes are Constants.

    ### Details

    - Names must differ within a graph or function body. A nested graph has its own names.
    - A node may have no name.
    - A training algorithm and the inference graph are one graph, and their names must differ.
    - There is one finding for each graph, with the number of nodes that repeat a name.
    """
    fresh: FreshNames | None = None
    first_nodes = cache(_first_nodes)  # each algorithm asks for those of the one inference graph
    for graph in model.graphs:
        # A training algorithm is one graph with the inference graph.
        inference = first_nodes(graph.parent) if graph.kind is GraphKind.ALGORITHM and graph.parent else {}
        if graph.has_repeated_node_names or not inference.keys().isdisjoint(graph.node_names):
            fresh = fresh or FreshNames(name for each in model.graphs for name in each.node_names)
            yield from _duplicates(graph, inference, fresh)


def _first_nodes(graph: Graph) -> dict[str, int]:
    """Return the index of the first node of each name."""
    found = first_indices(graph.node_names)
    found.pop("", None)
    return found


def _duplicates(graph: Graph, inference: dict[str, int], fresh: FreshNames) -> Iterator[Finding]:
    """Yield a finding on the nodes that repeat a name of their graph, and one on those that repeat one of inference."""
    more = ("more node repeats a name", "more nodes repeat a name")
    own = _first_nodes(graph)
    repeating = [(index, own[name]) for index, name in enumerate(graph.node_names) if own.get(name, index) != index]
    for finding in folded(repeating, partial(_finding, graph, graph, "NAM-4"), graph.name, more):
        case = "constant" if _are_of_constants(graph, repeating) else None
        yield replace(finding, fix=_fix(graph, repeating, fresh), case=case)
    if graph.parent is not None:
        shared = sorted((own[name], inference[name]) for name in own.keys() & inference.keys())
        for finding in folded(shared, partial(_finding, graph, graph.parent, "TRN-9"), graph.name, more):
            yield replace(finding, fix=_fix(graph, shared, fresh))


def _are_of_constants(graph: Graph, repeating: Sequence[tuple[int, int]]) -> bool:
    """Return whether at most one node of each repeated name is no Constant: ONNX Runtime makes initializers of them."""
    others: dict[str, set[int]] = {}
    for pair in repeating:
        for index in pair:
            form = graph.forms[index]
            if form.op_type != "Constant" or form.domain:
                others.setdefault(graph.node_names[index], set()).add(index)
    return all(len(indices) <= 1 for indices in others.values())


def _fix(graph: Graph, repeating: Sequence[tuple[int, int]], fresh: FreshNames) -> Fix:
    def edits() -> Iterator[Assign]:
        for index, _ in repeating:
            yield Assign(graph.at("node", index).at("name"), fresh.like(graph.node_names[index]))

    owner = graph.describe()
    return Fix.of_many(
        lambda count: f"give {counted(count, 'node')} of {owner} another name", len(repeating), edits, is_safe=False
    )


def _finding(graph: Graph, other_graph: Graph, clause: str, indices: tuple[int, int]) -> Finding:
    """Return the finding on a node of `graph` that has the name of one of `other_graph`."""
    node, other = graph.nodes[indices[0]], other_graph.nodes[indices[1]]
    outside = "" if other_graph is graph else f" of {other_graph.describe()}"
    return Finding(
        node.place.at("name"),
        f"{node.describe()} of {graph.describe()} has the name of node {other.index} ({other.op_type}){outside}",
        clause=clause,
        related=(Related(other.place, f"first node called {quote(node.name)}: {other.describe()}"),),
        allowed="each node name once in a graph",
    )
