# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, StoredSparseTensor, has_sparse_tensors
from onnx_lint.rule import Finding, rule


@rule(clause="SPA-2", since="0.1.0", about=has_sparse_tensors, needs="sparse-tensor")
def malformed_sparse_values(model: Model) -> Iterator[Finding]:
    """A sparse tensor has no values, or its values are not a list.

    ### How to fix

    Write the values as a tensor of one dimension, which also has the name of the whole.

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

    The values give the sparse tensor its element type and the number of positions that are filled. Without them, or
    with values of another rank, it is not known which value belongs to which index.

    ### Details

    A tensor of shape [NNZ], also when NNZ is 0: then of shape [0]. Whether the values themselves are in order is for
    the rules on tensors.
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
