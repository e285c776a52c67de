# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Definition, Graph, Model
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="SUB-8", since="0.1.0", about=Model.nested_graphs, needs="graph")
def outer_scope_output(model: Model) -> Iterator[Finding]:
    """A nested graph returns a value of a graph around it as its own output.

    ### How to fix

    Hand the value through an Identity node inside the graph.

    ### Example

    ```
    node { op_type: "If" input: "condition" output: "y"
      attribute { name: "then_branch" type: GRAPH g {
        node { op_type: "Relu" input: "x" output: "a" } output { name: "a" } } }
      attribute { name: "else_branch" type: GRAPH g { output { name: "x" } } }
    }
    ```

    Corrected:

    ```
    node { op_type: "If" input: "condition" output: "y"
      attribute { name: "then_branch" type: GRAPH g {
        node { op_type: "Relu" input: "x" output: "a" } output { name: "a" } } }
      attribute { name: "else_branch" type: GRAPH g {
        node { op_type: "Identity" input: "x" output: "b" } output { name: "b" } } }
    }
    ```

    ### Why it matters

    onnx.checker (since 1.17) and ONNX Runtime refuse the model.

    ### Details

    No clause says that an output of a nested graph has to be defined in it, and an example in the specification
    (ONNXTypes.md) returns an outer value. Because consumers refuse it all the same, this is a warning and not the
    error of an output that nothing defines. An `Identity` node in the nested graph makes the value its own. A
    training algorithm may return values of the inference graph, with which it is one graph.
    """
    for graph in model.nested_graphs:
        for index, name in enumerate(graph.output_names):
            outer = None if not name or name in graph.positions else graph.outer_definition(name)
            if outer is not None:
                yield _finding(graph, index, name, outer)


def _finding(graph: Graph, index: int, name: str, outer: Definition) -> Finding:
    return Finding(
        graph.at("output", index),
        f"output {index} of {graph.describe()} is {quote(name)}, a value of {outer.graph.describe()}",
        related=(Related(outer.place, f"{outer.describe()} defines {quote(name)}"),),
        allowed="a value that the nested graph itself defines",
        subject=name,
    )
