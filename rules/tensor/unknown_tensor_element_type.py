# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import UNDEFINED_TYPE, Model, StoredTensor, has_suspect_tensors
from onnx_lint.rule import Finding, rule


@rule(clause="TEN-1", since="0.1.0", about=has_suspect_tensors, needs="tensor")
def unknown_tensor_element_type(model: Model) -> Iterator[Finding]:
    r"""A tensor has no element type, or one that is not defined.

    ### How to fix

    State the type of the values; `onnx.helper.np_dtype_to_tensor_dtype` finds it for an array of NumPy.

    ### Example

    ```
    initializer { name: "w" data_type: 99 dims: 1 raw_data: "\001" }
    ```

    Corrected:

    ```
    initializer { name: "w" data_type: 2 dims: 1 raw_data: "\001" }
    ```

    ### Why it matters

    The element type says how the stored bytes are read. Without it the values of the tensor are not known, and
    consumers refuse the model.

    ### Details

    A member of `TensorProto.DataType` other than UNDEFINED, for tensors with external data as well. The
    specification also forbids raw_data in a tensor of type UNDEFINED; that is the same fault and reported once,
    here. Which types a model of an older IR version may have is reported by `premature-feature`.
    """
    for tensor in model.tensors.miscounted:
        if tensor.type is None:
            yield Finding(
                tensor.place.at("data_type"),
                f"{tensor.describe()} {_complaint(tensor)}",
                allowed="an element type of TensorProto.DataType other than UNDEFINED",
                offset=tensor.offset,
                subject=tensor.proto.name,
            )


def _complaint(tensor: StoredTensor) -> str:
    if not tensor.proto.HasField("data_type"):
        return "states no element type"
    if tensor.proto.data_type == UNDEFINED_TYPE:
        return "has the element type UNDEFINED"
    return f"has the element type {tensor.proto.data_type}, which is not defined"
