# SPDX-License-Identifier: Apache-2.0
"""Checks values of a configuration against their kinds. Few runs have any, so this is imported late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from onnx_lint.engine.value_kinds import Path, ValueKind
from onnx_lint.wording import suggestion


class ValueKindError(ValueError):
    """A value that a kind does not accept. The text says what is allowed."""

    def __init__(self, path: Path, text: str) -> None:
        super().__init__(text)
        self.path = path


def checked_values(path: Path, value: Any, kind: ValueKind) -> Iterator[tuple[Path, Any]]:
    """Yield the value at a path; of a table the values and empty tables in it, each with its own path.

    Raises ValueKindError for the first value that its kind does not accept.
    """
    if not kind.accepts(value):
        raise ValueKindError(path, f"requires {kind.wanted}, not {_shown_fault(value, kind)}{_spelling(value, kind)}")
    if not kind.is_table or (not value and len(path) > 1):  # an empty table below a key may name a rule
        yield path, value
        return
    for name, item in value.items():
        entry = kind.fields.get(name, kind.entries)
        if entry is None:
            others = f"; the keys are {', '.join(kind.fields)}"
            raise ValueKindError(path, f"unknown key {name!r}{suggestion(name, kind.fields) or others}")
        yield from checked_values((*path, name), item, entry)


def _spelling(value: Any, kind: ValueKind) -> str:
    """Return the hint to write a number as text, or one text as a list, if the kind accepts that.

    TOML reads `edition = 1.23` as a number. Where any text is allowed, such as a path, no number was meant.
    """
    if isinstance(value, str):
        return f"; write [{value!r}]" if kind.accepts([value]) else ""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f'; write "{value}", with quotes' if is_number and kind.accepts(str(value)) and not kind.accepts("x") else ""


def _shown_fault(value: Any, kind: ValueKind) -> str:
    """Return a value that a kind does not accept, in words; of a list or table the first wrong item."""
    # A kind that takes tables, perhaps beside lists: the empty table shows it, or the schema if that is not allowed.
    takes_tables = kind.accepts({}) or "minProperties" in kind.schema
    if isinstance(value, Mapping) and value and takes_tables:
        return _wrong_entry(value, kind)
    return _wrong_item(value, kind) if isinstance(value, list) else shown_value(value)


def _wrong_entry(value: Mapping[str, Any], kind: ValueKind) -> str:
    """Return the first wrong entry of a table, in words; the table if each entry is right."""
    name = next((name for name in value if not kind.accepts({name: value[name]})), None)
    if name is None:
        return shown_value(value)
    item = shown_value(value[name])
    is_plain = name.strip() and item not in ("a list", "a table")
    return f"a table with {item} for {name!r}" if is_plain else f"a table with a wrong entry {name!r}"


def _wrong_item(items: list[Any], kind: ValueKind) -> str:
    """Return the first wrong or repeated item of a list, in words; the list if each item is right."""
    wrong = next((index for index, item in enumerate(items) if not kind.accepts([item])), None)
    if wrong is not None:
        return f"a list with {shown_value(items[wrong])} (item {wrong + 1})"
    twice = next((item for item in items if items.count(item) > 1 and not kind.accepts([item, item])), None)
    return shown_value(items) if twice is None else f"a list with {shown_value(twice)} twice"


def shown_value(value: Any) -> str:
    """Return a value of TOML for a message."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "a table" if value else "an empty table"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if value == "":
        return "an empty string"
    text = repr(value) if isinstance(value, str | int | float) else f"the date or time {value}"
    return text if len(text) <= 60 else f"{text[:57]}..."
