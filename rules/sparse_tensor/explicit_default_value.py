# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from onnx_lint.ir.tensors.sparse import StoredSparseTensor
from onnx_lint.model import Model, Place, StoredTensor, contents, has_sparse_tensors
from onnx_lint.rule import Finding, on_elements, rule
from onnx_lint.wording import and_others


@rule(clause="SPA-7", since="0.1.0", about=has_sparse_tensors, needs="sparse-tensor")
def explicit_default_value(model: Model) -> Iterator[Finding]:
    """A sparse tensor stores a zero or an empty string.

    ### How to fix

    Store only the values that differ from 0 or the empty string, each with its index.

    ### Example

    ```
    sparse_initializer {
      values { name: "w" data_type: 1 dims: 1 float_data: 0 }
      indices { data_type: 7 dims: 1 int64_data: 2 }
      dims: 6
    }
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

    Every element that is not stored is zero, or the empty string. Storing it needs space, and a consumer that
    computes the density from the number of stored values gets a wrong result.

    ### Details

    - No stored value should be zero or an empty string.
    - The negative zero of a floating-point type is another value and may be stored.
    - The type float8e8m0 has no zero.
    - There is one finding for each tensor; it names the first such value and the number of others.
    """
    for sparse in model.sparse_tensors:
        if sparse.values is not None:
            yield from _findings(sparse, sparse.values)


def _findings(sparse: StoredSparseTensor, values: StoredTensor) -> Iterator[Finding]:
    field, element = values.allowed_field, values.type
    if field is None or element is None or not element.has_zero or not values.elements or values.segment is not None:
        return
    found = contents.default_values(values, field, element)
    if found:
        what = "the empty string" if element.name == "string" else "0"
        all_ = partial(contents.all_default_values, values, field, element)
        yield on_elements(partial(_finding, sparse, values.place_of(field), what), found.first, found.count, all_)


def _finding(sparse: StoredSparseTensor, place: Place, what: str, value: contents.Outlier, count: int) -> Finding:
    index, _ = value
    return Finding(
        place,
        f"value {index} of {sparse.describe()} is {what}, which is the default{and_others(count)}",
        allowed="values other than the default",
        offset=None if sparse.values is None else sparse.values.offset,
        subject=sparse.name,
        inner=f"value {index}",
    )
