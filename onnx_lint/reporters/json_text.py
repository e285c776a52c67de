# SPDX-License-Identifier: Apache-2.0
"""JSON as text: byte for byte what `json.dump` writes, which takes four times as long.

Only `json.dumps` without indentation is compiled, so what is indented is put together here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

from onnx_lint.reporters.escape import encodable


def compact(value: Any) -> str:
    """The value on one line, without blanks.

    A lone surrogate, which no encoding can write and some readers refuse, is replaced by its escape.
    """
    return _readable(value, lambda value: json.dumps(value, separators=(",", ":")))


def indented(value: Any) -> str:
    """The value with each element and each property on a line of its own; of lone surrogates as above."""
    return _readable(value, lambda value: _indented(value, "\n"))


def _readable(value: Any, write: Callable[[Any], str]) -> str:
    text = write(value)
    # Half of a character beyond the basic plane looks the same; both are rare.
    return write(_without_lone_surrogates(value)) if r"\ud" in text else text


def _without_lone_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {key: _without_lone_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_lone_surrogates(item) for item in value]
    return value


def _indented(value: Any, line: str) -> str:
    """The value, whose lines after the first begin with `line`: a line break and blanks."""
    if isinstance(value, str):
        return quoted(value)
    inner = f"{line}  "
    if value and isinstance(value, dict):
        items = [f"{quoted(key)}: {_indented(item, inner)}" for key, item in value.items()]
        return f"{{{inner}{f',{inner}'.join(items)}{line}}}"
    if value and isinstance(value, (list, tuple)):
        return f"[{inner}{f',{inner}'.join([_indented(item, inner) for item in value])}{line}]"
    return json.dumps(value)
