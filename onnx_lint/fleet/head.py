# SPDX-License-Identifier: Apache-2.0
"""The head of a scan: its targets and settings. A scan resumes only one with the same head."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from onnx_lint.fleet.errors import FleetError
from onnx_lint.reporters.escape import visible


def parsed_head(text: str, path: str) -> dict[str, Any]:
    """Return the head from the JSON in a database. Raises FleetError if no scan can have written it."""
    try:
        head = json.loads(text)
    except (ValueError, RecursionError):
        head = None
    held = _at(head, ("tool", "specification"))
    names = [_at(held, (name,)) for name in ("edition", "variant")]
    if not all(isinstance(name, str) for name in names) or not isinstance(_at(head, ("models",)) or 0, int):
        raise FleetError(f"{visible(path)} is damaged: its description of the scan is malformed")
    found: dict[str, Any] = head
    return found


_COMPARED: Final = {
    ("tool", "version"): "onnx-lint",
    ("targets",): "targets",
    ("exclude",): "--exclude",
    ("part",): "--part",
    ("tool", "specification"): "the edition or variant",
    ("tool", "rules"): "the selection of rules",
    ("min_severity",): "--min-severity",
    ("settings",): "the settings",
}
"""The parts of the head that must be equal for a scan to resume, with their names for users."""


def check_same(folder: str, known: Mapping[str, Any], head: Mapping[str, Any]) -> None:
    """Raise FleetError unless the scan that `head` describes can resume the one with the head `known`."""
    for path, name in _COMPARED.items():
        before, now = _at(known, path), _at(head, path)
        if before != now:
            shown = f" ({_shown(before)} then, {_shown(now)} now)" if path[-1] not in {"rules", "settings"} else ""
            raise FleetError(
                f"{visible(folder)} holds a scan that differs in {name}{shown}: choose another folder, or discard it"
                " with --anew"
            )


def _at(value: Any, path: Sequence[str]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _shown(value: Any) -> str:
    text = visible(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= 100 else f"{text[:97]}..."
