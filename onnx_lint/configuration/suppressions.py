# SPDX-License-Identifier: Apache-2.0
"""The suppressions in a configuration."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from onnx_lint.configuration.errors import ConfigurationError
from onnx_lint.configuration.values import SetValue, SetValues
from onnx_lint.engine.registry import registry
from onnx_lint.engine.suppressions import Suppression
from onnx_lint.wording import suggestion


def suppressions_in(values: SetValues) -> tuple[Suppression, ...]:
    """Return the suppressions in the values of a configuration.

    Raises ConfigurationError for one without a rule or a reason, for a blank reason, and for an unknown rule.
    """
    entries: dict[str, dict[str, SetValue]] = {}
    for path, value in values.items():
        if path[0] == "suppress" and len(path) == 3:
            entries.setdefault(path[1], {})[path[2]] = value
    return tuple(_suppression(where, entry) for where, entry in entries.items())


def _suppression(where: str, entry: Mapping[str, SetValue]) -> Suppression:
    for name in ("rule", "reason"):
        if name not in entry:
            raise ConfigurationError(f"{where}: suppress: an entry requires a {name}")
    if not entry["reason"].value.strip():
        raise ConfigurationError(f"{where}: suppress: an entry requires a reason that is not blank")
    rule = entry["rule"].value
    if rule not in registry():
        raise ConfigurationError(f"{where}: suppress: unknown rule {rule!r}{suggestion(rule, registry())}")
    text: dict[str, Any] = {name: entry[name].value if name in entry else "" for name in ("reason", "place", "file")}
    until = datetime.date.fromisoformat(entry["until"].value) if "until" in entry else None
    return Suppression(where=where, rule=rule, directory=entry["rule"].origin.directory, until=until, **text)
