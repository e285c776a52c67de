# SPDX-License-Identifier: Apache-2.0
"""Bytes written as hexadecimal digits with comments and quoted text between them; fixtures/README.md has the format."""

from __future__ import annotations

import re

_TOKEN = re.compile(r'\s+|#[^\n]*|([0-9a-fA-F]{2})|"((?:[^"\\\n]|\\.)*)"')
_ESCAPE = re.compile(rb'\\(?:x([0-9a-fA-F]{2})|([nt"\\]))')
_ESCAPES = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}


def parse_hex(text: str) -> bytes:
    """Return the bytes of annotated hex; raises ValueError for any other text."""
    data = bytearray()
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            line = text.count("\n", 0, position) + 1
            raise ValueError(f"line {line}: {text[position : position + 10]!r} is not hex")
        digits, quoted = match.groups()
        if digits is not None:
            data += bytes.fromhex(digits)
        elif quoted is not None:
            data += _ESCAPE.sub(_unescape, quoted.encode())
        position = match.end()
    return bytes(data)


def _unescape(match: re.Match[bytes]) -> bytes:
    digits, char = match.groups()
    return bytes.fromhex(digits.decode()) if digits is not None else _ESCAPES[char]
