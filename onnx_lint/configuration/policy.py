# SPDX-License-Identifier: Apache-2.0
"""The table `policy`: what the user requires of models, as options of the rules that check it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from onnx_lint.common.record import EMPTY, Record
from onnx_lint.configuration.values import SetValue, SetValues
from onnx_lint.input.limits import parse_size
from onnx_lint.spec.clauses import clauses

_CLAUSES: Final = {
    "operators": "POL-1",
    "domains": "POL-2",
    "opsets": "POL-3",
    "element-types": "POL-4",
    "ir-version": "POL-5",
    "metadata": "POL-6",
    "inputs": "POL-7",
    "outputs": "POL-7",
    "max-size": "POL-8",
}
"""The clause of each entry of the table."""

_OF_OPTIONS: Final = frozenset({"operators", "domains", "element-types"})
"""The entries whose own entries are options of the rule; all others are one option."""

_EMPTY: Final = {(name,) for name in _OF_OPTIONS}
"""The paths of empty tables that require nothing."""


class Policy(Record):
    """A policy, as options of rules."""

    options: Mapping[str, Mapping[str, Any]] = EMPTY
    """The options by rule id. The rules are those that the policy turns on."""
    lines: Mapping[str, str] = EMPTY
    """The file and line of each entry, such as `operators.forbid`."""


def policy_in(values: SetValues) -> Policy:
    """Return the policy in the values of a configuration."""
    options: dict[str, dict[str, Any]] = {}
    lines: dict[str, str] = {}
    for path, value in values.items():
        if path[0] != "policy" or len(path) < 2 or path[1:] in _EMPTY:
            continue
        _, entry, *names = path
        option = [] if entry in _OF_OPTIONS else [entry.replace("-", "_")]
        [rule] = clauses()[_CLAUSES[entry]].rules
        found = options.setdefault(rule, {})
        *outer, last = [*option, *names]
        for name in outer:
            found = found.setdefault(name, {})
        found[last] = _plain(entry, value.value)
        # An input has entries of its own, and a finding is about all of them.
        lines.setdefault(".".join([entry, *names[:1]]), _place(value))
    return Policy(options, lines)


def _plain(entry: str, value: Any) -> Any:
    if entry == "max-size" and isinstance(value, str):
        return parse_size(value)
    return str(value) if entry in {"opsets", "ir-version"} else value


def _place(value: SetValue) -> str:
    return f"{value.origin.shown}:{value.line}" if value.line else value.origin.shown
