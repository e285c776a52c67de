# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from onnx_lint.ir.tensors.sparse import StoredSparseTensor, WrongIndices
from onnx_lint.model import MAX_INT64, Model, Place, contents, has_sparse_tensors
from onnx_lint.rule import Finding, elements_of, rule
from onnx_lint.wording import MAX_DIMENSIONS, and_others, describe_shape


@rule(clause="SPA-4", since="0.1.0", about=has_sparse_tensors, needs="sparse-tensor")
def sparse_index_out_of_range(model: Model) -> Iterator[Finding]:
    """An index of a sparse tensor lies outside its dense shape.

    ### How to fix

    Number the elements from 0: six elements have the indices 0 to 5.

    ### Example

    ```
    sparse_initializer {
      values { name: "w" data_type: 1 dims: 1 float_data: 1 }
      indices { data_type: 7 dims: 1 int64_data: 6 }
      dims: 6
    }
    ```

    Corrected:

    ```
    sparse_initializer {
      values { name: "w" data_type: 1 dims: 1 float_data: 1 }
      indices { data_type: 7 dims: 1 int64_data: 5 }
      dims: 6
    }
    ```

    ### Why it matters

    A consumer that fills the dense tensor writes beyond its memory.

    ### Details

    - In indices of shape [NNZ], each number must be from 0 to the product of the dimensions less one.
    - In indices of shape [NNZ, rank], each coordinate must be from 0 to its dimension less one.
    - Negative numbers are not positions from the end.
    - The product is exact, also beyond 64 bits, which `degenerate-sparse-shape` reports.
    - There is one finding for each tensor; it names the first such index and the number of others.
    """
    for sparse in model.sparse_tensors:
        wrong = WrongIndices(partial(_pieces, sparse))
        if wrong.first is not None:
            found = _finding(sparse, wrong.first, wrong.count)
            yield elements_of(found, wrong.listed, partial(_on_some, sparse), partial(_place_of, sparse))


_IndexOutside = tuple[int, int, str]
"""The number of an index that is outside, one of the coordinates that are, and how the index reads."""


def _pieces(sparse: StoredSparseTensor) -> Iterator[tuple[int, Iterator[_IndexOutside]]]:
    """Yield for each piece with such indices how many there are, and these, once for each of their coordinates."""
    bounds = sparse.index_bounds
    start = 0
    for rows in sparse.index_rows():
        assert bounds is not None
        outside = _outside(rows, bounds)
        places = outside.any(axis=1).nonzero()[0]
        if len(places):
            yield len(places), _described(rows, start, places, outside)
        start += len(rows)


def _described(rows: Any, start: int, places: Any, outside: Any) -> Iterator[_IndexOutside]:
    for place in map(int, places):
        index = contents.describe_index(rows[place])
        for coordinate in outside[place].nonzero()[0][:MAX_DIMENSIONS]:
            yield start + place, int(coordinate), index


def _outside(rows: Any, bounds: list[int]) -> Any:
    """Return whether each coordinate of each row is outside."""
    greatest = [min(bound - 1, MAX_INT64) for bound in bounds]
    return (rows < 0) | (rows > greatest)


def _finding(sparse: StoredSparseTensor, outside: _IndexOutside, count: int) -> Finding:
    number, _, index = outside
    shape = describe_shape(sparse.dims)
    place, inner = _place_of(sparse, outside)
    return Finding(
        place,
        f"index {number} of {sparse.describe()} is {index}, outside the dense shape {shape}{and_others(count)}",
        allowed="indices inside the dense shape",
        offset=sparse.indices.offset if sparse.indices else None,
        subject=sparse.name,
        inner=inner,
    )


def _on_some(sparse: StoredSparseTensor, some: Sequence[_IndexOutside]) -> Finding:
    found = _finding(sparse, some[0], len({number for number, _, _ in some}))
    return elements_of(found, some, partial(_on_some, sparse), partial(_place_of, sparse))


def _place_of(sparse: StoredSparseTensor, outside: _IndexOutside) -> tuple[Place, str]:
    number, coordinate, _ = outside
    return sparse.place.at("indices"), f"coordinate {coordinate} of index {number}"
