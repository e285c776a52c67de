# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, ValueInfo, has_bare_graph_values
from onnx_lint.rule import Finding, declaration_of_output, rule


@rule(clause="VI-2", since="0.1.0", about=has_bare_graph_values, needs="graph")
def untyped_graph_value(model: Model) -> Iterator[Finding]:
    """An input or output of the main graph has no type.

    ### How to fix

    State the type; `onnx.shape_inference.infer_shapes` finds that of an output which follows from the inputs.
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

    Inputs and outputs are the interface of the model. Without their types a caller does not know what to pass in or
    what to make room for, and ONNX Runtime does not know what to verify.

    ### Details

    A type for every input and output of the main graph. Subgraphs and training graphs may leave the types out, and
    `value_info` may too.
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
                    fix=declaration_of_output(model, index) if role == "output" else None,
                )
