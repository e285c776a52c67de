# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Declaration, EarlierStatements, Graph, Model, has_repeated_outputs
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause=("NAM-3a", "NAM-3b"), since="0.1.0", about=has_repeated_outputs, needs="node")
def duplicate_graph_output(model: Model) -> Iterator[Finding]:
    """A graph lists one value as an output twice.

    ### How to fix

    List each value once. If callers need two outputs, copy the value with an Identity node;
    `onnx_ir.passes.common.OutputFixPass()(model)` inserts such nodes. If the types contradict each other, declare in
    each remaining entry the type that the node produces.

    ### Example

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    node { op_type: "Identity" input: "y" output: "z" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    output { name: "z" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    ```

    ### Why it matters

    A caller that reads the results by name gets one value where the graph declares two.

    ### Details

    - It is a note, because the specification does not clearly forbid it: two outputs of one name are two uses of one
      value.
    - It is an error if the two entries declare types that contradict each other: another kind of type, element type,
      rank or size.
    - A missing type, shape or dimension and a dimension variable contradict nothing.
    - Reported by another rule: the outputs of functions (`duplicate-function-parameter`).
    """
    for graph in model.graphs:
        if not graph.is_function and len(set(graph.output_names)) != len(graph.output_names):
            yield from _duplicates(graph)


def _duplicates(graph: Graph) -> Iterator[Finding]:
    first: dict[str, int] = {}
    stated: dict[str, EarlierStatements] = {}
    for index, name in enumerate(graph.output_names):
        other = first.setdefault(name, index)
        if name and other != index:
            if name not in stated:
                stated[name] = EarlierStatements()
                stated[name].add(other, Declaration(graph, "output", other))
            declaration = Declaration(graph, "output", index)
            contradicted = stated[name].first_against(declaration)
            stated[name].add(index, declaration)
            yield _repeated(graph, other, index) if contradicted is None else _differing(graph, contradicted, index)


def _repeated(graph: Graph, other: int, index: int) -> Finding:
    name = graph.output_names[index]
    return Finding(
        graph.at("output", index),
        f"outputs {other} and {index} of {graph.describe()} are both called {quote(name)}",
        clause="NAM-3a",
        related=(Related(graph.at("output", other), f"first output called {quote(name)}"),),
        allowed="each value once among the outputs",
        subject=name,
    )


def _differing(graph: Graph, other: int, index: int) -> Finding:
    name = graph.output_names[index]
    former, latter = (Declaration(graph, "output", position) for position in (other, index))
    return Finding(
        graph.at("output", index),
        f"outputs {other} and {index} of {graph.describe()} are both called {quote(name)}, "
        f"but are declared as {former.describe_type()} and as {latter.describe_type()}",
        clause="NAM-3b",
        related=(Related(graph.at("output", other), f"the other declaration of {quote(name)}"),),
        allowed="one type for each value",
        subject=name,
        inner=latter.contradiction(former),
    )
