# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.tensors.sparse import StoredSparseTensor
from onnx_lint.model import Model, has_sparse_tensors
from onnx_lint.rule import Finding, rule


@rule(clause="SPA-2", since="0.1.0", about=has_sparse_tensors, needs="sparse-tensor")
def malformed_sparse_values(model: Model) -> Iterator[Finding]:
    """A sparse tensor has no values, or its values are not one-dimensional.

    ### How to fix

    Write the values as a tensor of one dimension. Its name is the name of the sparse tensor.

    ### Example

    ```
    sparse_initializer { indices { data_type: 7 dims: 1 int64_data: 2 } dims: 6 }
    ```

    Corrected:

    ```
    sparse_initializer {
      values { name: "w" data_type: 1 dims: 1 float_data: 1 }
      indices { data_type: 7 dims: 1 int64_data: 2 }
      dims: 6
    }
    ```

    ### Why it matters

    The values define the element type and the number of stored elements. Without them, or with another rank, it is
    unknown which value has which index.

    ### Details

    - The values must have the shape [NNZ]; if there are none, the shape is [0].
    - The rules of the chapter `tensor` check the values themselves.
    """
    for sparse in model.tensors.sparse:
        if sparse.values is None:
            yield _finding(sparse, f"{sparse.describe()} has no values")
        elif len(sparse.values.proto.dims) != 1:
            yield _finding(
                sparse, f"the values of {sparse.describe()} are of rank {len(sparse.values.proto.dims)}, not 1"
            )


def _finding(sparse: StoredSparseTensor, message: str) -> Finding:
    place = sparse.place.at("values") if sparse.values is not None else sparse.place
    return Finding(place, message, allowed="values of shape [NNZ]", subject=sparse.name)
