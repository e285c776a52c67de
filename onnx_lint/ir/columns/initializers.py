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
"""The tag of the name."""
_NAME_HEADER_BYTES: Final = 2
"""The bytes of the tag of a name and of its length, if the name is shorter than 128 bytes."""
_RAW_DATA: Final = b"\x4a"
"""The tag of raw_data."""


class _TensorLayout(Record):
    """The bytes of tensors of one element type and shape that have only a name and raw_data besides.

    Protocol Buffers writes them in this order, and the name and the values are the only parts that differ:

        dims, data_type | 42, length, name | 4a, length, values
                          ----------------   ----------
                          name               raw_data_header
    """

    element_type: int
    shape: tuple[int, ...]
    raw_data_size: int
    """How many bytes of values are evidently right, whatever they are; -1 if none are."""
    raw_data_header: bytes
    """The tag and the length of raw_data."""
    size_after_name: int


def _layout(element_type: int, shape: tuple[int, ...]) -> _TensorLayout:
    size = evident_size(element_type, shape)
    header = b"" if size < 0 else _RAW_DATA + encode_varint(size)
    return _TensorLayout(element_type, shape, size, header, len(header) + size)


def initializers_of(tensors: Sequence[bytes]) -> Initializers:
    """Return the columns of these serialized TensorProtos."""
    if not tensors:
        return NO_INITIALIZERS
    found = Initializers([], [], [], [], set())
    layouts_by_type: dict[bytes, _TensorLayout] = {}
    layouts_by_prefix: dict[bytes, _TensorLayout] = {}
    for index, piece in enumerate(tensors):
        # A tensor of a known layout is not parsed (docs/performance.md: columns-of-initializers). A prefix is known if
        # a parsed tensor had it before its name, by the lengths of all parts. So it ends with a whole field, and the
        # byte 42 after it is the tag of the name: no known prefix ends in the middle of a field.
        before_name, _, rest = piece.partition(_NAME)
        layout = layouts_by_prefix.get(before_name)
        if layout is not None and rest and 0 < rest[0] < 0x80:
            end = rest[0] + 1
            header = layout.raw_data_header
            if len(rest) == end + layout.size_after_name and rest.startswith(header, end):
                element_type = layout.element_type
                found.names.append(rest[1:end].decode())
                found.element_types.append(element_type)
                found.shapes.append(layout.shape)
                if element_type in FLOATING_TYPES:
                    raw = rest[end + len(header) :]
                    if may_hold_nan(element_type, raw, is_raw=True):
                        found.may_be_nan.add(index)
                continue
        layout = _add_parsed(piece, found, layouts_by_type)
        if layout is not None:
            name_size = _NAME_HEADER_BYTES + len(found.names[-1].encode())
            if len(before_name) + name_size + layout.size_after_name == len(piece):
                layouts_by_prefix[before_name] = layout
    return found


def _add_parsed(piece: bytes, found: Initializers, layouts_by_type: dict[bytes, _TensorLayout]) -> _TensorLayout | None:
    """Add a tensor to the columns, as the parser reads it. Return its layout; None if it has another one.

    `layouts_by_type`: those of the tensors so far, by element type and shape; this adds to it.
    """
    proto = schema.message("TensorProto").FromString(piece)
    index, name, element_type, shape = len(found.names), proto.name, proto.data_type, tuple(proto.dims)
    found.names.append(name)
    found.element_types.append(element_type)
    key = dumps((element_type, shape), WITHOUT_REFERENCES)  # `salted_key` without a call for each initializer
    layout = layouts_by_type.get(key)
    if layout is None:
        layout = layouts_by_type[key] = _layout(element_type, shape)
    found.shapes.append(layout.shape)
    fields = proto.ListFields()
    # The fields are name, type, shape and raw_data: their number fits, and the last one is raw_data.
    has_raw = name and len(fields) == 3 + bool(shape) and fields[-1][0] is RAW_DATA
    raw = fields[-1][1] if has_raw else b""
    is_plain = len(raw) == layout.raw_data_size
    if not is_plain and not is_evident(dict(fields)):
        found.unproved.append(index)
    if element_type in FLOATING_TYPES and may_hold_nan(element_type, raw if is_plain else piece, is_raw=is_plain):
        found.may_be_nan.add(index)
    return layout if is_plain else None


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
