# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.tensors.sparse import StoredSparseTensor
from onnx_lint.model import Model, StoredTensor, has_sparse_tensors
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import describe_shape


@rule(clause=("SPA-3", "SPA-3a"), since="0.1.0", about=has_sparse_tensors, needs="sparse-tensor")
def malformed_sparse_indices(model: Model) -> Iterator[Finding]:
    """A sparse tensor has no indices, or they are of the wrong type or shape.

    ### How to fix

    Write one index for each value, in a tensor of INT64.

    ### Example

    ```
    sparse_initializer {
      values { name: "w" data_type: 1 dims: 2 float_data: 1 float_data: 2 }
      indices { data_type: 7 dims: 1 int64_data: 2 }
      dims: 6
    }
    ```

    Corrected:

    ```
    sparse_initializer {
      values { name: "w" data_type: 1 dims: 2 float_data: 1 float_data: 2 }
      indices { data_type: 7 dims: 2 int64_data: 2 int64_data: 5 }
      dims: 6
    }
    ```

    ### Why it matters

    The indices define the positions of the values. With another number of indices or coordinates, the positions are
    unknown.

    ### Details

    - In shape [NNZ], each index is the position in row-major order.
    - In shape [NNZ, rank], each index has one coordinate for each dimension of the dense shape.
    - NNZ is the number of values. If it is 0, you can omit the indices.
    - Another type than int64 is a warning: the schema does not define the type. ONNX Runtime reads int32, and 1.32 also
      int16 and int8, but onnx.checker refuses them.
    """
    for sparse in model.tensors.sparse:
        if sparse.indices is None:
            if sparse.value_count:
                message = f"{sparse.describe()} has no indices for its {sparse.value_count:,} values"
                yield Finding(
                    sparse.place,
                    message,
                    clause="SPA-3",
                    allowed="indices of shape [NNZ] or [NNZ, rank]",
                    subject=sparse.name,
                )
            continue
        yield from _findings(sparse, sparse.indices)


def _findings(sparse: StoredSparseTensor, indices: StoredTensor) -> Iterator[Finding]:
    if indices.type is not None and indices.type.name != "int64":
        yield Finding(
            sparse.place.at("indices").at("data_type"),
            f"the indices of {sparse.describe()} are of type {indices.type.name}, but must be int64",
            clause="SPA-3a",
            allowed="int64",
            offset=indices.offset,
            subject=sparse.name,
        )
    complaint = _shape_complaint(sparse, list(indices.proto.dims[:3]))
    if complaint:
        yield Finding(
            sparse.place.at("indices"),
            complaint,
            clause="SPA-3",
            allowed="shape [NNZ] or [NNZ, rank]",
            subject=sparse.name,
        )


def _shape_complaint(sparse: StoredSparseTensor, shape: list[int]) -> str | None:
    if len(shape) not in {1, 2}:
        return f"the indices of {sparse.describe()} are neither of rank 1 nor of rank 2"
    rank = len(sparse.dims)
    stated = f"the indices of {sparse.describe()} are of shape {describe_shape(shape)}"
    if sparse.value_count is not None and shape[0] != sparse.value_count:
        return f"{stated}, but the values are of shape [{sparse.value_count}]"
    if len(shape) == 2 and rank and shape[1] != rank:
        return f"{stated}, but the dense shape has rank {rank}"
    return None
