# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors: their parts, and their indices as rows of one number a dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Generic, TypeVar

from onnx_lint.common.record import Record
from onnx_lint.ir.columns.tensor_encodings import element_count
from onnx_lint.ir.parts import SparseTensor, place_in_words
from onnx_lint.ir.places.place import Place
from onnx_lint.ir.tensors.contents import int64_pieces, rows_of
from onnx_lint.ir.tensors.stored_tensor import StoredTensor
from onnx_lint.spec.element_types import MAX_INT64
from onnx_lint.wording import MAX_LISTED_ELEMENTS

_Wrong = TypeVar("_Wrong")


class StoredSparseTensor(Record):
    """A sparse tensor with its parts; an absent part is None."""

    sparse: SparseTensor
    values: StoredTensor | None
    indices: StoredTensor | None

    @property
    def place(self) -> Place:
        """The place of the SparseTensorProto."""
        return self.sparse.place

    @property
    def dims(self) -> list[int]:
        """The dense shape."""
        return list(self.sparse.proto.dims)

    @property
    def name(self) -> str:
        """The name of the values, which is also that of the sparse tensor."""
        return str(self.values.proto.name) if self.values is not None else ""

    @property
    def value_count(self) -> int | None:
        """The number of values (NNZ); None if the shape of the values does not state it."""
        if self.values is None or len(self.values.proto.dims) != 1 or self.values.proto.dims[0] < 0:
            return None
        return int(self.values.proto.dims[0])

    @property
    def index_bounds(self) -> list[int] | None:
        """The exclusive upper bound of each number of an index; None if one of the shapes is wrong."""
        dims = self.dims
        if self.indices is None or not dims or min(dims) < 0:
            return None
        shape = list(self.indices.proto.dims)
        if len(shape) == 1:
            count = element_count(self.sparse.proto.dims)
            # A count of more than 64 bits allows every index.
            return [MAX_INT64 + 1 if count is None else count]
        return dims if len(shape) == 2 and shape[1] == len(dims) else None

    def index_rows(self) -> Iterator[Any]:
        """Yield the indices in bounded pieces: arrays with a row for each index.

        Yields nothing if the bounds are unknown, or if the indices are not int64, are in another file or have a wrong
        size.
        """
        indices, bounds = self.indices, self.index_bounds
        if indices is None or bounds is None or indices.type is None or indices.type.name != "int64":
            return
        field = indices.allowed_field
        if field and indices.segment is None and indices.count(field) == indices.expected_entries and indices.elements:
            yield from rows_of(int64_pieces(indices), len(bounds))

    def describe(self) -> str:
        """Return the name of the sparse tensor in messages: the name of its values, which is also its own."""
        if self.values is not None and self.name:
            return f"sparse {self.values.describe()}"
        return f"the sparse tensor at {place_in_words(self.place, self.sparse.graph)}"


class WrongIndices(Generic[_Wrong]):
    """The wrong indices of a sparse tensor: the first of them, and how many there are."""

    def __init__(self, pieces: Callable[[], Iterator[tuple[int, Iterator[_Wrong]]]]) -> None:
        """`pieces`: yields for each piece with wrong indices how many there are, and these."""
        self._pieces = pieces
        self.first: _Wrong | None = None
        self.count = 0
        for count, found in pieces():
            if self.first is None:
                self.first = next(found)
            self.count += count

    def listed(self) -> list[_Wrong]:
        """Return the first ones, at most MAX_LISTED_ELEMENTS."""
        return list(islice((each for _, found in self._pieces() for each in found), MAX_LISTED_ELEMENTS))
