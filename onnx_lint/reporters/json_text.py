# SPDX-License-Identifier: Apache-2.0
"""JSON for reports. Names that a CI server would take for commands are escaped, since the text may go to a log."""

from __future__ import annotations

import json
from typing import Any

from onnx_lint.common.visible import json_without_commands


def without_none(**properties: Any) -> dict[str, Any]:
    """Return the properties that have a value. Those without one are left out of the report; 0 is a value."""
    return {name: value for name, value in properties.items() if value not in (None, "", [], {})}


def compact(value: Any) -> str:
    """Return the value on one line, without spaces."""
    return json_without_commands(json.dumps(value, separators=(",", ":")))


def indented(value: Any, depth: int = 0) -> str:
    """Return the value as `json.dumps(value, indent=2)` does, inside `depth` others."""
    return json_without_commands(_indented(value, "\n" + "  " * depth))


def _indented(value: Any, line: str) -> str:
    """Return the value. `json.dumps` with an indent would leave two kilobytes of garbage at each call."""
    inner = f"{line}  "
    if isinstance(value, dict) and value:
        parts = [f"{json.dumps(name)}: {_indented(each, inner)}" for name, each in value.items()]
        return f"{{{inner}{f',{inner}'.join(parts)}{line}}}"
    if isinstance(value, (list, tuple)) and value:
        return f"[{inner}{f',{inner}'.join([_indented(each, inner) for each in value])}{line}]"
    return json.dumps(value)
