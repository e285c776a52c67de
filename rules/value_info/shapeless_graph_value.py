# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_bare_graph_values
from onnx_lint.model.declared_values import bare_values
from onnx_lint.rule import Finding, declaration_of_end, rule


@rule(clause=("VI-3", "TRN-9"), since="0.1.0", about=has_bare_graph_values, needs="graph")
def shapeless_graph_value(model: Model) -> Iterator[Finding]:
    """An input or output of the main graph, or of a training algorithm, is a tensor without a shape.

    ### How to fix

    Declare one dimension for each axis of the tensor, and leave dimensions of unknown size empty. A scalar has an empty
    shape.

    - `onnx-lint fix --unsafe-fixes` (unsafe: callers read the declaration) declares the shape of an output that follows
      from its node.
    - `onnx.shape_inference.infer_shapes`, or `python -m onnxruntime.tools.symbolic_shape_infer --input model.onnx
      --output shaped.onnx`, declares what follows from the inputs.
    - The `onnx` package: `onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["N", None])`; a shape of
      `None` writes none.

    ### Example

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 } } }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } dim { } } } } }
    ```

    ### Why it matters

    Callers do not know how many dimensions to pass or to expect. Compilers that need the rank refuse the model.

    ### Details

    - All inputs without a shape are one finding, and so are all outputs.
    - The inputs and outputs of a training algorithm need shapes as well: together with the main graph it is one graph
      (from edition 1.16 on).
    - Each dimension may be unknown.
    - A shape without dimensions is that of a scalar.
    - Sequences, maps and optionals have no shape of their own, and their elements need none.
    """
    for value in bare_values(model):
        kind = value.proto.type.WhichOneof("value")
        if kind is not None:
            yield Finding(
                value.place.at("type").at(kind),
                f"{value.describe()} has no shape",
                clause="VI-3" if value.graph is model.main_graph else "TRN-9",
                allowed="a shape; its dimensions may be unknown",
                subject=value.proto.name,
                cause=f"shapeless {value.role}",
                fix=declaration_of_end(model, value),
            )
