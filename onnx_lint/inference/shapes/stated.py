# SPDX-License-Identifier: Apache-2.0
"""The facts that messages state: a TypeProto about a value, a TensorProto about itself."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Final

from onnx_lint import schema
from onnx_lint.common.cached import remembered
from onnx_lint.inference.shapes.dims import Dim, Shape, are_sizes
from onnx_lint.inference.shapes.expression import variable
from onnx_lint.inference.shapes.fact import MAX_CONTENT_ELEMENTS, MAX_DIMENSIONS, UNKNOWN, Content, Fact, fact
from onnx_lint.inference.types.type_string import from_proto, tensor_of
from onnx_lint.spec.element_types import ELEMENT_TYPES, EXTERNAL_LOCATION, TYPED_FIELDS, DataType

Outside = Callable[[Any], bytes | None]
"""Reads the values of a small TensorProto with external data; None if they are missing, or must not be read."""

_FORMATS: Final[Mapping[int, str]] = {
    DataType.FLOAT: "f",
    DataType.INT32: "i",
    DataType.INT64: "q",
    DataType.UINT8: "B",
    DataType.INT8: "b",
    DataType.UINT16: "H",
    DataType.INT16: "h",
    DataType.UINT32: "I",
    DataType.UINT64: "Q",
    DataType.BOOL: "B",
    DataType.FLOAT16: "e",
    DataType.DOUBLE: "d",
}
"""The formats of the elements in `raw_data`, as in `struct`, by element type."""

_NARROW: Final = (DataType.UINT8, DataType.INT8, DataType.UINT16, DataType.INT16, DataType.UINT32)
"""The integer types whose stored numbers may not fit: the field for their values is wider."""

_LONGEST_VARIABLE: Final = 1_000
"""The longest variable that is kept; a longer one is unknown, because facts outlive the model."""

_LONGEST_TYPE: Final = 4_000
"""The longest type, in characters, that is kept. It contains domains and names of opaque types."""


def facts_of_types(serialized: Sequence[bytes]) -> list[Fact]:
    """Return the facts of serialized TypeProtos; an empty one is an absent type."""
    return list(map(_fact_of_serialized, serialized))


@remembered(1_000)
def _fact_of_serialized(serialized: bytes) -> Fact:
    return fact_of_type(schema.opened("TypeProto", serialized))


def fact_of_type(proto: Any) -> Fact:
    """Return the fact of a TypeProto."""
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


def type_stating(found: Fact) -> Any:
    """Return the TypeProto that states a fact of a tensor; None if its element type or rank is unknown.

    A dimension that is no number and no identifier is left open.
    """
    numbers = {tensor_of(number): number for number in ELEMENT_TYPES}
    if found.shape is None or found.kind not in numbers:
        return None
    proto = schema.message("TypeProto")()
    proto.tensor_type.elem_type = numbers[found.kind]
    proto.tensor_type.shape.SetInParent()
    for dim in found.shape:
        written = proto.tensor_type.shape.dim.add()
        if isinstance(dim, int):
            written.dim_value = dim
        elif dim is not None and dim.isidentifier():
            written.dim_param = dim
    return proto


def _shape(dims: Sequence[Any]) -> Shape:
    return known_shape([_dim(dim) for dim in dims[: MAX_DIMENSIONS + 1]])


def _dim(dim: Any) -> Dim:
    if dim.HasField("dim_value"):
        # A negative size is invalid, which is another finding.
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    if len(dim.dim_param) > _LONGEST_VARIABLE:
        return None
    return variable(str(dim.dim_param)) or None


def known_shape(dims: list[Dim]) -> Shape:
    """Return the dimensions as a shape; None if there are more than rules support."""
    return tuple(dims) if len(dims) <= MAX_DIMENSIONS else None


def tensor_shape(dims: Sequence[int]) -> tuple[int, ...] | None:
    """Return the shape of a TensorProto; None if a dimension is negative, or if there are more than rules support."""
    sizes = [int(size) for size in dims[: MAX_DIMENSIONS + 1]]
    return tuple(sizes) if all(size >= 0 for size in sizes) and len(sizes) <= MAX_DIMENSIONS else None


def fact_of_tensor(proto: Any) -> Fact:
    """Return the fact of a TensorProto, with its content if that is small."""
    shape = tensor_shape(proto.dims)
    return fact(tensor_of(proto.data_type), shape, content_of(proto, shape))


def fact_of_sparse(proto: Any) -> Fact:
    """Return the fact of a SparseTensorProto: that of the dense tensor that it represents."""
    return fact(tensor_of(proto.values.data_type), tensor_shape(proto.dims))


def content_of(proto: Any, shape: Shape, outside: Outside | None = None) -> Content:
    """Return the elements of a small tensor, row by row.

    None if the tensor is large, or if the number of stored elements does not match the shape.

    `outside` reads the values of a tensor with external data, which are unknown otherwise.
    """
    if not are_sizes(shape) or proto.data_type not in _FORMATS:
        return None
    count = prod(shape)
    if count > MAX_CONTENT_ELEMENTS:
        return None
    found = _stored_elements(proto, count, outside)
    if found is None or proto.data_type != DataType.BOOL:
        return found
    return tuple([int(each != 0) for each in found])


def _stored_elements(proto: Any, count: int, outside: Outside | None) -> Content:
    """Return the elements as they are stored; None unless exactly one field holds `count` of them."""
    element = ELEMENT_TYPES[proto.data_type]
    stored, raw = getattr(proto, element.field), proto.raw_data
    if any(getattr(proto, other) for other in TYPED_FIELDS if other != element.field):
        return None
    if proto.data_location == EXTERNAL_LOCATION:
        raw = outside(proto) if outside is not None and not stored and not raw else None
        if raw is None:
            return None
    if not raw:
        return _typed_elements(proto.data_type, stored, count)
    if stored or len(raw) != element.bytes_of(count):
        return None
    return struct.unpack(f"<{count}{_FORMATS[proto.data_type]}", raw)


def _typed_elements(data_type: int, stored: Sequence[Any], count: int) -> Content:
    """Return the elements in a typed field; None unless it holds `count` of them that fit the type."""
    if len(stored) != count or (data_type in _NARROW and not _fit_in(stored, _FORMATS[data_type])):
        return None
    return tuple(stored) if data_type != DataType.FLOAT16 else _float16(stored)


def _fit_in(stored: Sequence[int], code: str) -> bool:
    """Return whether the numbers of a wider field fit the format of the element type."""
    try:
        struct.pack(f"<{len(stored)}{code}", *stored)
    except struct.error:
        return False
    return True


def _float16(stored: Sequence[int]) -> tuple[float, ...]:
    """Return the numbers whose bits a field holds."""
    return struct.unpack(f"<{len(stored)}e", struct.pack(f"<{len(stored)}H", *[int(each) & 0xFFFF for each in stored]))
