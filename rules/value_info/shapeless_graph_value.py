# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import TENSOR_KINDS, Model, ValueInfo, has_bare_graph_values
from onnx_lint.rule import Finding, declaration_of_output, rule


@rule(clause="VI-3", since="0.1.0", about=has_bare_graph_values, needs="graph")
def shapeless_graph_value(model: Model) -> Iterator[Finding]:
    """An input or output of the main graph is a tensor without a shape.

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
    - Each dimension may be unknown.
    - A shape without dimensions is that of a scalar.
    - Sequences, maps and optionals have no shape of their own, and their elements need none.
    """
    graph = model.main_graph
    for role in ("input", "output"):
        for index, proto in enumerate(getattr(graph.proto, role)):
            kind = proto.type.WhichOneof("value")
            if kind in TENSOR_KINDS and not getattr(proto.type, kind).HasField("shape"):
                value_info = ValueInfo(proto, graph.at(role, index), graph, role)
                yield Finding(
                    value_info.place.at("type").at(kind),
                    f"{value_info.describe()} has no shape",
                    allowed="a shape; its dimensions may be unknown",
                    subject=proto.name,
                    cause=f"shapeless {role}",
                    fix=declaration_of_output(model, index) if role == "output" else "no node decides it",
                )
