# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from onnx_lint.ir.tensors.sparse import StoredSparseTensor, WrongIndices
from onnx_lint.model import Model, contents, has_sparse_tensors
from onnx_lint.rule import Finding, on_elements, rule
from onnx_lint.wording import and_others


@rule(clause="SPA-5", since="0.1.0", about=has_sparse_tensors, needs="sparse-tensor")
def unordered_sparse_indices(model: Model) -> Iterator[Finding]:
    """The indices of a sparse tensor do not ascend, or one is repeated.

    ### How to fix

    Sort the indices together with their values. Add up the values that have the same index.

    ### Example

    ```
    sparse_initializer {
      values { name: "w" data_type: 1 dims: 2 float_data: 1 float_data: 2 }
      indices { data_type: 7 dims: 2 int64_data: 3 int64_data: 1 }
      dims: 6
    }
    ```

    Corrected:

    ```
    sparse_initializer {
      values { name: "w" data_type: 1 dims: 2 float_data: 2 float_data: 1 }
      indices { data_type: 7 dims: 2 int64_data: 1 int64_data: 3 }
      dims: 6
    }
    ```

    ### Why it matters

    Consumers search in the indices and merge sparse tensors, and rely on the order. If a position has two values, it
    is undefined which one consumers use.

    ### Details

    - Each index must be greater than the one before it.
    - Indices with several coordinates compare from the first coordinate on: [1, 4] is before [2, 1].
    - There is one finding for each tensor; it names the first index that is not greater and the number of others.
    """
    for sparse in model.sparse_tensors:
        wrong = WrongIndices(partial(_pieces, sparse))
        if wrong.first is not None:
            yield on_elements(partial(_finding, sparse), wrong.first, wrong.count, wrong.listed)


_Unordered = tuple[int, str, str]
"""The number of an index that is not greater than the one before it, and how both read."""


def _pieces(sparse: StoredSparseTensor) -> Iterator[tuple[int, Iterator[_Unordered]]]:
    """Yield for each piece with such indices how many there are, and these."""
    start = 0
    previous: Any = None
    for piece in sparse.index_rows():
        rows = contents.with_row_before(previous, piece)
        places = _unordered(rows)
        if len(places):
            yield len(places), _described(rows, start + 1 - (len(rows) - len(piece)), places)
        start += len(piece)
        previous = rows[-1:]


def _described(rows: Any, start: int, places: Any) -> Iterator[_Unordered]:
    for place in map(int, places):
        yield start + place, contents.describe_index(rows[place + 1]), contents.describe_index(rows[place])


def _unordered(rows: Any) -> Any:
    """The positions of rows that the next one is not greater than."""
    before, after = rows[:-1], rows[1:]
    differs = before != after
    column = differs.argmax(axis=1)[:, None]  # the first coordinate that decides; 0 where all are equal
    greater = contents.at_columns(after, column) > contents.at_columns(before, column)
    return (~greater).nonzero()[0]


def _finding(sparse: StoredSparseTensor, unordered: _Unordered, count: int) -> Finding:
    number, index, before = unordered
    complaint = f"repeats {index}" if index == before else f"is {index}, but comes after {before}"
    return Finding(
        sparse.place.at("indices"),
        f"index {number} of {sparse.describe()} {complaint}{and_others(count)}",
        allowed="indices in ascending order without repetition",
        offset=sparse.indices.offset if sparse.indices else None,
        subject=sparse.name,
        inner=f"index {number}",
    )
