# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Graph, Model, Node, Place
from onnx_lint.model.subgraphs import control_flow_graphs
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote

DEFAULTS_DROPPED_IN = 4
"""The first IR version without default values for the inputs of subgraphs."""


@rule(clause=("SUB-5", "SUB-5a", "SUB-6"), since="0.1.0", about=Model.nested_graphs, needs="node")
def initialized_subgraph_input(model: Model) -> Iterator[Finding]:
    """A subgraph of a control-flow operator has an initializer with the name of one of its inputs.

    ### How to fix

    - Delete the initializer, because the operator supplies the value.
    - If the value never changes, delete the input instead.
    - Pass the initial value of a loop as an input of the node.

    ### Example

    ```
    node { op_type: "Loop" input: "count" input: "condition" input: "start" output: "y"
      attribute { name: "body" type: GRAPH g {
        input { name: "i" } input { name: "go_on" } input { name: "sum" }
        initializer { name: "sum" data_type: 1 dims: 1 float_data: 0 }
        node { op_type: "Identity" input: "sum" output: "next" }
        output { name: "go_on" } output { name: "next" }
      } }
    }
    ```

    Corrected:

    ```
    node { op_type: "Loop" input: "count" input: "condition" input: "start" output: "y"
      attribute { name: "body" type: GRAPH g {
        input { name: "i" } input { name: "go_on" } input { name: "sum" }
        node { op_type: "Identity" input: "sum" output: "next" }
        output { name: "go_on" } output { name: "next" }
      } }
    }
    ```

    ### Why it matters

    The operator supplies every input of the subgraph, and a default is never used. ONNX Runtime refuses the
    model, and so does the full check of onnx.checker from IR version 4 on.

    ### Details

    - The subgraphs of `If`, `Loop`, `Scan` and `SequenceMap` are checked, with dense and sparse initializers.
    - From IR version 4 on, no input of the subgraph may have an initializer.
    - Up to IR version 3, the inputs that the operator supplies must come first and have no initializer. Further inputs
      with one may follow, because every initializer had to be an input.
    - Edition 1.9 forbids the initializer in all IR versions.
    - Subgraphs of other operators, and of calls of model-local functions, are not checked: their rules are unknown.
    """
    for _, graph, node in control_flow_graphs(model):
        if graph.input_names and (graph.initializer_names or graph.sparse_initializer_names):
            yield from _findings(model, graph, node, _initializers(graph))


def _findings(model: Model, graph: Graph, node: Node, initializers: dict[str, Place]) -> Iterator[Finding]:
    clause, judged, allowed = _judged(model, node)
    but = f"which {node.describe()} does not allow" if judged is None else f"but {node.describe()} supplies it"
    for index, name in enumerate(graph.input_names):
        if name in initializers and (judged is None or index < judged):
            yield Finding(
                graph.at("input", index),
                f"input {index} of {graph.describe()} has the default {quote(name)}, {but}",
                clause=clause,
                related=(Related(initializers[name], f"initializer {quote(name)}"),),
                allowed=allowed,
                subject=name,
            )


def _judged(model: Model, node: Node) -> tuple[str, int | None, str]:
    """The clause that holds, how many inputs it is about (None for all), and what it allows."""
    if model.effective_ir_version >= DEFAULTS_DROPPED_IN:
        return "SUB-5", None, "no initializer with the name of an input of the subgraph"
    if model.standard.edition == "1.9":
        return "SUB-5a", None, "no initializer with the name of an input of the subgraph"
    # If the number is unknown, every input may be one after the supplied ones.
    return (
        "SUB-6",
        model.control_flow.supplied_inputs(node) or 0,
        "initializers only for inputs after those that the operator supplies",
    )


def _initializers(graph: Graph) -> dict[str, Place]:
    """The first initializer of each name, a dense one where there is one."""
    lists = {"initializer": graph.initializer_names, "sparse_initializer": graph.sparse_initializer_names}
    found: dict[str, Place] = {}
    for field, names in lists.items():
        for index, name in enumerate(names):
            if name and name not in found:
                found[name] = graph.at(field, index)
    return found
