# SPDX-License-Identifier: Apache-2.0
"""Finds initializers of a graph that have the same type, shape and values."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Final

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import Record
from onnx_lint.input.source import Source
from onnx_lint.ir.columns.tensor_encodings import element_count
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.parts import Tensor
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.places.place import PlaceKey
from onnx_lint.ir.tensors.data_folder import DataFolder
from onnx_lint.ir.tensors.external import ExternalData
from onnx_lint.ir.tensors.outside import OutsideTensor, tensor_in_file
from onnx_lint.ir.tensors.stored_tensor import StoredTensor
from onnx_lint.ir.tensors.wire_values import byte_pieces
from onnx_lint.spec.element_types import ELEMENT_TYPES, EXTERNAL_LOCATION


class EqualInitializers(Record):
    """An initializer, by its index, and the one that equals it and is used first in the graph."""

    graph: Graph
    index: int
    first: int
    bytes: int


def find_equal_initializers(
    graphs: Iterable[Graph],
    source: Source,
    payloads: Mapping[PlaceKey, tuple[Payload, ...]],
    folder: DataFolder | None,
    least_bytes: int,
) -> Iterator[EqualInitializers]:
    """Yield each initializer of at least that many bytes that equals one which a node of its graph uses earlier.

    So their order does not matter: for a baseline, initializers in another order are the same.

    Values in different fields are not compared. Inputs, whose values callers may replace, are left out.
    """
    for graph in graphs:
        contents = _InitializerValues(graph, source, payloads, folder)
        for alike, size in _of_one_shape(graph, least_bytes):
            for same_start in _grouped(alike, contents.start):
                for same in _grouped(same_start, contents.digest):
                    first = min(same, key=contents.first_use)
                    yield from (EqualInitializers(graph, index, first, size) for index in same if index != first)


def _of_one_shape(graph: Graph, least_bytes: int) -> Iterator[tuple[list[int], int]]:
    """Yield the initializers of one type and shape, and how many bytes each of them needs."""
    columns, inputs = graph.initializers, set(graph.input_names)
    found: dict[tuple[int, int], list[int]] = {}
    for index, (name, kind, shape) in enumerate(zip(columns.names, columns.element_types, columns.shapes, strict=True)):
        if name not in inputs:
            found.setdefault((kind, id(shape)), []).append(index)
    for indices in found.values():
        kind, shape = columns.element_types[indices[0]], columns.shapes[indices[0]]
        element, count = ELEMENT_TYPES.get(kind), element_count(shape)
        if len(indices) > 1 and element is not None and element.bits and count:
            size = element.bytes_of(count)
            if size >= least_bytes:
                yield indices, size


def _grouped(indices: Iterable[int], key: Callable[[int], Hashable | None]) -> Iterator[list[int]]:
    """Yield the indices that have the same key, two or more together. Those with the key None are left out."""
    found: dict[Hashable, list[int]] = {}
    for index in indices:
        value = key(index)
        if value is not None:
            found.setdefault(value, []).append(index)
    return (same for same in found.values() if len(same) > 1)


class _InitializerValues:
    """The values of the initializers of a graph."""

    def __init__(
        self,
        graph: Graph,
        source: Source,
        payloads: Mapping[PlaceKey, tuple[Payload, ...]],
        folder: DataFolder | None,
    ) -> None:
        self._graph = graph
        self._source = source
        self._payloads = payloads
        self._folder = folder

    @cached_property
    def _first_uses(self) -> dict[str, int]:
        """The order in which the nodes of the graph first use its initializers."""
        found: dict[str, int] = {}
        known = self._graph.initializer_index
        for name in chain.from_iterable(self._graph.table.inputs):
            if name in known:
                found.setdefault(name, len(found))
        return found

    def first_use(self, index: int) -> int:
        """Return a number that is lower for an initializer which is used earlier."""
        uses = self._first_uses
        return uses.get(self._graph.initializer_names[index], len(uses))

    def start(self, index: int) -> Hashable | None:
        """Return the field and the first values of an initializer; None if they cannot be read."""
        tensor = self._tensor(index)
        if tensor is None or tensor.field is None:
            return None
        first = next(_pieces(tensor, _START_BYTES), b"")
        return tensor.field, len(first), first[:_START_BYTES]

    def digest(self, index: int) -> Hashable | None:
        """Return a digest of the values of an initializer; None if they must not be read."""
        tensor = self._tensor(index)
        return digest_of(tensor) if tensor is not None and self._may_read(tensor) else None

    def _may_read(self, tensor: StoredTensor) -> bool:
        if not isinstance(tensor, OutsideTensor) or self._folder is None:
            return True
        return self._folder.reserve_or_note(tensor.location, sum(each.length for each in tensor.tensor.payloads))

    def _tensor(self, index: int) -> StoredTensor | None:
        proto, place = self._graph.message_at("initializer", index), self._graph.at("initializer", index)
        tensor = Tensor(proto, place, self._graph, self._payloads.get(place.key, ()))
        if proto.data_location != EXTERNAL_LOCATION:
            return StoredTensor(tensor, self._source)
        return tensor_in_file(ExternalData(tensor, self._folder, None), self._folder) if self._folder else None


def digest_of(tensor: StoredTensor) -> Hashable:
    """Return a digest of the values of a tensor."""
    found = hashlib.sha256()
    for piece in _pieces(tensor, _PIECE_BYTES):
        found.update(piece)
    return tensor.field, found.digest()


def _pieces(tensor: StoredTensor, most: int) -> Iterator[bytes]:
    """Yield the bytes of the field with the values, those in the source in pieces of at most `most` bytes."""
    field = tensor.field or "raw_data"
    listed = getattr(tensor.proto, field)
    if listed:
        yield listed if field == "raw_data" else str(listed[:]).encode()
    for payload in tensor.payloads(field):
        yield from byte_pieces(tensor.source, payload.offset, payload.length, most)


_START_BYTES: Final = 4_096
_PIECE_BYTES: Final = 1 << 20
