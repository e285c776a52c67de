# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Graph, GraphKind, Model, has_unnamed_graphs
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="GRA-4", since="0.1.0", about=has_unnamed_graphs, needs="attribute")
def missing_graph_name(model: Model) -> Iterator[Finding]:
    """A graph has no name.

    ### How to fix

    Name the graph: the name is the second argument of `onnx.helper.make_graph`.

    ### Example

    ```
    graph { node { op_type: "Constant" output: "y" attribute { name: "value_int" type: INT i: 1 } } }
    ```

    Corrected:

    ```
    graph { name: "main" node { op_type: "Constant" output: "y" attribute { name: "value_int" type: INT i: 1 } } }
    ```

    ### Why it matters

    Tools name graphs in messages and in generated code. `onnx.checker` refuses a graph without a name.

    ### Details

    - The main graph, training graphs, and graphs nested in them or in a function need a name.
    - A training graph without any content is absent and not reported.
    """
    for graph in model.graphs:
        if graph.is_function or graph.is_file or graph.name:
            continue
        if graph.kind in (GraphKind.INITIALIZATION, GraphKind.ALGORITHM) and not graph.proto.ByteSize():
            continue
        case = "main" if graph is model.main_graph else None
        yield Finding(graph.place, f"{_describe(graph)} has no name", allowed="a non-empty name", case=case)


def _describe(graph: Graph) -> str:
    """The graph, by the attribute that holds it where it is nested."""
    outer, attribute = graph.parent, graph.place.parent
    if graph.kind is not GraphKind.NESTED or outer is None or attribute is None:
        return graph.describe()
    if attribute.field == "attribute":
        node = outer.nodes[graph.position]
        holder, protos = f" of {node.describe()}", node.attribute_protos
    else:
        holder, protos = "" if outer.is_file else f" of {outer.describe()}", outer.attribute_protos
    number = "" if graph.place.index is None else f" {graph.place.index} in"
    return f"subgraph{number} {quote(protos[attribute.index or 0].name)}{holder}"
