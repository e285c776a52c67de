# SPDX-License-Identifier: Apache-2.0
"""The facts that messages state: a TypeProto of a value, a TensorProto of itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any, Final

from onnx_lint import schema
from onnx_lint.inference.shapes.dims import Dim, Dims, Shape
from onnx_lint.inference.shapes.fact import MOST_DIMENSIONS, MOST_ELEMENTS, UNKNOWN, Content, Fact, fact
from onnx_lint.inference.types.type_string import from_proto, tensor_of
from onnx_lint.spec.element_types import EXTERNAL

Outside = Callable[[Any], bytes | None]
"""Reads the values of a small TensorProto with external data; None where they are not there, or not to be read."""

MOST_NUMBERS: Final = 64
"""So many floating-point elements are kept at most: those of scales and ranges are few."""

FLOAT, INT32, INT64, BOOL, DOUBLE = 1, 6, 7, 9, 11
"""Numbers of the enum TensorProto.DataType, those of which contents are read."""

INTEGERS: Final = frozenset({INT32, INT64, BOOL})

_READ: Final[Mapping[int, tuple[str, str, int]]] = {
    FLOAT: ("f", "float_data", 4),
    INT32: ("i", "int32_data", 4),
    INT64: ("q", "int64_data", 8),
    BOOL: ("B", "int32_data", 1),
    DOUBLE: ("d", "double_data", 8),
}
"""For each element type how raw_data is unpacked, the field for values otherwise, and the bytes of an element."""


class _OfTypes(dict[bytes, Fact]):
    """What TypeProtos state, by their serialized form; those of earlier models as well.

    A thousand models have a few hundred types between them (docs/performance.md: kept-types).
    """

    def __init__(self) -> None:
        super().__init__()
        self._bytes = 0

    def __missing__(self, serialized: bytes) -> Fact:
        if len(serialized) > _LONGEST_TYPE:
            return fact_of_type(schema.opened("TypeProto", serialized))
        self._bytes += len(serialized)
        if len(self) >= _MOST_TYPES or self._bytes > _MOST_BYTES:
            self.clear()
            self._bytes = len(serialized)
        found = self[serialized] = fact_of_type(schema.opened("TypeProto", serialized))
        return found


_MOST_TYPES: Final = 4_096
_MOST_BYTES: Final = 1 << 20
"""So many types, and so many bytes of them, are remembered; then all are forgotten, which costs time only."""

_LONGEST_VARIABLE: Final = 1_000
"""What is known of a longer one is nothing: facts outlive the model."""

_LONGEST_TYPE: Final = 4_000
"""The same of types as they are written, in which domains and names of opaque types stand; in bytes as well."""

_of_types: Final = _OfTypes()


def facts_of_types(serialized: Sequence[bytes]) -> list[Fact]:
    """What serialized TypeProtos state, each looked up; an empty one stands for an absent one."""
    return list(map(_of_types.__getitem__, serialized))


def fact_of_type(proto: Any) -> Fact:
    """What a TypeProto states."""
    kind = from_proto(proto)
    if kind is not None and len(kind) > _LONGEST_TYPE:
        return UNKNOWN
    case = proto.WhichOneof("value")
    if case == "tensor_type" or case == "sparse_tensor_type":
        tensor = getattr(proto, case)
        return fact(kind, _shape(tensor.shape.dim) if tensor.HasField("shape") else None)
    if case == "sequence_type" or case == "optional_type":
        inside = fact_of_type(getattr(proto, case).elem_type)
        return fact(kind, inside=inside if inside is not UNKNOWN else None)
    return fact(kind)


def _shape(dims: Iterable[Any]) -> Shape:
    return known_shape([_dim(dim) for dim in dims])


def _dim(dim: Any) -> Dim:
    if dim.HasField("dim_value"):
        # A negative size stands for nothing, and has a finding of its own.
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    return str(dim.dim_param) or None if len(dim.dim_param) <= _LONGEST_VARIABLE else None


def known_shape(dims: list[Dim]) -> Shape:
    """The dimensions as a shape; None for more of them than any rule looks at."""
    return tuple(dims) if len(dims) <= MOST_DIMENSIONS else None


def tensor_shape(dims: Iterable[int]) -> Dims | None:
    """The shape that a TensorProto states; None where a dimension is negative."""
    sizes = [int(size) for size in dims]
    return tuple(sizes) if all(size >= 0 for size in sizes) and len(sizes) <= MOST_DIMENSIONS else None


def fact_of_tensor(proto: Any) -> Fact:
    """What a TensorProto states, with its content where that is small."""
    shape = tensor_shape(proto.dims)
    return fact(tensor_of(proto.data_type), shape, content_of(proto, shape))


def fact_of_sparse(proto: Any) -> Fact:
    """What a SparseTensorProto states: the dense tensor that it stands for."""
    return fact(tensor_of(proto.values.data_type), tensor_shape(proto.dims))


def content_of(proto: Any, shape: Shape, outside: Outside | None = None) -> Content:
    """The elements of a small tensor, row by row; None for another one, or where it stores another number of them.

    `outside` reads the values of one with external data, of which nothing is known otherwise.
    """
    if shape is None or proto.data_type not in _READ:
        return None
    if len(shape) > 1 and proto.data_type not in INTEGERS:
        # Of what has more dimensions, indices alone are looked at.
        return None
    count = prod(size for size in shape if isinstance(size, int))
    if count > (MOST_ELEMENTS if proto.data_type in INTEGERS else MOST_NUMBERS):
        return None
    code, field, width = _READ[proto.data_type]
    stored = getattr(proto, field)
    if proto.data_location == EXTERNAL:
        found_outside = outside(proto) if outside is not None and not stored and not proto.raw_data else None
        if found_outside is None:
            return None
        raw = found_outside
    else:
        raw = proto.raw_data
    if raw and not stored and len(raw) == count * width:
        import struct  # late, as few tensors say what a shape is

        found: tuple[Any, ...] = struct.unpack(f"<{count}{code}", raw)
    elif len(stored) == count and not raw:
        found = tuple(stored)
    else:
        return None
    return tuple([int(each != 0) for each in found]) if proto.data_type == BOOL else found
