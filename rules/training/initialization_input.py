# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx_lint.model import Graph, GraphKind, Model, has_training_information
from onnx_lint.rule import Faults, Finding, rule
from onnx_lint.wording import quote_some


@rule(clause="TRN-8", since="0.1.0", about=has_training_information)
def initialization_input(model: Model) -> Iterator[Finding]:
    """An initialization graph has inputs.

    ### How to fix

    Create the values in the graph: constants as initializers, random values with operators like `RandomNormal`.

    ### Example

    ```
    initializer { name: "weight" data_type: 1 dims: 1 float_data: 1 }
    training_info {
      initialization { name: "start"
        input { name: "seed" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
        node { op_type: "Neg" input: "seed" output: "first" } output { name: "first" } }
      initialization_binding { key: "weight" value: "first" }
    }
    ```

    Corrected:

    ```
    initializer { name: "weight" data_type: 1 dims: 1 float_data: 1 }
    training_info {
      initialization { name: "start"
        node { op_type: "RandomNormal" output: "first" attribute { name: "shape" type: INTS ints: 1 } }
        output { name: "first" } }
      initialization_binding { key: "weight" value: "first" }
    }
    ```

    ### Why it matters

    Nothing supplies the inputs: the graph runs once, before there is any data.

    ### Details

    - An initialization graph must not have inputs.
    """
    for graph in model.training_graphs:
        if graph.kind is GraphKind.INITIALIZATION and graph.input_names:
            yield _finding(graph, range(len(graph.input_names)))


def _finding(graph: Graph, indices: Sequence[int]) -> Finding:
    names = [graph.input_names[index] for index in indices]
    count = f"{len(names):,} input{'s' if len(names) > 1 else ''}"
    shown = "" if len(names) <= 3 else ", first 3 shown"
    return Finding(
        graph.at("input", indices[0]),
        f"{graph.describe()} has {count}{shown}: {quote_some(names)}",
        allowed="no inputs",
        subject=graph.name,
        collective=True,
        parts=Faults.of_entries(_finding, graph, "input", graph.input_names, indices),
    )
