# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Fix, Graph, Model, Place, has_initializers
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="HYG-1", since="0.2.0", about=has_initializers, needs="attribute")
def unused_initializer(model: Model) -> Iterator[Finding]:
    """An initializer is not used.

    ### How to fix

    Delete the initializer.

    - `onnx-lint fix --select unused-initializer` (safe) deletes those that are no graph inputs; for 16-bit
      floating-point numbers, add `--unsafe-fixes`.
    - `onnx_ir.passes.common.RemoveUnusedNodesPass()(model)` deletes those of the main graph.

    ### Example

    ```
    initializer { name: "old" data_type: 1 dims: 1 float_data: 1 }
    initializer { name: "w" data_type: 1 dims: 1 float_data: 1 }
    node { op_type: "Neg" input: "w" output: "negative" }
    output { name: "negative" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
    ```

    Corrected:

    ```
    initializer { name: "w" data_type: 1 dims: 1 float_data: 1 }
    node { op_type: "Neg" input: "w" output: "negative" }
    output { name: "negative" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
    ```

    ### Why it matters

    The tensor takes space in the file and, in some runtimes, memory. It is often left over from an edit of the model.

    ### Details

    - An initializer is used by a node of the graph or of a graph nested in it, as an output, in a training binding or
      in a quantization annotation.
    - Equal findings of a model are reported once, with their number.
    - In a graph without outputs nothing is reported: the file may hold weights.
    """
    for graph in model.graphs:
        if graph.is_file or not graph.output_names:
            continue
        lists = ("initializer", graph.initializer_names), ("sparse_initializer", graph.sparse_initializer_names)
        used = model.uses.used_in(graph)
        for field, names in lists:
            for index, name in enumerate(names):
                if name and name not in used:
                    yield Finding(
                        graph.at(field, index),
                        f"initializer {quote(name)} of {graph.describe()} is not used",
                        allowed="initializers that a node or output uses",
                        subject=name,
                        cause="unused",
                        fix=_deletion(model, graph, name, graph.at(field, index)),
                    )


def _deletion(model: Model, graph: Graph, name: str, place: Place) -> Fix | str:
    if name in graph.input_names:
        return "it is the default of an input, which callers would have to supply"
    return model.removals.delete_initializer(f"delete initializer {quote(name)}", graph, name, place)
