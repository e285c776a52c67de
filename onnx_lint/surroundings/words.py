# SPDX-License-Identifier: Apache-2.0
"""The words of ONNX's textual syntax: names, strings and numbers."""

from __future__ import annotations

import struct
from typing import Final

from onnx_lint.common.visible import visible
from onnx_lint.surroundings.line_writer import CUT, LineWriter

MAX_WORD_CHARACTERS: Final = 48
"""The longest name or string that is written whole; a longer one is cut in the middle."""

_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"'})


def _is_identifier(name: str) -> bool:
    return name.isascii() and name.isidentifier()


def write_name(line: LineWriter, name: str) -> None:
    """Write a name: unquoted if it is an identifier, otherwise quoted."""
    if len(name) <= MAX_WORD_CHARACTERS and _is_identifier(name):
        line.write(name)
    else:
        write_string(line, name)


def write_domain(line: LineWriter, domain: str) -> None:
    """Write the domain of an operator: unquoted if it has identifiers with dots between them."""
    if len(domain) <= MAX_WORD_CHARACTERS and all(map(_is_identifier, domain.split("."))):
        line.write(domain)
    else:
        write_string(line, domain)


def write_string(line: LineWriter, value: str | bytes) -> None:
    """Write a string in quotes; a long one is cut in the middle."""
    half = MAX_WORD_CHARACTERS // 2
    is_long = len(value) > MAX_WORD_CHARACTERS
    text = f"{_decoded(value[:half])}{CUT}{_decoded(value[-half:])}" if is_long else _decoded(value)
    line.write(quoted(text))


def quoted(value: str | bytes) -> str:
    """Return a whole string in quotes."""
    text = _decoded(value)
    shown = visible(text)
    return f'"{shown.translate(_ESCAPES) if shown == text else _quoted_escapes(shown)}"'


def _decoded(value: str | bytes) -> str:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else value


def _quoted_escapes(shown: str) -> str:
    """Return the text with quotes escaped. Invisible characters are escapes already, whose backslash stays single."""
    return shown.replace('"', '\\"')


def write_float(line: LineWriter, value: float, *, is_double: bool = False) -> None:
    """Write a number with the fewest digits that read back as the same number."""
    if value != value or value in (float("inf"), float("-inf")):
        line.write(repr(value))
        return
    text = repr(value) if is_double else _shortest(value)
    line.write(text if "." in text or "e" in text else f"{text}.0")


def _shortest(value: float) -> str:
    """Return the shortest decimal form of a 32-bit number."""
    bits = struct.pack("<f", value)
    for digits in range(6, 9):
        text = f"{value:.{digits}g}"
        try:
            if struct.pack("<f", float(text)) == bits:
                return text
        except OverflowError:
            continue
    return f"{value:.9g}"
