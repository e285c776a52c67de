# SPDX-License-Identifier: Apache-2.0
"""What `scan.json` says of a scan: its targets, and by which settings. Another scan does not go on with its reports."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from onnx_lint.fleet.checked import parsed_json
from onnx_lint.fleet.errors import FleetError
from onnx_lint.input.regular_file import stream_of_regular
from onnx_lint.reporters.escape import visible

FORMAT: Final = "onnx-lint scan"
VERSION: Final = 1

SCAN: Final = "scan.json"


def head_in(folder: str) -> dict[str, Any] | None:
    """What stands in `scan.json`; None where there is no such file. Raises FleetError where it is of something else."""
    path = os.path.join(folder, SCAN)
    try:
        with stream_of_regular(path) as stream:
            head = parsed_json(stream.read())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FleetError(f"{visible(path)}: {error.strerror}") from error
    except ValueError:
        head = None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise FleetError(f"{visible(path)} is none that a scan writes")
    if head.get("version") != VERSION:
        raise FleetError(f"{visible(path)} has version {head.get('version')!r}, of which this onnx-lint knows nothing")
    held = _at(head, ("tool", "specification"))
    names = [_at(held, (name,)) for name in ("edition", "variant")]
    if not all(isinstance(name, str) for name in names) or not isinstance(head.get("models", 0), int):
        raise FleetError(f"{visible(path)} is none that a scan writes")
    return head


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
"""What has to be the same for a scan to go on, and what it is called."""


def check_same(folder: str, known: Mapping[str, Any], head: Mapping[str, Any]) -> None:
    """Raise FleetError unless the scan that `head` describes may go on with the reports of the one known."""
    for path, name in _COMPARED.items():
        before, now = _at(known, path), _at(head, path)
        if before != now:
            shown = f" ({_shown(before)} then, {_shown(now)} now)" if path[-1] not in {"rules", "settings"} else ""
            raise FleetError(
                f"{visible(folder)} is of a scan that differs in {name}{shown}: choose another folder, or --anew to"
                " forget what is there"
            )


def _at(value: Any, path: Sequence[str]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _shown(value: Any) -> str:
    text = visible(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= 100 else f"{text[:97]}..."
