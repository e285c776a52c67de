# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, StoredTensor, has_suspect_tensors
from onnx_lint.rule import Finding, rule


@rule(clause="TEN-4", since="0.1.0", about=has_suspect_tensors, needs="tensor")
def data_in_empty_tensor(model: Model) -> Iterator[Finding]:
    """A tensor without elements has values.

    ### How to fix

    Clear the values, or write the shape that they have.

    ### Example

    ```
    initializer { name: "w" data_type: 1 dims: 0 dims: 3 float_data: 1 }
    ```

    Corrected:

    ```
    initializer { name: "w" data_type: 1 dims: 0 dims: 3 }
    ```

    ### Why it matters

    Either the dimension of 0 is wrong, or the values are left over and nothing reads them.

    ### Details

    - A tensor with a dimension of 0 must not have values.
    - An empty `raw_data` is accepted.
    - Tensors with external data are not checked.
    """
    for tensor in model.tensors.miscounted:
        if tensor.elements == 0 and not tensor.is_external and any(map(tensor.count, tensor.fields)):
            yield _finding(tensor)


def _finding(tensor: StoredTensor) -> Finding:
    field = next(field for field in tensor.fields if tensor.count(field))
    return Finding(
        tensor.place.at(field),
        f"{tensor.describe()} is {tensor.describe_type()}, but has {tensor.describe_count(field)} in {field}",
        allowed="no values in a tensor with a dimension of 0",
        offset=tensor.offset,
        subject=tensor.proto.name,
    )
