# SPDX-License-Identifier: Apache-2.0
"""The kinds of value that a key of the configuration may have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from onnx_lint.common.distribution import is_url
from onnx_lint.common.record import Record


class ValueKind(Record):
    """The values that a key allows: in words, as JSON Schema, and as a predicate on values from TOML."""

    wanted: str
    schema: Mapping[str, Any]
    accepts: Callable[[Any], bool]
    entries: ValueKind | None = None
    """The kind of the entries of a table."""
    allowed: Sequence[str] = ()
    """The words of a choice."""


def choice(words: Sequence[str]) -> ValueKind:
    """Return the kind of values that are one of some words."""
    return ValueKind(f"one of {', '.join(words)}", {"enum": list(words)}, lambda value: value in words, allowed=words)


def table(entries: ValueKind, schema: Mapping[str, Any] | None = None, *, wanted: str = "a table") -> ValueKind:
    """Return the kind of tables whose entries are all of one kind."""
    found = {"type": "object", "additionalProperties": dict(entries.schema), **(schema or {})}
    return ValueKind(wanted, found, lambda value: isinstance(value, dict), entries)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


FLAG: Final = ValueKind("true or false", MappingProxyType({"type": "boolean"}), lambda value: isinstance(value, bool))
TEXT: Final = ValueKind(
    "a string", MappingProxyType({"type": "string"}), lambda value: isinstance(value, str) and value != ""
)
WHOLE: Final = ValueKind(
    "a whole number of at least 1", MappingProxyType({"type": "integer", "minimum": 1}), lambda value: _is_whole(value)
)
COUNT: Final = ValueKind(
    "a whole number of at least 0",
    MappingProxyType({"type": "integer", "minimum": 0}),
    lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
)
URL: Final = ValueKind(
    "an http or https address",
    MappingProxyType({"type": "string", "format": "uri", "pattern": "^https?://"}),
    lambda value: isinstance(value, str) and is_url(value),
)
TEXTS: Final = ValueKind(
    "a list of strings", MappingProxyType({"type": "array", "items": {"type": "string"}}), lambda value: _is_list(value)
)
ANY: Final = ValueKind("a value", MappingProxyType({}), lambda _: True)
