# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, StoredTensor, has_suspect_tensors
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.element_types import ElementType


@rule(clause="TEN-6", since="0.1.0", about=has_suspect_tensors, needs="tensor")
def misplaced_tensor_data(model: Model) -> Iterator[Finding]:
    """The values of a tensor are in a field for another element type.

    ### How to fix

    Write the values into the field of the element type, or into `raw_data`.

    ### Example

    ```
    initializer { name: "axes" data_type: 7 dims: 1 int32_data: 1 }
    ```

    Corrected:

    ```
    initializer { name: "axes" data_type: 7 dims: 1 int64_data: 1 }
    ```

    ### Why it matters

    A consumer looks for the values in the field of the element type and finds none.

    ### Details

    - `float_data`: float, complex64.
    - `double_data`: double, complex128.
    - `int64_data`: int64.
    - `uint64_data`: uint32, uint64.
    - `string_data`: string.
    - `int32_data`: all other types. Early schemas have the type bfloat16, but list no field for it; onnx-lint follows
      the newer ones, which list it here.
    - `raw_data`: every type except string, which `string-in-raw-data` reports.
    - If several fields have values, only `ambiguous-tensor-data` reports the tensor. If its shape has no elements, only
      `data-in-empty-tensor` does.
    """
    # The field that is right for the type has no values, so these tensors are among the miscounted ones.
    for tensor in model.tensors.miscounted:
        field, element = tensor.field, tensor.type
        if element and field and field not in {"raw_data", element.field} and tensor.elements != 0:
            yield _finding(tensor, element, field)


def _finding(tensor: StoredTensor, element: ElementType, field: str) -> Finding:
    allowed = element.field if element.name == "string" else f"{element.field} or raw_data"
    return Finding(
        tensor.place.at(field),
        f"{tensor.describe()} is of type {element.name}, but its values are in {field}",
        allowed=allowed,
        offset=tensor.offset,
        subject=tensor.proto.name,
    )
