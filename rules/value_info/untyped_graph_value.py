# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, ValueInfo, has_bare_graph_values
from onnx_lint.rule import Finding, declaration_of_output, rule


@rule(clause="VI-2", since="0.1.0", about=has_bare_graph_values, needs="graph")
def untyped_graph_value(model: Model) -> Iterator[Finding]:
    """An input or output of the main graph has no type.

    ### How to fix

    Declare the type. `onnx.shape_inference.infer_shapes` finds the type of an output that follows from the inputs.
    `onnx-lint fix --unsafe-fixes` (unsafe: callers read the declaration) declares that of a tensor.

    ### Example

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { } } } } }
    ```

    ### Why it matters

    Callers do not know what to pass or how much memory to allocate, and ONNX Runtime refuses an input without a type.

    ### Details

    - Every input and output of the main graph needs a type.
    - Subgraphs, training graphs and `value_info` may omit types.
    """
    graph = model.main_graph
    for role in ("input", "output"):
        for index, proto in enumerate(getattr(graph.proto, role)):
            # A type without a case counts as none; asking an absent one answers None too.
            if proto.type.WhichOneof("value") is None:
                value_info = ValueInfo(proto, graph.at(role, index), graph, role)
                yield Finding(
                    value_info.place,
                    f"{value_info.describe()} has no type",
                    allowed="a type, with the rank where it is a tensor",
                    subject=proto.name,
                    case=role,
                    fix=declaration_of_output(model, index) if role == "output" else "no node decides it",
                )
