# SPDX-License-Identifier: Apache-2.0
"""The numbers of constants: of small ones without numpy, of a large tensor in bounded pieces."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.record import Record
from onnx_lint.input.source import Source
from onnx_lint.ir.columns.tensor_encodings import encoding_in
from onnx_lint.ir.graph import Definition, Graph
from onnx_lint.ir.parts import Tensor
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.places.place import Place, PlaceKey
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import EXTERNAL_LOCATION, FLOATING_TYPES, VALUE_FIELDS
from onnx_lint.wording import MAX_LISTED_ELEMENTS, quote

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from onnx_lint.ir.tensors.stored_tensor import StoredTensor

    Array = NDArray[Any]

FLOAT, FLOAT16, DOUBLE, BFLOAT16 = sorted(FLOATING_TYPES)

_CODES: Final = {FLOAT: "f", DOUBLE: "d", FLOAT16: "e", BFLOAT16: "H"} | dict(
    zip((2, 3, 4, 5, 6, 7, 12, 13), "BbHhiqIQ", strict=True)
)
"""The format of an element for `struct` and numpy, by element type: of floating-point numbers and integers."""
_WIDTHS: Final = {kind: struct.calcsize(f"<{code}") for kind, code in _CODES.items()}

MAX_BYTES: Final = 1 << 16
"""The most bytes of a tensor that is small."""


class Constant(Record):
    """The facts about the numbers of a constant. The numbers are read again for a message."""

    owner: str
    """The name of the tensor or attribute in messages."""
    place: Place
    least: float
    greatest: float
    smallest: float
    """The least magnitude of a number other than 0; infinity if there is none."""
    has_zero: bool
    size: int
    """The number of elements."""
    has_nan: bool
    """True if a number is NaN; the other facts leave it out."""
    read: Callable[[], Iterable[float]]

    def first(self, is_wrong: Callable[[float], bool], among: Container[int] | None = None) -> tuple[str, str]:
        """Return the first wrong number and how many there are, and which it is.

        The first is `element 2 of initializer 's' is 0 (and 3 more)`, the second `element 2`; it is empty if there is
        only one number. `among`: the indices of the numbers that count; None for all.
        """
        numbers = enumerate(self.read())
        wrong = (each for each in numbers if is_wrong(each[1]) and (among is None or each[0] in among))
        index, number = next(wrong, (0, self.least))  # a data file may change meanwhile
        if self.size == 1:
            return f"{self.owner} is {in_words(number)}", ""
        return element_is(index, self.owner, in_words(number), 1 + sum(1 for _ in wrong)), f"element {index}"

    def indices(self, is_wrong: Callable[[float], bool]) -> list[int]:
        """Return the indices of the first wrong numbers."""
        return list(
            islice((index for index, number in enumerate(self.read()) if is_wrong(number)), MAX_LISTED_ELEMENTS)
        )


def element_is(index: int, owner: str, number: str, count: int) -> str:
    """Return the words for the first of `count` wrong numbers."""
    return f"element {index:,} of {owner} is {number}{f' (and {count - 1:,} more)' if count > 1 else ''}"


def in_words(number: float) -> str:
    """Return a number as messages write it."""
    if isinstance(number, int):
        return f"{number:,}"
    if math.isnan(number):
        return "NaN"
    return f"{number:g}" if math.isfinite(number) else f"{number:+g}inity"


class Constants:
    """The constants of a model. Each is read once: thousands of nodes may use one of 64 KiB."""

    def __init__(
        self,
        source: Source,
        payloads: Mapping[PlaceKey, tuple[Payload, ...]],
        large: Callable[[Tensor], StoredTensor | None] = lambda tensor: None,
        left_out: Set[PlaceKey] = frozenset(),
    ) -> None:
        """`large`: returns the values of a tensor that is not small or is in another file; None to leave it out.

        `left_out`: the tensors that are no constants.
        """
        self._source = source
        self._payloads = payloads
        self._large = large
        self._left_out = left_out
        self._known: dict[tuple[int, str], Constant | None] = {}

    def of(self, graph: Graph, name: str) -> Constant | None:
        """Return the initializer or Constant that a graph sees; None for other values, and for those left out."""
        key = id(graph), name
        if key not in self._known:
            found = graph.definition_of(name) if name else None
            if found is None:
                self._known[key] = None
            elif found.graph is graph:
                self._known[key] = self._defined(found, name)
            else:
                self._known[key] = self.of(found.graph, name)
        return self._known[key]

    def _defined(self, found: Definition, name: str) -> Constant | None:
        if found.node is None:
            index = found.graph.initializer_index.get(name)
            if index is None:
                return None
            proto, place = found.graph.message_at("initializer", index), found.graph.at("initializer", index)
            return self._tensor(proto, place, found.graph, f"initializer {quote(name)}")
        if found.node.op_type != "Constant" or found.node.domain not in ("", "ai.onnx"):
            return None
        owner = f"constant {quote(name)}"
        for attribute, place in found.node.attributes():
            if attribute.HasField("t"):
                return self._tensor(attribute.t, place.at("t"), found.graph, owner)
            listed = attribute.floats or attribute.ints
            if len(listed) > MAX_BYTES // 4:
                return None
            single = {"value_float": attribute.f, "value_int": attribute.i}.get(attribute.name)
            numbers = [*listed] if single is None else [single]
            if numbers and not attribute.ref_attr_name:
                return constant(owner, place, numbers.copy)
        return None

    def _tensor(self, proto: Proto, place: Place, graph: Graph, owner: str) -> Constant | None:
        if place.key in self._left_out:
            return None
        tensor = Tensor(proto, place, graph, self._payloads.get(place.key, ()))
        small = small_constant(tensor, self._source, owner)
        stored = self._large(tensor) if small is None and proto.data_type in _CODES else None
        return small if stored is None else _large_constant(stored, owner, place)


def small_constant(tensor: Tensor, source: Source, owner: str) -> Constant | None:
    """Return the numbers of a tensor of floating-point numbers or integers; None if it has none, or may have many."""
    proto = tensor.proto
    if proto.data_type not in _CODES or proto.data_location == EXTERNAL_LOCATION:
        return None
    if tensor.payloads:
        read = partial(_left_in_source, tensor, source)
        return constant(owner, tensor.place, read) if _may_be_read(tensor, source) else None
    fields = [field for field in VALUE_FIELDS if getattr(proto, field)]
    if len(fields) != 1 or encoding_in(proto.data_type, fields[0]) is None:
        return None
    if _size(len(getattr(proto, fields[0])), fields[0], proto.data_type) > MAX_BYTES:
        return None
    return constant(owner, tensor.place, partial(_numbers, proto, fields[0]))


def _may_be_read(tensor: Tensor, source: Source) -> bool:
    """Return whether the values in the source may be those of a small tensor, and cost no request to a store."""
    return not source.is_remote and sum(payload.length for payload in tensor.payloads) <= 2 * MAX_BYTES


def _size(count: int, field: str, kind: int) -> int:
    """Return the number of bytes of `count` entries of a field, as numbers of that type."""
    return count if field == "raw_data" else count * _WIDTHS[kind]


def raw_numbers(tensor: Tensor, source: Source) -> bytes:
    """Return the bytes of the numbers one after the other, if they are at hand or cheap to read; else nothing."""
    if not tensor.payloads:
        return bytes(tensor.proto.raw_data)
    payload, *others = tensor.payloads
    is_alone = not others and payload.packed and not any(getattr(tensor.proto, field) for field in VALUE_FIELDS)
    is_plain = is_alone and payload.field in ("raw_data", _PLAIN_FIELDS.get(tensor.proto.data_type))
    if not is_plain or not _may_be_read(tensor, source):
        return b""
    return source.read_at(payload.offset, payload.length)


_PLAIN_FIELDS: Final = {FLOAT: "float_data", DOUBLE: "double_data"}
"""The fields with the bytes of each number one after the other, apart from `raw_data`."""


def _left_in_source(tensor: Tensor, source: Source) -> Sequence[float]:
    """Return the numbers of a tensor that the loader left in the source; nothing for a large one."""
    raw = raw_numbers(tensor, source)
    if raw:
        return _unpacked(raw, tensor.proto.data_type) if len(raw) <= MAX_BYTES else ()
    from onnx_lint.ir.tensors.stored_tensor import StoredTensor

    stored = StoredTensor(tensor, source)
    field = stored.allowed_field
    if field is None or _size(stored.count(field), field, tensor.proto.data_type) > MAX_BYTES:
        return ()
    return [*_one_by_one(stored)]


def _one_by_one(stored: StoredTensor) -> Iterator[float]:
    return (number for piece in number_pieces(stored) for number in piece.tolist())


def constant(owner: str, place: Place, read: Callable[[], Sequence[float]]) -> Constant | None:
    """Return the facts about the numbers that `read` returns; None if there are none."""
    numbers = read()
    if not numbers:
        return None
    has_nan = math.isnan(sum(numbers)) and any(map(math.isnan, numbers))
    known = [number for number in numbers if number == number] or [0.0] if has_nan else numbers
    smallest = min(map(abs, filter(None, known)), default=math.inf)
    return Constant(owner, place, min(known), max(known), smallest, 0 in known, len(numbers), has_nan, read)


def _large_constant(stored: StoredTensor, owner: str, place: Place) -> Constant | None:
    """Return the facts about the numbers of a tensor that is read in pieces; None if there are none."""
    extremes, smallest, has_zero, has_nan, size = list[float](), math.inf, False, False, 0
    for piece in number_pieces(stored):
        numbers = piece.astype("f4") if piece.dtype == "f2" else piece  # numpy compares 16-bit numbers slowly
        size += numbers.size
        if numbers.size and math.isnan(numbers.min()):
            has_nan = True
            numbers = numbers[numbers == numbers]
        if numbers.size:
            extremes += numbers.min().item(), numbers.max().item()
            sizes = abs(numbers if numbers.dtype.kind == "f" else numbers.astype("f8"))
            if not sizes.min():
                has_zero = True
                sizes = sizes[sizes != 0]
            smallest = min(smallest, sizes.min(initial=math.inf).item())
    if not size:
        return None
    least, greatest = min(extremes, default=0.0), max(extremes, default=0.0)
    return Constant(owner, place, least, greatest, smallest, has_zero, size, has_nan, partial(_one_by_one, stored))


def _numbers(proto: Proto, field: str) -> Sequence[float]:
    kind, raw = proto.data_type, proto.raw_data
    if not raw and kind not in (FLOAT16, BFLOAT16):
        return tuple(getattr(proto, field))
    if not raw:
        raw = struct.pack(f"<{len(proto.int32_data)}H", *(entry & 0xFFFF for entry in proto.int32_data))
    return _unpacked(raw, kind)


def _unpacked(raw: bytes, kind: int) -> Sequence[float]:
    count = len(raw) // _WIDTHS[kind]
    if kind == BFLOAT16:  # the upper half of a float
        wide = bytearray(4 * count)
        wide[2::4], wide[3::4] = raw[0 : 2 * count : 2], raw[1 : 2 * count : 2]
        return struct.unpack(f"<{count}f", wide)
    return struct.unpack_from(f"<{count}{_CODES[kind]}", raw)


def number_pieces(tensor: StoredTensor) -> Iterator[Array]:
    """Yield the numbers of a tensor as in `small_constant`; nothing if no field, or several, hold its values."""
    import numpy as np

    from onnx_lint.ir.tensors.contents import entries, raw_pieces

    kind, field = tensor.proto.data_type, tensor.allowed_field
    if field is None:
        return
    for piece in raw_pieces(tensor) if field == "raw_data" else entries(tensor, field):
        if isinstance(piece, bytes):
            whole = piece[: len(piece) - len(piece) % _WIDTHS[kind]]
            numbers = np.frombuffer(whole, f"<{_CODES[kind]}")
        else:
            numbers = piece.astype("<u2").view(f"<{_CODES[kind]}") if kind in (FLOAT16, BFLOAT16) else piece
        if kind == BFLOAT16:
            numbers = (numbers.astype("<u4") << 16).view("<f4")
        yield numbers
