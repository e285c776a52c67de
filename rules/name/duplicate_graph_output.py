# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx_lint.ir.names.plain_names import repeats_outputs
from onnx_lint.model import Declaration, EarlierStatements, Graph, GraphKind, Model, Place, has_repeated_outputs
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
    - The outputs of a training algorithm follow those of the main graph: from edition 1.16 on, the two
      are executed as one graph.
    - Reported by another rule: the outputs of functions (`duplicate-function-parameter`).
    """
    for graph in model.graphs:
        if not graph.is_function and repeats_outputs(graph):
            # Before edition 1.16 the text does not combine the algorithm with the main graph.
            is_combined = graph.kind is GraphKind.ALGORITHM and model.standard.at_least("1.16")
            yield from _duplicates(graph, graph.parent if is_combined else None)


def _duplicates(graph: Graph, inference: Graph | None) -> Iterator[Finding]:
    """Yield a finding for each output of the graph whose name an earlier one has, also one of `inference`."""
    # The outputs of the combined training graph are those of the inference graph, then those of the algorithm.
    outputs_of_name: dict[str, list[Declaration]] = {}
    for each in (graph,) if inference is None else (inference, graph):
        for index, name in enumerate(each.output_names):
            if name:
                outputs_of_name.setdefault(name, []).append(Declaration(each, "output", index))
    for outputs in outputs_of_name.values():
        if len(outputs) > 1:
            yield from _findings(graph, outputs)


def _findings(graph: Graph, outputs: Sequence[Declaration]) -> Iterator[Finding]:
    """Yield a finding for each of the outputs of one name that is in the graph and has an earlier one."""
    first, *others = outputs
    earlier = EarlierStatements()
    earlier.add(0, first)
    for index, output in enumerate(others, 1):
        at = earlier.first_against(output)
        earlier.add(index, output)
        contradicted = None if at is None else outputs[at]
        if output.graph is not graph:
            continue
        # `contradictory-declared-type` compares an output of the algorithm with those of the main graph.
        if contradicted is None or contradicted.graph is not graph:
            yield _repeated(first, output)
        else:
            yield _differing(contradicted, output)


def _repeated(other: Declaration, declaration: Declaration) -> Finding:
    name = declaration.name
    return Finding(
        declaration.place,
        f"{_both(other, declaration)} are both called {quote(name)}",
        clause="NAM-3a",
        related=(Related(other.place, f"first output called {quote(name)}"),),
        allowed="each value once among the outputs",
        subject=name,
        partners=_definition(declaration),
    )


def _differing(other: Declaration, declaration: Declaration) -> Finding:
    name = declaration.name
    types = [each.describe_type() for each in (other, declaration)]
    return Finding(
        declaration.place,
        f"{_both(other, declaration)} are both called {quote(name)}, but are declared as {types[0]} and as {types[1]}",
        clause="NAM-3b",
        related=(Related(other.place, f"the other declaration of {quote(name)}"),),
        allowed="one type for each value",
        subject=name,
        inner=declaration.contradiction(other),
        partners=_definition(declaration),
    )


def _definition(declaration: Declaration) -> tuple[Place, ...]:
    """Return the definition of an output: for a baseline, that of another value is another fault."""
    found = declaration.graph.definition_of(declaration.name)
    return () if found is None else (found.place,)


def _both(other: Declaration, declaration: Declaration) -> str:
    if other.graph is declaration.graph:
        return f"outputs {other.index} and {declaration.index} of {declaration.graph.describe()}"
    return " and ".join(f"output {each.index} of {each.graph.describe()}" for each in (other, declaration))
