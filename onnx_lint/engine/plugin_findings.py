# SPDX-License-Identifier: Apache-2.0
"""Checks the types in the findings of plugins, so that a wrong one is blamed on the plugin and costs its rule alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Any, Final

from onnx_lint.engine.registry import Registered
from onnx_lint.model import Edit, Fix, Place
from onnx_lint.rule import Finding, Related, RuleError

_TYPES: Final[dict[str, tuple[type, str]]] = {
    "place": (Place, "a Place"),
    "message": (str, "a string"),
    "clause": (str, "the id of a clause, a string"),
    "allowed": (str, "a string"),
    "offset": (int, "a whole number"),
    "subject": (str, "a string"),
    "length": (int, "a whole number"),
    "collective": (bool, "True or False"),
    "count": (int, "a whole number"),
    "anchor": (str, "a string"),
    "cause": (str, "a string"),
    "hint": (str, "a string"),
    "fix": (Fix, "a Fix"),
}
"""The type of each field of a finding but its tuples, and the type in words."""

_REQUIRED: Final = frozenset({"place", "message", "collective", "count"})
"""The fields that cannot be None."""


def checked(entry: Registered, findings: Iterable[Any]) -> Iterator[Finding]:
    """Yield the findings of a rule of a plugin. Raises RuleError, which names the plugin, at the first wrong one."""
    for finding in findings:
        fault = _fault_of(finding)
        if fault is not None:
            raise RuleError(f"rule {entry.id!r} in {entry.module} {fault}")
        yield finding


def _fault_of(finding: Any) -> str | None:
    """Return what is wrong with an object that a rule yields; None if nothing is."""
    if not isinstance(finding, Finding):
        return f"yields {'None' if finding is None else f'a value {_kind(finding)}'}, not a Finding"
    for name, (wanted, words) in _TYPES.items():
        value = getattr(finding, name)
        if not isinstance(value, wanted) and (value is not None or name in _REQUIRED):
            return f"yields a Finding whose {name!r} is {_kind(value)}, not {words}"
    if not _is_tuple_of(finding.related, Related):
        return f"yields a Finding whose 'related' is {_kind(finding.related)}, not a tuple of Related"
    parts: list[tuple[Any, Any]] = [(related.place, related.message) for related in finding.related]
    if not all(isinstance(place, Place) and isinstance(message, str) for place, message in parts):
        return "yields a Finding with a Related that is not a Place and a string"
    if finding.fix is not None and not _is_tuple_of(finding.fix.edits, Edit):
        return f"yields a Finding with a Fix whose 'edits' is {_kind(finding.fix.edits)}, not a tuple of edits"
    return None


def _is_tuple_of(value: Any, kind: type | UnionType) -> bool:
    return isinstance(value, tuple) and all(isinstance(item, kind) for item in value)


def _kind(value: Any) -> str:
    """Return the type of a value for a message; of a tuple, with those of its items."""
    if isinstance(value, tuple) and value:
        return f"a tuple of {', '.join(sorted({type(item).__name__ for item in value}))}"
    return "None" if value is None else f"of type {type(value).__name__}"
