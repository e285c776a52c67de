# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Assign, Fix, FreshNames, Graph, GraphKind, Model, has_several_graphs
from onnx_lint.rule import Finding, Related, folded, replace, rule
from onnx_lint.wording import counted, quote


@rule(clause="NAM-6", since="0.1.0", about=has_several_graphs, needs="node")
def duplicate_graph_name(model: Model) -> Iterator[Finding]:
    """Several graphs of a model have the same name.

    ### How to fix

    Name each graph differently, for example after its node and attribute. `onnx-lint fix --unsafe-fixes` (unsafe: other
    files may name graphs) adds a number to the second of two graphs: `branch` and `branch_1`.

    ### Example

    ```
    node { op_type: "If" input: "condition" output: "y"
      attribute { name: "then_branch" type: GRAPH g { name: "branch" output { name: "a" }
        node { op_type: "Relu" input: "x" output: "a" } } }
      attribute { name: "else_branch" type: GRAPH g { name: "branch" output { name: "b" }
        node { op_type: "Abs" input: "x" output: "b" } } }
    }
    ```

    Corrected:

    ```
    node { op_type: "If" input: "condition" output: "y"
      attribute { name: "then_branch" type: GRAPH g { name: "if_0_then" output { name: "a" }
        node { op_type: "Relu" input: "x" output: "a" } } }
      attribute { name: "else_branch" type: GRAPH g { name: "if_0_else" output { name: "b" }
        node { op_type: "Abs" input: "x" output: "b" } } }
    }
    ```

    ### Why it matters

    Diagnostics identify a graph by its name. You cannot distinguish two graphs with the same name.

    ### Details

    - The main graph, nested graphs (also in functions) and training graphs need different names.
    - Functions have a namespace of their own.
    - It is a warning: the specification requires unique graph names, but exporters give all branches and loop bodies
      one name, and every consumer accepts it.
    - There is one finding for the model, with the number of graphs that repeat a name.
    """
    first: dict[str, Graph] = {}
    repeating: list[tuple[Graph, Graph]] = []
    for graph in model.graphs:
        if not graph.is_function and graph.name and first.setdefault(graph.name, graph) is not graph:
            repeating.append((graph, first[graph.name]))
    more = ("more graph repeats a name", "more graphs repeat a name")
    for finding in folded(repeating, _finding, None, more):
        yield replace(finding, fix=_fix(model, [graph for graph, _ in repeating]))


def _fix(model: Model, repeating: list[Graph]) -> Fix:
    def edits() -> Iterator[Assign]:
        fresh = FreshNames(graph.name for graph in model.graphs)
        for graph in repeating:
            yield Assign(graph.at("name"), fresh.like(graph.name))

    return Fix.of_many(
        lambda count: f"give {counted(count, 'graph')} another name", len(repeating), edits, is_safe=False
    )


def _finding(pair: tuple[Graph, Graph]) -> Finding:
    graph, first = pair
    return Finding(
        graph.place.at("name"),
        f"{graph.kind.value} {quote(graph.name)} has the name of {_other(first, graph)}",
        related=(Related(first.place, f"first graph called {quote(graph.name)}: {first.kind.value}"),),
        allowed="a name of its own for each graph",
    )


def _other(first: Graph, second: Graph) -> str:
    """Return the graph that has the name already, in words beside the second one."""
    if first.kind is second.kind:
        return f"another {first.kind.value}"
    if first.kind is GraphKind.MAIN:
        return "the main graph"
    return f"{'an' if first.kind is GraphKind.INITIALIZATION else 'a'} {first.kind.value}"
