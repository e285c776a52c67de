# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx_lint.model import Graph, Model, has_value_infos
from onnx_lint.rule import Faults, Finding, rule
from onnx_lint.wording import quote_some


@rule(clause="VI-5a", since="0.1.0", about=has_value_infos, needs="attribute")
def redundant_value_info(model: Model) -> Iterator[Finding]:
    """An entry of `value_info` repeats an input or output of the graph.

    ### How to fix

    Delete the entry, or all of them: `onnx.shape_inference.infer_shapes` writes those of intermediate values again.

    ### Example

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { } } } }
    value_info { name: "y" type { tensor_type { elem_type: 1 shape { } } } }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { } } } }
    ```

    ### Why it matters

    Inputs and outputs have their type already. Two copies may come to differ, which `contradictory-value-info` reports.

    ### Details

    - Entries for outputs of nodes that are no graph outputs, and for initializers, are not reported.
    - Shape inference may write these entries: the rule needs `--pedantic` or a selection.
    - There is one finding for each graph.
    """
    for graph in model.graphs_with("value_info"):
        if graph.is_function:
            continue
        declared = {*graph.input_names, *graph.output_names} - {""}
        indices = [index for index, name in enumerate(graph.value_info_names) if name in declared]
        if indices:
            yield _finding(graph, indices)


def _finding(graph: Graph, indices: Sequence[int]) -> Finding:
    names = graph.value_info_names
    noun, verb = ("entry", "repeats") if len(indices) == 1 else ("entries", "repeat")
    shown = "" if len(indices) <= 3 else ", first 3 shown"
    return Finding(
        graph.at("value_info", indices[0]),
        f"{len(indices):,} {noun} of value_info in {graph.describe()} {verb} an input or output{shown}: "
        f"{quote_some([names[index] for index in indices])}",
        allowed="entries for other values than inputs and outputs",
        subject=graph.name,
        collective=True,
        parts=Faults.of_entries(_finding, graph, "value_info", names, indices),
    )
