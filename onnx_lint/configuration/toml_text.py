# SPDX-License-Identifier: Apache-2.0
"""Writes keys and values as TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from onnx_lint.common.visible import json_without_commands

_BARE: Final = r"[A-Za-z0-9_-]+"
_ONLY_IN_JSON: Final = "[\x7f-\x9f\xad]"
"""Characters that JSON has unescaped, but TOML or a terminal cannot have."""


def toml_key(path: Iterable[str]) -> str:
    """Return the key of a value in tables: `severity.non-c90-name`."""
    return ".".join(part if re.fullmatch(_BARE, part) else _text(part) for part in path)


def toml_value(value: Any) -> str:
    """Return a value that was read as TOML, or a tuple for a list, as TOML on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        entries = ", ".join(f"{toml_key((name,))} = {toml_value(item)}" for name, item in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    return str(value.isoformat())  # a date or a time


def _text(text: str) -> str:
    """Return a string of TOML, whose escapes are those of JSON."""
    quoted = json.dumps(text, ensure_ascii=False)
    return json_without_commands(re.sub(_ONLY_IN_JSON, lambda match: f"\\u{ord(match[0]):04x}", quoted))
