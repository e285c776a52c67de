# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

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


class _EarlierOutputs:
    """The outputs of one name that are listed before another one."""

    def __init__(self) -> None:
        self._listed: list[Declaration] = []
        self._statements = EarlierStatements()

    def add(self, output: Declaration) -> None:
        self._statements.add(len(self._listed), output)
        self._listed.append(output)

    def finding_on(self, output: Declaration) -> Finding | None:
        """Return the finding on the next output of this name; None if it is the first one."""
        if not self._listed:
            return None
        contradicted = self._statements.first_against(output)
        # `contradictory-declared-type` compares an output of the algorithm with those of the main graph.
        if contradicted is None or self._listed[contradicted].graph is not output.graph:
            return _repeated(self._listed[0], output)
        return _differing(self._listed[contradicted], output)


def _duplicates(graph: Graph, inference: Graph | None) -> Iterator[Finding]:
    """Yield a finding for each output of the graph whose name an earlier one has, also one of `inference`."""
    # The outputs of the combined training graph are those of the inference graph, then those of the algorithm.
    graphs = (graph,) if inference is None else (inference, graph)
    names = [name for each in graphs for name in each.output_names]
    listed = [Declaration(each, "output", index) for each in graphs for index in range(len(each.output_names))]
    counts = Counter(names)
    earlier: dict[str, _EarlierOutputs] = {}
    for name, output in zip(names, listed, strict=True):
        if not name or counts[name] == 1:
            continue
        outputs = earlier.setdefault(name, _EarlierOutputs())
        found = outputs.finding_on(output)
        if found is not None and output.graph is graph:
            yield found
        outputs.add(output)


def _repeated(other: Declaration, declaration: Declaration) -> Finding:
    name = declaration.name
    return Finding(
        declaration.place,
        f"{_both(other, declaration)} are both called {quote(name)}",
        clause="NAM-3a",
        related=(Related(other.place, f"first output called {quote(name)}"),),
        allowed="each value once among the outputs",
        subject=name,
        partners=_maker(declaration),
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
        partners=_maker(declaration),
    )


def _maker(declaration: Declaration) -> tuple[Place, ...]:
    """Return the definition of an output: for a baseline, that of another value is another fault."""
    found = declaration.graph.definition_of(declaration.name)
    return () if found is None else (found.place,)


def _both(other: Declaration, declaration: Declaration) -> str:
    if other.graph is declaration.graph:
        return f"outputs {other.index} and {declaration.index} of {declaration.graph.describe()}"
    return " and ".join(f"output {each.index} of {each.graph.describe()}" for each in (other, declaration))
