# SPDX-License-Identifier: Apache-2.0
"""Types, shapes and tensors in ONNX's textual syntax."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, Final

from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPES, EXTERNAL_LOCATION, VALUE_FIELDS
from onnx_lint.surroundings.line_writer import LineWriter
from onnx_lint.surroundings.messages import write_as_comment, write_message
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


def write_element_type(line: LineWriter, number: int) -> None:
    """Write the name of an element type, or its number if it has none."""
    element = ELEMENT_TYPES.get(number)
    undefined = f"undefined({number})" if number else "undefined"
    line.write(undefined if element is None else element.name)


def write_type(line: LineWriter, proto: Proto, depth: int = 0) -> None:
    """Write a TypeProto."""
    kind = proto.WhichOneof("value")
    if kind is None:
        line.write("undefined")
        return
    if depth == _MAX_DEPTH:
        line.leave_out()
        return
    inner = getattr(proto, kind)
    with line.part(kind):
        match kind:
            case "tensor_type":
                _write_tensor_type(line, inner)
            case "sparse_tensor_type":
                line.write("sparse_tensor(")
                _write_tensor_type(line, inner)
                line.write(")")
            case "sequence_type" | "optional_type":
                line.write("seq(" if kind == "sequence_type" else "optional(")
                with line.part("elem_type"):
                    write_type(line, inner.elem_type, depth + 1)
                line.write(")")
            case "map_type":
                line.write("map(")
                with line.part("key_type"):
                    write_element_type(line, inner.key_type)
                line.write(", ")
                with line.part("value_type"):
                    write_type(line, inner.value_type, depth + 1)
                line.write(")")
            case "opaque_type":
                line.write("opaque")
                write_message(line, inner)
    _write_denotation(line, proto)


def _write_tensor_type(line: LineWriter, tensor: Proto) -> None:
    with line.part("elem_type"):
        write_element_type(line, tensor.elem_type)
    if not tensor.HasField("shape"):
        line.write(f" ({describe_shape(None)})")
        return
    with line.part("shape"):
        _write_dims(line, "dim", tensor.shape.dim, lambda dim: _write_dimension(line, dim))


def _write_dims(line: LineWriter, field: str, dims: Sequence[Any], write: Callable[[Any], None]) -> None:
    """Write the dimensions of a tensor. The syntax has nothing for a scalar, which reads like an unknown shape."""
    if not dims:
        line.write(f" ({describe_shape(())})")
        return
    line.write("[")
    line.items(field, dims, write)
    line.write("]")


def _write_sizes(line: LineWriter, dims: Sequence[int]) -> None:
    """Write the dimensions of a stored tensor."""
    _write_dims(line, "dims", dims, lambda size: line.write(str(size)))


def _write_dimension(line: LineWriter, dim: Proto) -> None:
    match dim.WhichOneof("value"):
        case "dim_value":
            with line.part("dim_value"):
                line.write(str(dim.dim_value))
        case "dim_param":
            with line.part("dim_param"):
                write_name(line, dim.dim_param)
        case _:
            line.write("?")
    _write_denotation(line, dim)


def _write_denotation(line: LineWriter, proto: Proto) -> None:
    """Write the denotation of a type or dimension, which the syntax cannot express, if it is in focus."""
    if line.aims_at("denotation"):
        line.write(" denotation ")
        with line.part("denotation"):
            write_string(line, proto.denotation)


def write_value_info(line: LineWriter, value: Proto) -> None:
    """Write a ValueInfoProto: its type and its name."""
    if value.HasField("type"):
        with line.part("type"):
            write_type(line, value.type)
        line.write(" ")
    with line.subject(), line.part("name"):
        write_name(line, value.name)
    write_as_comment(line, value, ("doc_string", "metadata_props"))


def write_tensor(line: LineWriter, tensor: Proto, *, between: str = " ") -> None:
    """Write a TensorProto, with the values of a small one after `between`."""
    with line.part("data_type"):
        write_element_type(line, tensor.data_type)
    _write_sizes(line, tensor.dims)
    if tensor.name:
        line.write(" ")
        with line.subject(), line.part("name"):
            write_name(line, tensor.name)
    shown = _write_values(line, tensor, between)
    write_as_comment(line, tensor, [field for field in _BESIDE_VALUES if field != shown])


def _write_values(line: LineWriter, tensor: Proto, between: str) -> str | None:
    """Write the values, or a sign for them; return the field that holds them."""
    element = ELEMENT_TYPES.get(tensor.data_type)
    if tensor.data_location == EXTERNAL_LOCATION or element is None:
        return None
    field = "raw_data" if tensor.HasField("raw_data") else element.field
    line.write(between)
    values: Sequence[int | float | bytes] | None = getattr(tensor, field)
    if field == "raw_data":
        values = _of_raw_data(element.name, tensor.raw_data)
    if values is None or len(values) > MAX_VALUES or _is_without_values(tensor, values):
        with line.part(field):
            line.write("{")
            line.leave_out()
            line.write("}")
        return field
    line.write("{")
    is_double = _FLOATS.get(element.name, False)
    line.items(field, values, lambda value: _write_element(line, value, is_double=is_double))
    line.write("}")
    return field


def _write_element(line: LineWriter, value: int | float | bytes, *, is_double: bool) -> None:
    if isinstance(value, bytes):
        write_string(line, value)
    elif isinstance(value, float):
        write_float(line, value, is_double=is_double)
    else:
        line.write(str(value))


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
