# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import GraphKind, Model
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="HYG-2", since="0.2.0", needs="function")
def unused_input(model: Model) -> Iterator[Finding]:
    """An input of the main graph or of a function is not used.

    ### How to fix

    Delete the input, or find out why nothing uses it.

    ### Example

    ```
    input { name: "mask" type { tensor_type { elem_type: 9 shape { dim { dim_value: 1 } } } } }
    ```

    Corrected:

    ```
    input { name: "mask" type { tensor_type { elem_type: 9 shape { dim { dim_value: 1 } } } } }
    node { op_type: "Not" input: "mask" output: "unmasked" }
    output { name: "unmasked" type { tensor_type { elem_type: 9 shape { dim { dim_value: 1 } } } } }
    ```

    ### Why it matters

    Each caller must pass a value that changes nothing. Often the export lost a part of the model, for example a mask.

    ### Details

    - An input is used by a node of the graph or of a graph nested in it, or as an output.
    - Inputs of subgraphs are not checked, because the operator decides them.
    - Reported by another rule: an input that is also an initializer (`unused-initializer`).
    """
    for graph in model.graphs:
        if graph.kind not in {GraphKind.MAIN, GraphKind.FUNCTION}:
            continue
        used = model.uses.used_in(graph)
        others = {*graph.initializer_names, *graph.sparse_initializer_names, ""}
        for index, name in enumerate(graph.input_names):
            if name not in used and name not in others:
                yield Finding(
                    graph.at("input", index),
                    f"input {quote(name)} of {graph.describe()} is not used",
                    allowed="inputs that a node or output uses",
                    subject=name,
                    cause=graph.kind.value,
                )
