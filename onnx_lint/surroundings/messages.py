# SPDX-License-Identifier: Apache-2.0
"""Writes fields that ONNX's textual syntax cannot express, as `name: {field: value}`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from onnx_lint.schema import Proto
from onnx_lint.surroundings.line_writer import LineWriter
from onnx_lint.surroundings.words import write_float, write_string

_MAX_DEPTH: Final = 4


def write_message(line: LineWriter, message: Proto, depth: int = 0) -> None:
    """Write the fields of a message. Of messages in it, only `_MAX_DEPTH` levels are written."""
    if depth >= _MAX_DEPTH:
        line.write("{")
        line.leave_out()
        line.write("}")
        return
    line.write("{")
    for index, (field, _) in enumerate(message.ListFields()):
        if index:
            line.write(", ")
        write_field(line, message, field.name, depth)
    line.write("}")


def write_field(line: LineWriter, message: Proto, field: str, depth: int = 0) -> None:
    """Write the name and the value of a field that is set."""
    line.write(f"{field}: ")
    value = getattr(message, field)
    if isinstance(message.DESCRIPTOR.fields_by_name[field].default_value, list):
        line.write("[")
        if value:
            line.items(field, value, lambda each: write_value(line, each, depth + 1))
        else:
            line.leave_out()  # the elements were not loaded
        line.write("]")
        return
    with line.part(field):
        write_value(line, value, depth + 1)


def write_as_comment(line: LineWriter, message: Proto, fields: Sequence[str]) -> None:
    """Write the field in focus after a comment sign, if it is one of `fields`, which the syntax cannot express."""
    for field in fields:
        if line.aims_at(field):
            line.write("  # ")
            write_field(line, message, field)


def write_value(line: LineWriter, value: Any, depth: int = 0) -> None:
    """Write a number, a string or a message."""
    if isinstance(value, (str, bytes)):
        write_string(line, value)
    elif isinstance(value, float):
        write_float(line, value, is_double=True)
    elif isinstance(value, int):
        line.write(str(value))
    else:
        write_message(line, value, depth)
