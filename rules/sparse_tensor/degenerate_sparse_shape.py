# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from onnx_lint.ir.columns.tensor_encodings import element_count
from onnx_lint.ir.tensors.sparse import StoredSparseTensor
from onnx_lint.model import MAX_INT64, Model, has_sparse_tensors
from onnx_lint.rule import Finding, on_elements, rule
from onnx_lint.wording import and_others


@rule(
    clause=("SPA-6", "SPA-6a", "SPA-6b"),
    since="0.1.0",
    about=has_sparse_tensors,
    needs="sparse-tensor",
    security=("CWE-190", "CWE-789"),
)
def degenerate_sparse_shape(model: Model) -> Iterator[Finding]:
    """The dense shape of a sparse tensor has no dimensions, one that is not positive, or too many elements.

    ### How to fix

    Write the dimensions of the dense tensor. Store an empty tensor or a scalar as a dense tensor instead.

    ### Example

    ```
    sparse_initializer {
      values { name: "w" data_type: 1 dims: 0 }
      indices { data_type: 7 dims: 0 }
      dims: 0
    }
    ```

    Corrected:

    ```
    initializer { name: "w" data_type: 1 dims: 0 }
    ```

    ### Why it matters

    onnx.checker refuses a shape without dimensions, or with a dimension of 0 or less. ONNX Runtime refuses a negative
    dimension and too many elements. A consumer that computes positions in 64 bits gets wrong ones.

    ### Details

    - The dense shape must have at least one dimension, each above 0, and their product must be at most 2^63 - 1.
    - A negative dimension is an error: the specification requires "a list of non-negative integers".
    - The rest is a warning: it is not in the specification, and follows from what consumers accept.
    - onnx.checker accepts a product beyond 64 bits if an index has a number for each dimension.
    """
    for sparse in model.tensors.sparse:
        dims = sparse.sparse.proto.dims
        if not dims or min(dims) <= 0 or element_count(dims) is None:
            yield _finding(sparse, sparse.dims)


def _finding(sparse: StoredSparseTensor, dims: list[int]) -> Finding:
    wrong = [index for index, dim in enumerate(dims) if dim <= 0]
    if not wrong:
        return _of_shape(sparse, dims, None, 1)
    return on_elements(partial(_of_shape, sparse, dims), wrong[0], len(wrong), wrong)


def _of_shape(sparse: StoredSparseTensor, dims: list[int], wrong: int | None, count: int) -> Finding:
    clause = "SPA-6"
    place, message = sparse.place, f"the dense shape of {sparse.describe()} has no dimensions"
    if wrong is not None:
        clause = "SPA-6a" if min(dims) < 0 else "SPA-6"
        place = place.at("dims", wrong)
        message = (
            f"dimension {wrong} of the dense shape of {sparse.describe()} is {dims[wrong]}, but must be at least 1"
            f"{and_others(count)}"
        )
    elif dims:
        clause = "SPA-6b"
        place = place.at("dims")
        message = f"the dense shape of {sparse.describe()} has more than {MAX_INT64} elements"
    return Finding(
        place, message, clause, allowed="positive dimensions whose product fits 64 bits", subject=sparse.name
    )
