# SPDX-License-Identifier: Apache-2.0
"""The facts that the initializers of a graph state, in columns: no message of a tensor is kept."""

from __future__ import annotations

from collections.abc import Sequence
from marshal import dumps
from typing import Final

from onnx_lint import schema
from onnx_lint.common.cached import Memory
from onnx_lint.common.record import Record
from onnx_lint.common.salted import WITHOUT_REFERENCES, salted_key
from onnx_lint.ir.columns.tensor_encodings import RAW_DATA, evident_size, is_evident, may_hold_nan
from onnx_lint.schema.wire import encode_varint
from onnx_lint.spec.element_types import FLOATING_TYPES


class Initializers(Record):
    """The dense initializers of one graph."""

    names: list[str]
    element_types: list[int]
    """The numbers of the element types; 0 if a tensor states none."""
    shapes: list[tuple[int, ...]]
    """The dimensions; for initializers of one element type, equal ones are one object."""
    unproved: list[int]
    """The indices of the initializers that are not evidently right, or have annotations."""
    may_be_nan: set[int]
    """The indices of the initializers with floating-point numbers in the message that may be NaN."""


NO_INITIALIZERS: Final = Initializers([], [], [], [], set())


_NAME: Final = b"\x42"
"""The tag of the name, which Protocol Buffers writes after shape and type."""

_RAW_DATA: Final = b"\x4a"
"""The tag of raw_data, which Protocol Buffers writes after the name."""

_TensorBeginning = tuple[int, tuple[int, ...], bytes, int]
"""What the bytes before the name of a tensor say: its element type and shape, the tag and length of the raw_data that
is evidently right for these, and how many bytes the tensor then has after its name.
"""


def initializers_of(tensors: Sequence[bytes]) -> Initializers:
    """Return the columns of these serialized TensorProtos."""
    if not tensors:
        return NO_INITIALIZERS
    found = Initializers([], [], [], [], set())
    kinds: dict[bytes, tuple[tuple[int, ...], int]] = {}
    beginnings: dict[bytes, _TensorBeginning] = {}
    for index, piece in enumerate(tensors):
        # A tensor with a known type and shape, a name, and raw_data of the right size is not parsed
        # (docs/performance.md: columns-of-initializers). A beginning that is known ends with a whole field, so what
        # follows is a tag.
        before_name, _, rest = piece.partition(_NAME)
        beginning = beginnings.get(before_name)
        if beginning is not None and rest and 0 < rest[0] < 0x80:
            element_type, shape, before_values, behind_name = beginning
            end = rest[0] + 1
            if len(rest) == end + behind_name and rest.startswith(before_values, end):
                found.names.append(rest[1:end].decode())
                found.element_types.append(element_type)
                found.shapes.append(shape)
                if element_type in FLOATING_TYPES:
                    raw = rest[end + len(before_values) :]
                    if may_hold_nan(element_type, raw, is_raw=True):
                        found.may_be_nan.add(index)
                continue
        beginning = _add_parsed(piece, found, kinds)
        if beginning is not None and len(before_name) + 2 + len(found.names[-1].encode()) + beginning[3] == len(piece):
            beginnings[before_name] = beginning
    return found


def _add_parsed(
    piece: bytes, found: Initializers, kinds: dict[bytes, tuple[tuple[int, ...], int]]
) -> _TensorBeginning | None:
    """Add a tensor to the columns, as the parser reads it.

    Return its beginning if it evidently is right with a name and raw_data alone. `kinds` has the shapes so far, by
    element type and shape, and how many bytes of raw_data are evidently right.
    """
    proto = schema.message("TensorProto").FromString(piece)
    index, name, element_type, shape = len(found.names), proto.name, proto.data_type, tuple(proto.dims)
    found.names.append(name)
    found.element_types.append(element_type)
    key = dumps((element_type, shape), WITHOUT_REFERENCES)  # `salted_key` without a call for each initializer
    kind = kinds.get(key)
    if kind is None:
        kind = kinds[key] = shape, evident_size(element_type, shape)
    shape, size = kind
    found.shapes.append(shape)
    fields = proto.ListFields()
    # The fields are name, type, shape and raw_data: their number fits, and the last one is raw_data.
    has_raw = name and len(fields) == 3 + bool(shape) and fields[-1][0] is RAW_DATA
    raw = fields[-1][1] if has_raw else b""
    is_plain = len(raw) == size
    if not is_plain and not is_evident(dict(fields)):
        found.unproved.append(index)
    if element_type in FLOATING_TYPES and may_hold_nan(element_type, raw if is_plain else piece, is_raw=is_plain):
        found.may_be_nan.add(index)
    if not is_plain:
        return None
    before_values = _RAW_DATA + encode_varint(size)
    return element_type, shape, before_values, len(before_values) + size


_types: Final[Memory[bytes, bytes]] = Memory(1_000)


def serialized_type(element_type: int, shape: tuple[int, ...]) -> bytes:
    """Return the TypeProto of initializers of an element type and a shape, as writers serialize it."""
    key = salted_key((element_type, shape))
    return _types.get(key) or _types.keep(key, _serialized_type(element_type, shape))


def _serialized_type(element_type: int, shape: tuple[int, ...]) -> bytes:
    made = schema.message("TypeProto")()
    made.tensor_type.elem_type = element_type
    made.tensor_type.shape.SetInParent()
    for size in shape:
        made.tensor_type.shape.dim.add().dim_value = size
    serialized: bytes = made.SerializeToString()
    return serialized
