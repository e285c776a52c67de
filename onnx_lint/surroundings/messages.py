# SPDX-License-Identifier: Apache-2.0
"""Fields and messages without a form in ONNX's textual syntax, in a form like that of its headers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from onnx_lint.schema import Proto
from onnx_lint.surroundings.sheet import Sheet
from onnx_lint.surroundings.words import write_float, write_string

_MAX_DEPTH: Final = 4


def write_message(sheet: Sheet, message: Proto, depth: int = 0) -> None:
    """Write the fields of a message, of deeply nested ones only the outer levels."""
    if depth >= _MAX_DEPTH:
        sheet.write("{")
        sheet.leave_out()
        sheet.write("}")
        return
    sheet.write("{")
    for index, (field, _) in enumerate(message.ListFields()):
        if index:
            sheet.write(", ")
        write_field(sheet, message, field.name, depth)
    sheet.write("}")


def write_field(sheet: Sheet, message: Proto, field: str, depth: int = 0) -> None:
    """Write the name and the value of a field that a message has."""
    sheet.write(f"{field}: ")
    value = getattr(message, field)
    if isinstance(message.DESCRIPTOR.fields_by_name[field].default_value, list):
        sheet.write("[")
        if value:
            sheet.items(field, value, lambda each: write_value(sheet, each, depth + 1))
        else:
            sheet.leave_out()  # the elements were not loaded
        sheet.write("]")
        return
    with sheet.part(field):
        write_value(sheet, value, depth + 1)


def write_beside(sheet: Sheet, message: Proto, fields: Sequence[str]) -> None:
    """Write the field in focus after a comment sign, if it is one of `fields`, which the syntax cannot express."""
    for field in fields:
        if sheet.aims_at(field):
            sheet.write("  # ")
            write_field(sheet, message, field)


def write_value(sheet: Sheet, value: Any, depth: int = 0) -> None:
    """Write a number, a string or a message."""
    if isinstance(value, (str, bytes)):
        write_string(sheet, value)
    elif isinstance(value, float):
        write_float(sheet, value, is_double=True)
    elif isinstance(value, int):
        sheet.write(str(value))
    else:
        write_message(sheet, value, depth)
