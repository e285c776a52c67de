# SPDX-License-Identifier: Apache-2.0
"""Limits on what onnx-lint reads, checks and reports.

A model is input from a stranger. A file beyond one of the first limits is not checked, and the message names the option
and a value that suffices. The other limits protect consumers, bound what is fetched or read besides the model, and
bound the number of findings. Honest models reach none of the defaults, and each can be set.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from onnx_lint.common.record import Record, field_names, replace
from onnx_lint.wording import suggestion


class LimitError(ValueError):
    """A limit that does not exist or cannot have this value. The text says which."""


class Limits(Record):
    """The limits, each a whole number from `least` to `most`."""

    file_bytes: int = 1 << 34
    """Bytes of the file, tensors included. Standard input is kept on disk up to this size."""
    text_bytes: int = 1 << 28
    """Bytes of a model in text or JSON. Their parsers need about a second per million bytes."""
    memory: int = 1 << 31
    """Bytes of memory that the model is estimated to need, before any of it is parsed. Large tensors stay in the file
    and do not count; long lists of numbers and strings in attributes stay there as well, and count little. It also
    bounds the answers of a store to one listing."""
    fields: int = 50_000_000
    """Fields that are parsed one by one: those of the graphs of a large file, and those of messages that are not
    encoded canonically.
    """
    graph_nesting: int = 10
    """Graphs inside one another, not counting the outermost."""
    expanded_nodes: int = 1_000_000
    """Nodes of the model after each function call is replaced by the function's body."""
    name_characters: int = 10_000
    """Characters of the name of a value, node, operator, attribute, graph or function."""
    external_bytes: int = 1 << 36
    """Bytes of files of external data that are read for one model to verify their checksums."""
    download_bytes: int = 1 << 26
    """Bytes of a remote model that are fetched whole if its server has no range requests."""
    request_seconds: int = 60
    """Seconds that a store may take to answer a request for a part of a remote model."""
    remote_seconds: int = 3_600
    """Seconds that all requests for one remote model, or for one listing, may take together."""
    processor_seconds: int = 600
    """Seconds of processor time for one file, without reading it in other threads; 0 for no limit."""
    findings_per_rule: int = 1_000
    """Findings of one rule in one file."""
    findings: int = 10_000
    """Findings in one file; after that, each further rule reports at most one."""

    def __post_init__(self) -> None:
        for name in field_names(Limits):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not least(name) <= value <= most(name):
                raise LimitError(f"the limit {name!r} requires {wanted(name)}, not {value!r}")

    def with_values(self, values: Mapping[str, Any]) -> Limits:
        """Return these limits with other values for some: whole numbers, or their text, perhaps with a unit of bytes.

        Raises LimitError for an unknown name or a wrong value.
        """
        for name in values:
            if name not in NAMES:
                others = f"; the limits are {', '.join(NAMES)}"
                raise LimitError(f"unknown limit {name!r}{suggestion(name, NAMES) or others}")
        return replace(self, **{name: _parsed(name, value) for name, value in values.items()})


NAMES: Final = field_names(Limits)
"""The names of all limits."""

BYTE_LIMITS: Final = frozenset({"file_bytes", "text_bytes", "memory", "external_bytes", "download_bytes"})
"""The limits in bytes, whose values may have a unit."""

OPTIONAL: Final = frozenset({"processor_seconds"})
"""The limits that the value 0 switches off."""

MAX_SECONDS: Final = 100_000_000
"""The most seconds of a limit on time, about three years. Timers of operating systems refuse much longer times."""

_UNITS: Final = MappingProxyType(
    {
        "": 1,
        "kb": 10**3,
        "kib": 1 << 10,
        "mb": 10**6,
        "mib": 1 << 20,
        "gb": 10**9,
        "gib": 1 << 30,
        "tb": 10**12,
        "tib": 1 << 40,
    }
)

SIZE_PATTERN: Final = r"^\s*[0-9][0-9_]*\s*([kKmMgGtT][iI]?[bB])?\s*$"
"""A number of bytes with or without a unit, also for JSON Schema."""


def least(name: str) -> int:
    """Return the least value of a limit."""
    return 0 if name in OPTIONAL else 1


def most(name: str) -> int:
    """Return the greatest value of a limit."""
    return MAX_SECONDS if name.endswith("_seconds") else (1 << 63) - 1


def is_allowed(name: str, value: Any) -> bool:
    """Return whether a limit may have a value, as `Limits.with_values` takes it."""
    try:
        DEFAULT_LIMITS.with_values({name: value})
    except LimitError:
        return False
    return True


def wanted(name: str) -> str:
    """Return the values that a limit may have, in words."""
    number = "a whole number, or one with a unit such as 4GiB," if name in BYTE_LIMITS else "a whole number"
    greatest = str(most(name)) if most(name) == MAX_SECONDS else "2^63 - 1"
    return f"{number} from {least(name)} to {greatest}"


def _parsed(name: str, value: Any) -> Any:
    """Return the number in a text; other values are returned unchanged. Raises LimitError."""
    if not isinstance(value, str):
        return value
    size = parse_size(value)
    if size is None or (name not in BYTE_LIMITS and value.strip()[-1] in "bB"):
        raise LimitError(f"the limit {name!r} requires {wanted(name)}, not {value!r}")
    return size


def parse_size(text: str) -> int | None:
    """Return the number of bytes in a text; None if it is none."""
    if len(text) > _MAX_CHARACTERS or not re.match(SIZE_PATTERN, text):
        return None
    number = text.strip().rstrip("kKmMgGtTiIbB")
    return int(number) * _UNITS[text.strip()[len(number) :].lower()]


_MAX_CHARACTERS: Final = 100
"""No size needs more, and Python refuses to read thousands of digits."""


DEFAULT_LIMITS: Final = Limits()

LIMIT_OF_REPORT: Final = "FIL-10a"
"""The clause that no finding is left out."""


def exceeded(name: str, limits: Limits, actual: str) -> str:
    """Return the message that the limit `name` is exceeded by `actual`, a description of the model."""
    value = getattr(limits, name)
    return f"{actual}, more than the limit {name} of {value:,} (option --limit {name}=N)"


def refusal(name: str, limits: Limits, actual: str, needed: int | None) -> str:
    """Return the reason why a file is not checked. `actual`: a description; `needed`: a value that would suffice."""
    allowed = shown_limit(name, getattr(limits, name))
    option = f"option --limit {name}" if needed is None else f"--limit {name}={_rounded_up(name, needed)} suffices"
    return f"{actual}, more than the limit {name} of {allowed} ({option})"


def describe_limit(name: str, limits: Limits) -> str:
    """Return what the limit `name` allows, in a few words."""
    return f"at most {getattr(limits, name):,}, the limit {name}"


def shown_limit(name: str, value: int) -> str:
    """Return the value in the largest unit that divides it: `2 GiB`."""
    if name in BYTE_LIMITS:
        for unit in ("GiB", "MiB", "KiB"):
            if value % _UNITS[unit.lower()] == 0:
                return f"{value // _UNITS[unit.lower()]:,} {unit}"
    return f"{value:,}"


def size_in_words(size: int) -> str:
    """Return an approximate number of bytes: `5.3 GiB`, `800 bytes`."""
    for unit in ("GiB", "MiB", "KiB"):
        if size >= _UNITS[unit.lower()]:
            return f"{size / _UNITS[unit.lower()]:,.1f} {unit}"
    return f"{size} bytes"


def _rounded_up(name: str, value: int) -> str:
    """Return a value of at least this, as the option accepts it: `6GiB`."""
    if name not in BYTE_LIMITS:
        return str(value)
    unit = next((unit for unit in ("GiB", "MiB", "KiB") if value > _UNITS[unit.lower()]), "")
    return f"{-(-value // _UNITS[unit.lower()])}{unit}"
