# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Graph, Model
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote, suggestion


@rule(clause=("NOD-2", "GRA-8", "FUN-8", "FUN-10"), since="0.1.0")
def undefined_name(model: Model) -> Iterator[Finding]:
    """A node input or a graph output names a value that nothing defines.

    ### Why it matters

    There is no value to compute with or to return.

    ### What is allowed

    In a node input: a graph input, an initializer, or an output of an earlier node, in the same graph or, inside a
    nested graph, in one around it. A function body sees only the function's own inputs and node outputs. An empty
    name stands for an optional input that is left out and is no use of a value.

    In a graph output: a name that the graph itself defines. An output of a nested graph that only an outer graph
    defines is for `outer-scope-output`.

    ### Example

    ```
    node { op_type: "Relu" input: "imput" output: "y" }
    input { name: "input" }
    ```
    """
    for use in model.resolution.undefined:
        graph = use.node.graph
        yield Finding(
            use.place,
            f"{use.node.describe()} uses {quote(use.name)}, which nothing defines{_suggestion(use.name, graph)}",
            clause="FUN-10" if graph.function else "NOD-2",
            allowed="a graph input, an initializer, or an output of an earlier node",
            subject=use.name,
        )
    for graph in model.graphs:
        for index, name in enumerate(graph.output_names):
            if name and name not in graph.positions and not graph.sees(name):
                hint = _suggestion(name, graph)
                yield Finding(
                    graph.place.at("output", index),
                    f"output {index} of {graph.describe()} is {quote(name)}, which nothing defines{hint}",
                    clause="FUN-8" if graph.is_function else "GRA-8",
                    allowed="a value that the graph defines",
                    subject=name,
                )


def _suggestion(name: str, graph: Graph) -> str:
    visible = [*graph.positions]
    for outer, position in graph.scopes():
        visible += [other for other, defined in outer.positions.items() if defined < position]
    return suggestion(name, visible)
