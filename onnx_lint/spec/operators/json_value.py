# SPDX-License-Identifier: Apache-2.0
"""Strict reading of JSON documents: each value knows its place, and every error names it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

from onnx_lint.common.record import Record
from onnx_lint.spec.operators.schema import SchemaFileError
from onnx_lint.wording import quote, suggestion

_TYPE_NAMES: Final[Mapping[type, str]] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    type(None): "null",
}


class JsonValue(Record):
    """A value of the JSON document and its place."""

    data: Any
    place: str
    """The keys and indices that lead to the value: `operators[0].name`; empty for the document."""
    path: str | Path

    def fail(self, reason: str) -> NoReturn:
        """Raise SchemaFileError for this place."""
        raise SchemaFileError(self.path, self.place, reason)

    def at(self, key: str) -> JsonValue:
        """Return the value under a key of an object, which must exist."""
        return JsonValue(self.data[key], f"{self.place}.{key}" if self.place else key, self.path)

    def expect(self, *types: type) -> Any:
        """Return the data if it has one of the types; otherwise raise SchemaFileError."""
        # The exact type: JSON's true is not a number, but Python's True is an int.
        if type(self.data) not in types:
            self.fail(f"{_TYPE_NAMES[type(self.data)]} where {' or '.join(_TYPE_NAMES[t] for t in types)} is expected")
        return self.data

    def expect_keys(self, keys: Collection[str], required: Iterable[str]) -> None:
        """Raise SchemaFileError for a key that is not in `keys`, or a required key that is missing."""
        self.expect(dict)
        for key in self.data:
            if key not in keys:
                self.fail(f"unknown key {quote(key)}{suggestion(key, keys)}")
        for key in required:
            self._require(key)

    def _require(self, key: str) -> None:
        if key not in self.data:
            self.fail(f"key '{key}' is missing")

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        """Return the data under a key if it has the type, or the default if the key is absent."""
        return self.at(key).expect(kind) if key in self.data else default

    def name(self) -> str:
        """Return the text under the key `name`. It must exist and must not be empty."""
        self._require("name")
        value: str = self.get("name", str)
        if not value:
            self.at("name").fail("the name is empty")
        return value

    def choice(self, key: str, allowed: Collection[str], default: str | None = None) -> str:
        """Return the text under a key if it is one of the allowed; the key must exist unless there is a default."""
        if default is None:
            self._require(key)
        value: str = self.get(key, str, default)
        if value not in allowed:
            self.at(key).fail(f"{quote(value)} is not one of {', '.join(sorted(allowed))}{suggestion(value, allowed)}")
        return value

    def elements(self) -> list[JsonValue]:
        """Return the elements of an array."""
        self.expect(list)
        return [JsonValue(item, f"{self.place}[{i}]", self.path) for i, item in enumerate(self.data)]

    def items(self, key: str) -> list[JsonValue]:
        """Return the elements of the array under a key; none if the key is absent."""
        return self.at(key).elements() if key in self.data else []


def parse(path: str | Path, data: bytes) -> Any:
    """Return the JSON document in a file, parsed strictly: a duplicate key or NaN is an error.

    Raises SchemaFileError for anything that is not JSON.
    """
    try:
        return json.loads(data.decode(), object_pairs_hook=_object, parse_constant=_constant)
    except UnicodeDecodeError as error:
        raise SchemaFileError(path, "", f"byte {error.start} is not UTF-8") from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise SchemaFileError(path, place, f"not JSON: {error.msg}") from error
    except RecursionError as error:
        raise SchemaFileError(path, "", "nested too deep") from error
    except ValueError as error:  # _FaultyJsonError, and numbers with more digits than Python accepts
        raise SchemaFileError(path, "", str(error)) from error


class _FaultyJsonError(ValueError):
    """JSON that Python would accept, with a duplicate key or a constant that JSON does not have."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        key = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise _FaultyJsonError(f"key {quote(key)} occurs twice")
    return found


def _constant(text: str) -> NoReturn:
    raise _FaultyJsonError(f"{text} is not JSON")
