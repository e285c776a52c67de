# SPDX-License-Identifier: Apache-2.0
"""Checks the types in the findings of plugins, so that a wrong one is blamed on the plugin and costs its rule alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, get_args, get_origin, get_type_hints

from onnx_lint.common.option_types import in_words
from onnx_lint.engine.registry import Registered
from onnx_lint.model import Edit, Fix, Place
from onnx_lint.rule import Finding, Record, Related, RuleError


def checked(entry: Registered, findings: Iterable[Any]) -> Iterator[Finding]:
    """Yield the findings of a rule of a plugin. Raises RuleError, which names the plugin, at the first wrong one."""
    types = {kind: get_type_hints(kind, localns={"Place": Place, "Fix": Fix}) for kind in (Finding, Related)}
    fault: str | None
    for finding in findings:
        if not isinstance(finding, Finding):
            fault = f"{'None' if finding is None else f'a value {_kind(finding)}'}, not a Finding"
        else:
            fault = _fault_of(finding, types[Finding], "a Finding") or next(
                filter(None, (_fault_of(each, types[Related], "a Related") for each in finding.related)), None
            )
        if fault is not None:
            raise RuleError(f"rule {entry.id!r} in {entry.module} yields {fault}")
        yield finding


def _fault_of(record: Record, types: dict[str, Any], name: str) -> str | None:
    """Return the first field with a value of another type than its annotation; None if there is none."""
    values = [(field, getattr(record, field), wanted) for field, wanted in types.items()]
    if isinstance(fix := getattr(record, "fix", None), Fix):
        values.append(("fix.edits", fix.edits, tuple[Edit, ...]))
    for field, value, wanted in values:
        items = get_args(wanted)[0] if get_origin(wanted) is tuple else None
        is_right = isinstance(value, wanted if items is None else tuple)
        if not is_right or (items is not None and not all(isinstance(item, items) for item in value)):
            # A union has a name as well, from Python 3.14 on.
            noun = items.__name__ if isinstance(items, type) else "edits"
            words = in_words(wanted) if items is None else f"a tuple of {noun}"
            return f"{name} whose {field!r} is {_kind(value)}, not {words}"
    return None


def _kind(value: Any) -> str:
    """Return the type of a value for a message; of a tuple, with those of its items."""
    if isinstance(value, tuple) and value:
        return f"a tuple of {', '.join(sorted({type(item).__name__ for item in value}))}"
    return "None" if value is None else f"of type {type(value).__name__}"
