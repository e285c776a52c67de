# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_bare_graph_values
from onnx_lint.model.declared_values import bare_values
from onnx_lint.rule import Finding, declaration_of_end, rule


@rule(clause=("VI-2", "TRN-9"), since="0.1.0", about=has_bare_graph_values, needs="graph")
def untyped_graph_value(model: Model) -> Iterator[Finding]:
    """An input or output of the main graph, or of a training algorithm, has no type.

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
    - So does every input and output of a training algorithm: together with the main graph it is one graph (from edition
      1.16 on).
    - Subgraphs, initialization graphs and `value_info` may omit types.
    """
    for value in bare_values(model):
        # A type without a case counts as none; asking an absent one answers None too.
        if value.proto.type.WhichOneof("value") is None:
            yield Finding(
                value.place,
                f"{value.describe()} has no type",
                clause="VI-2" if value.graph is model.main_graph else "TRN-9",
                allowed="a type, with the rank where it is a tensor",
                subject=value.proto.name,
                case=value.role if value.graph is model.main_graph else None,
                fix=declaration_of_end(model, value),
            )
