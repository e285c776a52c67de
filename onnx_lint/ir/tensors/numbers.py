# SPDX-License-Identifier: Apache-2.0
"""The floating-point numbers of constants: of small ones without numpy, of a large tensor in bounded pieces."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.record import Record
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.places.place import Place
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import EXTERNAL_LOCATION
from onnx_lint.wording import quote

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from onnx_lint.ir.tensors.stored_tensor import StoredTensor

    Array = NDArray[Any]

FLOAT, FLOAT16, DOUBLE, BFLOAT16 = 1, 10, 11, 16
FLOATING_TYPES: Final = frozenset({FLOAT, FLOAT16, DOUBLE, BFLOAT16})
"""The element types that are read here: the types of 8 bits and fewer are storage of quantized weights."""

_WIDTHS: Final = {FLOAT: 4, FLOAT16: 2, DOUBLE: 8, BFLOAT16: 2}

MAY_BE_NAN: Final = {
    FLOAT: re.compile(rb"[\x80-\xff][\x7f\xff]"),
    FLOAT16: re.compile(rb"[\x7c-\x7f\xf8-\xff]"),
    DOUBLE: re.compile(rb"[\xf0-\xff][\x7f\xff]"),
    BFLOAT16: re.compile(rb"[\x80-\xff]\x7f|\xff"),
}
"""A message with a NaN of the type has such bytes, in raw_data and in the typed field."""


MOST_BYTES: Final = 1 << 16
"""The most bytes of a tensor that is small."""


class Constant(Record):
    """The numbers of a small constant."""

    owner: str
    """The name of the tensor or attribute in messages."""
    place: Place
    numbers: Sequence[float]

    @property
    def has_nan(self) -> bool:
        """True if a number is NaN."""
        return math.isnan(sum(self.numbers)) and any(map(math.isnan, self.numbers))

    @property
    def least(self) -> float:
        """The least number."""
        return min(self.numbers)

    @property
    def greatest(self) -> float:
        """The greatest number."""
        return max(self.numbers)

    def first(self, is_wrong: Callable[[float], bool]) -> str:
        """Return the first wrong number and how many there are: `element 2 of initializer 's' is 0, and 3 more are`."""
        wrong = [index for index, number in enumerate(self.numbers) if is_wrong(number)]
        more = f" (and {len(wrong) - 1:,} more)" if len(wrong) > 1 else ""
        number = in_words(self.numbers[wrong[0]])
        if len(self.numbers) == 1:
            return f"{self.owner} is {number}"
        return f"element {wrong[0]} of {self.owner} is {number}{more}"


def in_words(number: float) -> str:
    """Return a number as messages write it."""
    return f"{number:g}" if math.isfinite(number) else "NaN" if math.isnan(number) else f"{number:+g}inity"


def constant_of(graph: Graph, name: str) -> Constant | None:
    """Return the numbers of an initializer or Constant that a graph sees; None for other values, and for large ones."""
    found = graph.first_definition(name) or graph.outer_definition(name) if name else None
    if found is None:
        return None
    if found.node is None:
        index = found.graph.initializer_index.get(name)
        if index is None:
            return None
        place, proto = found.graph.at("initializer", index), found.graph.message_at("initializer", index)
        return small_constant(proto, f"initializer {quote(name)}", place)
    if found.node.op_type != "Constant" or found.node.domain not in ("", "ai.onnx"):
        return None
    for attribute, place in found.node.attributes():
        if attribute.HasField("t"):
            return small_constant(attribute.t, f"constant {quote(name)}", place.at("t"))
        numbers = [attribute.f] if attribute.name == "value_float" else [*attribute.floats]
        if numbers and not attribute.ref_attr_name:
            return Constant(f"constant {quote(name)}", place, numbers)
    return None


_LAST_BYTES: Final = {FLOAT16: re.compile(rb"[\x7c-\x7f\xfc-\xff]")}
_LONG_EXPONENT: Final = re.compile(rb"[\x7f\xff]")
"""The last byte of a number with the exponent of infinities and NaN; for the types with a longer exponent."""


def may_be_nan(proto: Proto) -> bool:
    """Return false if the raw_data of a tensor of one of FLOATING_TYPES evidently has no NaN."""
    kind = proto.data_type
    if not proto.raw_data:
        return True
    last = proto.raw_data[_WIDTHS[kind] - 1 :: _WIDTHS[kind]]
    return _LAST_BYTES.get(kind, _LONG_EXPONENT).search(last) is not None


def small_constant(proto: Proto, owner: str, place: Place) -> Constant | None:
    """Return the numbers of a tensor of one of FLOATING_TYPES; None if it has none, or may have many."""
    if proto.data_type not in FLOATING_TYPES or proto.data_location == EXTERNAL_LOCATION:
        return None
    numbers = _numbers(proto) if proto.ByteSize() <= 2 * MOST_BYTES else ()
    return Constant(owner, place, numbers) if numbers else None


def _numbers(proto: Proto) -> Sequence[float]:
    kind, raw = proto.data_type, proto.raw_data
    if not raw and kind in (FLOAT, DOUBLE):
        return tuple(proto.float_data if kind == FLOAT else proto.double_data)
    if not raw:
        raw = struct.pack(f"<{len(proto.int32_data)}H", *(entry & 0xFFFF for entry in proto.int32_data))
    count = len(raw) // _WIDTHS[kind]
    if kind == BFLOAT16:  # the upper half of a float
        wide = bytearray(4 * count)
        wide[2::4], wide[3::4] = raw[0 : 2 * count : 2], raw[1 : 2 * count : 2]
        return struct.unpack(f"<{count}f", wide)
    return struct.unpack_from(f"<{count}{_CODES[kind]}", raw)


_CODES: Final = {FLOAT: "f", DOUBLE: "d", FLOAT16: "e"}


def number_pieces(tensor: StoredTensor) -> Iterator[Array]:
    """Yield the numbers of a tensor of one of FLOATING_TYPES; nothing if no field, or several, hold its values."""
    import numpy as np

    from onnx_lint.ir.tensors.contents import entries, raw_pieces  # late: only --verify-numbers reads large tensors

    kind, field = tensor.proto.data_type, tensor.right_field
    if field is None:
        return
    for piece in raw_pieces(tensor) if field == "raw_data" else entries(tensor, field):
        if isinstance(piece, bytes):
            whole = piece[: len(piece) - len(piece) % _WIDTHS[kind]]
            numbers = np.frombuffer(whole, {FLOAT: "<f4", DOUBLE: "<f8"}.get(kind, "<u2"))
        else:
            numbers = piece if kind in (FLOAT, DOUBLE) else piece.astype("<u2")
        if kind == FLOAT16:
            numbers = numbers.view("<f2")
        elif kind == BFLOAT16:
            numbers = (numbers.astype("<u4") << 16).view("<f4")
        yield numbers
