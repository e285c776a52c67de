# SPDX-License-Identifier: Apache-2.0
"""Values in a file beside the model, as raw_data that the loader left there: rules judge them as those in the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from onnx_lint.common.record import replace
from onnx_lint.input.source import BytesSource, Source
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.parts import Tensor
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.places.place import ROOT, Place
from onnx_lint.ir.tensors.data_folder import DataFolder
from onnx_lint.ir.tensors.external import ExternalData
from onnx_lint.ir.tensors.reparsed_tensors import tensor_of
from onnx_lint.ir.tensors.sparse import StoredSparseTensor
from onnx_lint.ir.tensors.stored_tensor import StoredTensor
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPES

_PADDED_BITS = (2, 4, 6)
"""The sizes of elements that may leave bits of the last byte unused."""


class DataFileSource(Source):
    """The bytes of a data file, which is opened for each piece: there may be more files than a process may open."""

    def __init__(self, folder: DataFolder, location: str, size: int) -> None:
        self._folder = folder
        self._location = location
        self.size = size

    def read_at(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset` on; empty if they cannot be read: `unread` then has the reason."""
        try:
            piece = self._folder.read(self._location, offset, length)
        except OSError as error:
            self._folder.unread[self._location] = (error.strerror or str(error)).lower()
            return b""
        if len(piece) < min(length, self.size - offset):
            self._folder.unread[self._location] = "it became shorter"
        return piece


class OutsideTensor(StoredTensor):
    """A tensor with external data, whose values are read from their file."""

    __slots__ = ("_data", "_payload")

    def __init__(self, data: ExternalData, payload: Payload, source: DataFileSource) -> None:
        self._data = data
        self._payload = payload
        super().__init__(data.tensor, source, "raw_data")
        self._origin = data.origin

    @property
    def location(self) -> str:
        """The location of the file."""
        return self._data.location

    @property
    def tensor(self) -> Tensor:
        """The tensor, with the bytes of the file as its values."""
        return replace(tensor_of(self._origin), payloads=(self._payload,))

    def place_of(self, field: str) -> Place:
        """Return the place of the entry that names the file."""
        return self._data.entry_place("location")

    def name_of(self, field: str) -> str:
        """Return the words for the place of the values."""
        return "the external data"


def dense(external: Iterable[ExternalData], folder: DataFolder) -> Iterator[StoredTensor]:
    """Yield the tensors with values in a file, of the types whose values a rule judges without their context."""
    for data in external:
        element = ELEMENT_TYPES.get(data.data_type)
        if element is not None and element.name == "bool":
            yield from _outside(data, folder)
        elif element is not None and element.bits in _PADDED_BITS:
            yield from _outside(data, folder, reads_all=False)


def tensor_in_file(data: ExternalData, folder: DataFolder) -> OutsideTensor | None:
    """Return the tensor with its values in the file; None if they are not there."""
    return next(_outside(data, folder, reads_all=False), None)


def small_values(proto: Proto, graph: Graph, folder: DataFolder) -> bytes | None:
    """Return the bytes of a small tensor in a file; None if they are missing or must not be read.

    The folder then has the reason in `unread`. The number of these tensors in a model is limited, since each opens its
    file.
    """
    if folder.small_reads >= _MAX_SMALL:
        location = ExternalData(_alone(proto, graph), folder, None).location
        folder.unread.setdefault(location, f"more than {_MAX_SMALL:,} tensors of the model may decide shapes")
        return None
    folder.small_reads += 1
    found = next(_outside(ExternalData(_alone(proto, graph), folder, None), folder), None)
    if found is None:
        return None
    [payload] = found.tensor.payloads
    piece = found.source.read_at(payload.offset, payload.length)
    return piece if len(piece) == payload.length else None


_MAX_SMALL: Final = 10_000


def _alone(proto: Proto, graph: Graph) -> Tensor:
    """Return the tensor with the root as its place, which is not used here."""
    return Tensor(proto, ROOT, graph, ())


def sparse(
    tensors: Iterable[StoredSparseTensor], external: Iterable[ExternalData], folder: DataFolder
) -> Iterator[StoredSparseTensor]:
    """Yield the sparse tensors, with the values of parts in a file read from there."""
    by_place = {data.tensor.place.key: data for data in external}

    def part(tensor: StoredTensor | None) -> StoredTensor | None:
        data = by_place.get(tensor.place.key) if tensor is not None and tensor.is_external else None
        return next(_outside(data, folder), tensor) if data is not None else tensor

    for each in tensors:
        yield replace(each, values=part(each.values), indices=part(each.indices))


def _outside(data: ExternalData, folder: DataFolder, *, reads_all: bool = True) -> Iterator[OutsideTensor]:
    """Yield the tensor with its values, if they are in the file; other rules report why they are not."""
    file, offset = data.file, data.offset if data.get("offset") is not None else 0
    if not data.is_external or file is None or file.size is None or offset is None:
        return
    if StoredTensor(data.tensor, _NOTHING).fields:
        return  # the values are stored twice
    length = data.length if data.get("length") is not None else data.needed_bytes
    if length is None:
        folder.unread[data.location] = "how long the values of a tensor are is not said"
    elif length and offset + length <= file.size and folder.reserve_or_note(data.location, length if reads_all else 1):
        source = DataFileSource(folder, data.location, file.size)
        yield OutsideTensor(data, Payload("raw_data", offset, length, packed=True), source)


_NOTHING: Final = BytesSource(b"")
