# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import DataType, Model, StoredTensor, has_suspect_tensors
from onnx_lint.rule import Finding, rule


@rule(clause="TEN-1", since="0.1.0", about=has_suspect_tensors, needs="tensor")
def unknown_tensor_element_type(model: Model) -> Iterator[Finding]:
    r"""A tensor has no element type, or one that is not defined.

    ### How to fix

    Write the type of the values. `onnx.helper.np_dtype_to_tensor_dtype` returns it for the dtype of a NumPy array.

    ### Example

    ```
    initializer { name: "w" data_type: 99 dims: 1 raw_data: "\001" }
    ```

    Corrected:

    ```
    initializer { name: "w" data_type: 2 dims: 1 raw_data: "\001" }
    ```

    ### Why it matters

    The element type says how to read the stored bytes. Without it the values are unknown, and consumers refuse the
    model.

    ### Details

    - The type must be a member of `TensorProto.DataType` other than UNDEFINED.
    - Tensors with external data are checked as well.
    - `raw_data` in a tensor of type UNDEFINED is also forbidden; this rule reports both faults as one.
    - `premature-feature` reports types that the model's IR version does not have yet.
    """
    for tensor in model.tensors.miscounted:
        if tensor.type is None:
            yield Finding(
                tensor.place.at("data_type"),
                f"{tensor.describe()} {_complaint(tensor)}",
                allowed="an element type of TensorProto.DataType other than UNDEFINED",
                offset=tensor.offset,
                subject=tensor.proto.name,
                cause=_complaint(tensor),
            )


def _complaint(tensor: StoredTensor) -> str:
    if not tensor.proto.HasField("data_type"):
        return "states no element type"
    if tensor.proto.data_type == DataType.UNDEFINED:
        return "has the element type UNDEFINED"
    return f"has the element type {tensor.proto.data_type}, which is not defined"
