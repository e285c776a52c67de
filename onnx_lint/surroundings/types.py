# SPDX-License-Identifier: Apache-2.0
"""Types, shapes and tensors in ONNX's textual syntax."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, Final

from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPES, EXTERNAL_LOCATION, VALUE_FIELDS
from onnx_lint.surroundings.messages import write_beside, write_message
from onnx_lint.surroundings.sheet import Sheet
from onnx_lint.surroundings.words import write_float, write_name, write_string
from onnx_lint.wording import describe_shape

MAX_VALUES: Final = 8
"""The most elements of a tensor that are written."""

_MAX_DEPTH: Final = 6
"""The greatest depth of types that are written."""

_RAW: Final = {"float": "f", "double": "d", "uint8": "B", "int8": "b", "uint16": "H", "int16": "h", "int32": "i",
               "int64": "q", "uint32": "I", "uint64": "Q", "bool": "B"}  # fmt: skip
"""The `struct` codes of the element types whose values are written from raw data."""

_BESIDE_VALUES: Final = ("segment", "external_data", "data_location", "doc_string", "metadata_props", *VALUE_FIELDS)
"""The fields that are written after a tensor if a finding is about them."""

_FLOATS: Final = {"float": False, "double": True}


def write_element_type(sheet: Sheet, number: int) -> None:
    """Write the name of an element type, or its number if it has none."""
    element = ELEMENT_TYPES.get(number)
    sheet.write(element.name if element is not None else f"undefined({number})" if number else "undefined")


def write_type(sheet: Sheet, proto: Proto, depth: int = 0) -> None:
    """Write a TypeProto."""
    kind = proto.WhichOneof("value")
    if kind is None:
        sheet.write("undefined")
        return
    if depth == _MAX_DEPTH:
        sheet.leave_out()
        return
    inner = getattr(proto, kind)
    with sheet.part(kind):
        match kind:
            case "tensor_type":
                _write_tensor_type(sheet, inner)
            case "sparse_tensor_type":
                sheet.write("sparse_tensor(")
                _write_tensor_type(sheet, inner)
                sheet.write(")")
            case "sequence_type" | "optional_type":
                sheet.write("seq(" if kind == "sequence_type" else "optional(")
                with sheet.part("elem_type"):
                    write_type(sheet, inner.elem_type, depth + 1)
                sheet.write(")")
            case "map_type":
                sheet.write("map(")
                with sheet.part("key_type"):
                    write_element_type(sheet, inner.key_type)
                sheet.write(", ")
                with sheet.part("value_type"):
                    write_type(sheet, inner.value_type, depth + 1)
                sheet.write(")")
            case "opaque_type":
                sheet.write("opaque")
                write_message(sheet, inner)
    _write_denotation(sheet, proto)


def _write_tensor_type(sheet: Sheet, tensor: Proto) -> None:
    with sheet.part("elem_type"):
        write_element_type(sheet, tensor.elem_type)
    if not tensor.HasField("shape"):
        sheet.write(f" ({describe_shape(None)})")
        return
    with sheet.part("shape"):
        _write_dims(sheet, "dim", tensor.shape.dim, lambda dim: _write_dimension(sheet, dim))


def _write_dims(sheet: Sheet, field: str, dims: Sequence[Any], write: Callable[[Any], None]) -> None:
    """Write the dimensions of a tensor. The syntax has nothing for a scalar, which reads like an unknown shape."""
    if not dims:
        sheet.write(f" ({describe_shape(())})")
        return
    sheet.write("[")
    sheet.items(field, dims, write)
    sheet.write("]")


def _write_sizes(sheet: Sheet, dims: Sequence[int]) -> None:
    """Write the dimensions of a stored tensor."""
    _write_dims(sheet, "dims", dims, lambda size: sheet.write(str(size)))


def _write_dimension(sheet: Sheet, dim: Proto) -> None:
    match dim.WhichOneof("value"):
        case "dim_value":
            with sheet.part("dim_value"):
                sheet.write(str(dim.dim_value))
        case "dim_param":
            with sheet.part("dim_param"):
                write_name(sheet, dim.dim_param)
        case _:
            sheet.write("?")
    _write_denotation(sheet, dim)


def _write_denotation(sheet: Sheet, proto: Proto) -> None:
    """Write the denotation of a type or dimension, which the syntax cannot express, if it is in focus."""
    if sheet.aims_at("denotation"):
        sheet.write(" denotation ")
        with sheet.part("denotation"):
            write_string(sheet, proto.denotation)


def write_value_info(sheet: Sheet, value: Proto) -> None:
    """Write a ValueInfoProto: its type and its name."""
    if value.HasField("type"):
        with sheet.part("type"):
            write_type(sheet, value.type)
        sheet.write(" ")
    with sheet.subject(), sheet.part("name"):
        write_name(sheet, value.name)
    write_beside(sheet, value, ("doc_string", "metadata_props"))


def write_tensor(sheet: Sheet, tensor: Proto, *, between: str = " ") -> None:
    """Write a TensorProto, with the values of a small one after `between`."""
    with sheet.part("data_type"):
        write_element_type(sheet, tensor.data_type)
    _write_sizes(sheet, tensor.dims)
    if tensor.name:
        sheet.write(" ")
        with sheet.subject(), sheet.part("name"):
            write_name(sheet, tensor.name)
    shown = _write_values(sheet, tensor, between)
    write_beside(sheet, tensor, [field for field in _BESIDE_VALUES if field != shown])


def _write_values(sheet: Sheet, tensor: Proto, between: str) -> str | None:
    """Write the values, or a sign for them; return the field that holds them."""
    element = ELEMENT_TYPES.get(tensor.data_type)
    if tensor.data_location == EXTERNAL_LOCATION or element is None:
        return None
    field = "raw_data" if tensor.HasField("raw_data") else element.field
    sheet.write(between)
    values: Sequence[int | float | bytes] | None = getattr(tensor, field)
    if field == "raw_data":
        values = _of_raw_data(element.name, tensor.raw_data)
    if values is None or len(values) > MAX_VALUES or _is_without_values(tensor, values):
        with sheet.part(field):
            sheet.write("{")
            sheet.leave_out()
            sheet.write("}")
        return field
    sheet.write("{")
    is_double = _FLOATS.get(element.name, False)
    sheet.items(field, values, lambda value: _write_element(sheet, value, is_double=is_double))
    sheet.write("}")
    return field


def _write_element(sheet: Sheet, value: int | float | bytes, *, is_double: bool) -> None:
    if isinstance(value, bytes):
        write_string(sheet, value)
    elif isinstance(value, float):
        write_float(sheet, value, is_double=is_double)
    else:
        sheet.write(str(value))


def _is_without_values(tensor: Proto, values: Sequence[object]) -> bool:
    """Return whether values are missing, for example because they are large and were not loaded."""
    return not values and 0 not in tensor.dims[:MAX_VALUES]


def _of_raw_data(element: str, data: bytes) -> Sequence[int | float] | None:
    """Return the elements of raw data if they are few and of a type in `_RAW`; otherwise None."""
    code = _RAW.get(element)
    if code is None:
        return None
    size = struct.calcsize(f"<{code}")
    if len(data) > MAX_VALUES * size or len(data) % size:
        return None
    return struct.unpack(f"<{len(data) // size}{code}", data)
