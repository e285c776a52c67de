# SPDX-License-Identifier: Apache-2.0
"""The kinds of value that a setting or an option of a rule may have.

Each kind says in words what it allows, as JSON Schema, and as a predicate. A wrong value of any setting is found here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from onnx_lint.common.record import EMPTY, Record, replace
from onnx_lint.input.limits import MAX_SECONDS, SIZE_PATTERN, parse_size
from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES
from onnx_lint.spec.releases import DOMAIN_ALIAS, NEWEST_IR_VERSION, NEWEST_OPSET
from onnx_lint.spec.version_range import is_range, range_pattern

Path = tuple[str, ...]
"""A key and, in tables, the keys below it: `("severity", "non-c90-name")`."""


class ValueKind(Record):
    """The values that a key allows: in words, as JSON Schema, and as a predicate on values from TOML."""

    wanted: str
    schema: Mapping[str, Any]
    accepts: Callable[[Any], bool]
    entries: ValueKind | None = None
    """The kind of the entries of a table."""
    fields: Mapping[str, ValueKind] = EMPTY
    """The kind of each entry of a table whose entries differ."""
    allowed: Sequence[str] = ()
    """The words of a choice."""
    option: str = "text"
    """How an option reads it, a name in `onnx_lint.cli.options`."""

    @property
    def is_table(self) -> bool:
        """True if the value is a table."""
        return self.entries is not None or bool(self.fields)


def choice(words: Sequence[str]) -> ValueKind:
    """Return the kind of values that are one of some words."""
    return ValueKind(
        f"one of {', '.join(words)}",
        {"enum": list(words)},
        lambda value: value in words,
        allowed=words,
        option="choice",
    )


def table(entries: ValueKind, schema: Mapping[str, Any] | None = None, *, wanted: str = "a table") -> ValueKind:
    """Return the kind of tables whose entries are all of one kind."""
    found = {"type": "object", "additionalProperties": dict(entries.schema), **(schema or {})}
    return ValueKind(wanted, found, lambda value: isinstance(value, dict), entries)


def fields(kinds: Mapping[str, ValueKind]) -> ValueKind:
    """Return the kind of tables that may have these entries, each of its kind."""
    properties = {name: dict(kind.schema) for name, kind in kinds.items()}
    schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return ValueKind("a table", schema, lambda value: isinstance(value, dict), fields=kinds)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


_DATE_PATTERN: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}"


def _is_date(text: str) -> bool:
    import datetime

    try:
        return re.fullmatch(_DATE_PATTERN, text) is not None and datetime.date.fromisoformat(text) is not None
    except ValueError:
        return False


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


FLAG: Final = ValueKind("true or false", {"type": "boolean"}, lambda value: isinstance(value, bool), option="flag")


def _is_filled(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


TEXT: Final = ValueKind("a non-empty string", {"type": "string", "pattern": r"\S"}, _is_filled)
WHOLE: Final = ValueKind(
    "a whole number of at least 1",
    {"type": "integer", "minimum": 1},
    lambda value: _is_whole(value),
    option="whole",
)
COUNT: Final = ValueKind(
    "a whole number of at least 0",
    {"type": "integer", "minimum": 0},
    lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
)
MAX_PROCESSES: Final = 1_024
PROCESSES: Final = replace(
    COUNT,
    wanted=f"a whole number from 0 to {MAX_PROCESSES}",
    schema={**COUNT.schema, "maximum": MAX_PROCESSES},
    accepts=lambda value: COUNT.accepts(value) and value <= MAX_PROCESSES,
    option="processes",
)
TEXTS: Final = ValueKind("a list of strings", {"type": "array", "items": {"type": "string"}}, _is_list)
FILLED: Final = ValueKind(
    "a list of non-empty strings",
    {"type": "array", "items": dict(TEXT.schema)},
    lambda value: isinstance(value, list) and all(map(_is_filled, value)),
)


def _list_of(pattern: str, wanted: str) -> ValueKind:
    """Return the kind of the lists of strings that match a pattern."""
    return ValueKind(
        wanted,
        {"type": "array", "items": {"type": "string", "pattern": f"^{pattern}$"}},
        lambda value: _is_list(value) and all(re.fullmatch(pattern, item) for item in value),
    )


def _pattern(not_allowed: str, not_in_sets: str) -> str:
    """Return what matches one character of a pattern for `fnmatch`, or one `[set]`. Each `[` needs its `]`.

    `fnmatch` takes a `[` without `]` for the character itself, so that the pattern would match nothing.
    """
    first = f"(?:![^{not_in_sets}]|[^!{not_in_sets}])"
    return rf"(?:[^\[{not_allowed}]|\[{first}[^\]{not_in_sets}]*\])"


_SETS: Final = "with a ']' for each '[' ('[[]' is the character '[')"
_WORD_PATTERN: Final = _pattern(r"\s", r"\s")
OPERATORS: Final = _list_of(
    rf"(?!\S*:$){_WORD_PATTERN}+", f"a list of operators, such as 'Loop' or 'com.microsoft::*', {_SETS}"
)
DOMAINS: Final = _list_of(rf"(?!\S*::){_WORD_PATTERN}*", f"a list of domains, such as 'ai.onnx.ml', {_SETS}")
NAMED_DOMAINS: Final = _list_of(
    r"(?!\S*::)[^\s*?\[\]=]+", "a list of whole names of domains, such as 'com.acme', without version or operator"
)
_NUL: Final = r"\u0000"
PATTERNS: Final = _list_of(
    rf"(?=\s*\S){_pattern(_NUL, _NUL)}+", f"a list of names, or of patterns with * and ?, {_SETS}"
)
_PATH_PATTERN: Final = rf"(?=\s*\S){_pattern(_NUL, _NUL + '/')}+"
_FILE_PATTERN: Final = rf"{_PATH_PATTERN}(?<!/)"
FILE_PATTERN: Final = ValueKind(
    f"a pattern for the path of a file, such as 'folder/**', without a slash at its end, {_SETS}",
    {"type": "string", "pattern": f"^{_FILE_PATTERN}$"},
    lambda value: isinstance(value, str) and re.fullmatch(_FILE_PATTERN, value) is not None,
)
PATH_PATTERNS: Final = _list_of(
    _PATH_PATTERN, f"a list of patterns for names or paths, such as 'old-*' or 'folder/**', {_SETS}"
)
METADATA: Final = ValueKind(
    "a list of non-empty keys, or a table with a list of non-empty patterns for the value of each key",
    {
        "oneOf": [
            dict(FILLED.schema),
            {
                "type": "object",
                "propertyNames": {"pattern": r"\S"},
                "additionalProperties": {**PATTERNS.schema, "minItems": 1},
            },
        ]
    },
    lambda value: (
        all(map(_is_filled, value)) and all(item != [] and PATTERNS.accepts(item) for item in value.values())
        if isinstance(value, dict)
        else FILLED.accepts(value)
    ),
)
LISTED: Final = ValueKind(
    "a list of 'inputs', 'outputs' or both",
    {"type": "array", "items": {"enum": ["inputs", "outputs"]}},
    lambda value: _is_list(value) and {"inputs", "outputs"}.issuperset(value),
)
NAMES: Final = replace(
    _list_of(r"[\s,]*[^\s,][\s\S]*", "a list of rule ids, chapters, 'error', 'warning', 'note' or 'ALL'"),
    option="names",
)
TARGET_NAMES: Final = replace(FILLED, wanted="a list of targets, such as 'onnxruntime=1.32' or 'ai.onnx=17'")
PATH: Final = replace(TEXT, wanted="a path", option="path")
PATHS: Final = replace(FILLED, wanted="a list of paths", option="path")
FOLDER: Final = replace(TEXT, wanted="the path of a folder", option="folder")
FOLDERS: Final = replace(FILLED, wanted="a list of folders", option="folder")
NEW_FOLDER: Final = replace(FOLDER, option="new folder")
SECONDS: Final = ValueKind(
    f"a number of seconds, at most {MAX_SECONDS}",
    {"type": "number", "exclusiveMinimum": 0, "maximum": MAX_SECONDS},
    lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= MAX_SECONDS,
    option="seconds",
)


def at_least_one(kind: ValueKind) -> ValueKind:
    """Return the kind of the lists, or of the lists and tables, of a kind that are not empty."""
    of_tables = {} if kind.schema.get("type") == "array" else {"minProperties": 1}
    return replace(
        kind,
        wanted=f"{kind.wanted} (at least one)",
        schema={**kind.schema, "minItems": 1, **of_tables},
        accepts=lambda value: kind.accepts(value) and len(value) > 0,
    )


RANGE: Final = ValueKind(
    "a version such as 19, or a range such as '17..21', '17..' or '..21', the lower version first",
    {"oneOf": [{**WHOLE.schema, "maximum": 10**9 - 1}, {"type": "string", "pattern": f"^({range_pattern()})$"}]},
    lambda value: (_is_whole(value) or isinstance(value, str)) and is_range(str(value)),
)


def _range_to(newest: int, what: str) -> ValueKind:
    """Return the kind of the ranges of versions that exist. `what`: what a version is called."""
    number = f"0{{0,9}}({'|'.join(map(str, range(1, newest + 1)))})"
    pattern = f"^({range_pattern(number)})$"
    middle = (newest + 1) // 2
    several = (
        f"{what} from 1 to {newest}, or a range such as '{middle}..{newest}', '{middle}..' or '..{newest}', "
        "the lower version first"
    )
    return ValueKind(
        "1, which is the only version" if newest == 1 else several,
        {"oneOf": [{**WHOLE.schema, "maximum": newest}, {"type": "string", "pattern": pattern}]},
        lambda value: RANGE.accepts(value) and is_range(str(value), newest),
    )


def _opset_ranges() -> ValueKind:
    published = {domain: _range_to(newest, "a version") for domain, newest in NEWEST_OPSET.items()}
    published[DOMAIN_ALIAS] = published[""]
    properties = {domain: dict(kind.schema) for domain, kind in published.items()}
    schema = {"properties": properties, "propertyNames": {"pattern": r"^\S*$"}}
    return replace(table(RANGE, schema), fields=published)


IR_VERSIONS: Final = _range_to(NEWEST_IR_VERSION, "an IR version")
OPSETS: Final = _opset_ranges()
"""A range for each domain, of versions that exist if ONNX publishes the domain."""
SIZE: Final = ValueKind(
    "a number of bytes of at least 1, or a size such as '100MiB'",
    {"type": ["integer", "string"], "minimum": 1, "pattern": f"^(?!\\s*[0_]+\\s*[A-Za-z]*\\s*$){SIZE_PATTERN[1:]}"},
    lambda value: _is_whole(value) or (isinstance(value, str) and bool(parse_size(value))),
)
DATE: Final = ValueKind(
    "a date such as 2027-01-31",
    {"type": "string", "format": "date", "pattern": f"^{_DATE_PATTERN}$"},
    lambda value: isinstance(value, str) and _is_date(value),
)
_WORD: Final = f"(?:{'|'.join(ELEMENT_TYPE_NAMES)})"
_MAP: Final = r"map\((?:u?int(?:8|16|32|64)|string), "
_INNERMOST: Final = rf"(?:seq|optional)\((?:sparse_)?tensor\({_WORD}\)|{_MAP}(?:{_WORD}|sparse_tensor\({_WORD}\))"
_OTHER: Final = rf"(?:seq\(|optional\(|{_MAP})*(?:{_INNERMOST})\)+"
_TYPE_PATTERN: Final = rf"^({_WORD}|sparse_tensor\({_WORD}\)|{_OTHER}|opaque\([^()]*\))$"
VALUE_TYPE: Final = ValueKind(
    "an element type such as 'float' or 'int64' for a tensor, or another type as messages have it, such as "
    "'seq(tensor(float))', 'optional(tensor(float))', 'map(int64, float)' or 'sparse_tensor(float)'",
    {"type": "string", "pattern": _TYPE_PATTERN},
    lambda value: (
        isinstance(value, str)
        and re.fullmatch(_TYPE_PATTERN, value) is not None
        and value.count("(") == value.count(")")
    ),
)
ELEMENT_TYPES: Final = ValueKind(
    f"a list of names of element types: {', '.join(ELEMENT_TYPE_NAMES)}",
    {"type": "array", "items": {"enum": list(ELEMENT_TYPE_NAMES)}},
    lambda value: _is_list(value) and all(name in ELEMENT_TYPE_NAMES for name in value),
)
_LARGEST: Final = 2**63 - 1
"""The largest size of a dimension."""
_VARIABLE_PATTERN: Final = r"(?!\s*[-+]?[0-9]*\s*$)[\s\S]+"
"""A number is not allowed: it would be a variable of any size."""
SHAPE: Final = ValueKind(
    "a list of sizes without quotes, names of variables, '*' or one '...'",
    {
        "type": "array",
        "items": {
            "oneOf": [
                {**COUNT.schema, "maximum": _LARGEST},
                {"type": "string", "pattern": f"^{_VARIABLE_PATTERN}$"},
            ]
        },
    },
    lambda value: (
        isinstance(value, list)
        and all(
            (COUNT.accepts(item) and item <= _LARGEST)
            or (isinstance(item, str) and re.fullmatch(_VARIABLE_PATTERN, item))
            for item in value
        )
        and value.count("...") <= 1
    ),
)
ANY: Final = ValueKind("a value", {}, lambda _: True)
VALUES: Final = replace(
    table(fields({"type": VALUE_TYPE, "shape": SHAPE}), {"propertyNames": {"pattern": r"\S"}}),
    wanted="a table with an entry for each name, which is not empty",
    accepts=lambda value: isinstance(value, dict) and all(map(_is_filled, value)),
)
