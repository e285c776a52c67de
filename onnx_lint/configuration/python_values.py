# SPDX-License-Identifier: Apache-2.0
"""Converts the settings of the library, which are objects of Python, to values of `Request`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

from onnx_lint.common.record import Record
from onnx_lint.configuration.errors import RequestError
from onnx_lint.configuration.pairs import from_mapping, from_texts
from onnx_lint.configuration.settings import Request, Setting

_FIELDS: Final = {"severity": "severities", "options": "rule_options", "target": "targets"}
"""The fields of `Request` with another name than the setting."""


def request_fields(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of `Request` for settings by name.

    Raises TypeError for a value of another type, and ValueError for a word or a pair that a setting does not have.
    """
    return {_FIELDS.get(name, name): _converted(name, value) for name, value in settings.items()}


class _WrongTypeError(Exception):
    """Raised for a value whose type a setting does not take. The text is what it takes."""


class _TextKind(Record):
    """The types of a text, and what an error calls it."""

    types: tuple[type[Any], ...]
    noun: str


_TEXT: Final = _TextKind((str,), "string")
_PATH: Final = _TextKind((str, os.PathLike), "path")


def _converted(name: str, value: Any) -> Any:
    try:
        return _value(Request.settings[_FIELDS.get(name, name)], value)
    except _WrongTypeError as error:
        raise TypeError(f"{name} takes {error}, not {value!r:.100} ({type(value).__name__})") from None
    except RequestError as error:
        raise ValueError(str(error)) from None


def _value(setting: Setting, value: Any) -> Any:
    """Return the value of a setting. Raises _WrongTypeError for a value of another type, and RequestError."""
    if setting.kind.option == "flag":
        return _flag(value)
    if setting.field == "rule_options":
        return _options(value)
    if setting.is_pairs:
        return _pairs(setting, value)
    kind = _PATH if setting.kind.option in ("path", "folder") else _TEXT
    return _texts(value, kind) if setting.is_list else _text(setting, value, kind)


def _flag(value: Any) -> bool:
    """Return a value that is true or false."""
    if not isinstance(value, bool):
        raise _WrongTypeError("True or False")
    return value


def _options(value: Any) -> Any:
    """Return the options of rules."""
    if not isinstance(value, Mapping) or not all(isinstance(each, Mapping) for each in value.values()):
        raise _WrongTypeError("a mapping of rules to mappings of options")
    return value


def _pairs(setting: Setting, value: Any) -> Any:
    """Return a mapping. A string is parsed as on the command line."""
    may_be_number = setting.field == "opset_imports"
    if value is None or isinstance(value, Mapping):
        return from_mapping(setting, value or {})
    if isinstance(value, str) or (may_be_number and type(value) is int):
        return from_texts(setting, (str(value),))
    raise _WrongTypeError(f"a mapping, {'a number ' if may_be_number else ''}or a string such as {setting.metavar}")


def _texts(value: Any, kind: _TextKind) -> tuple[str, ...]:
    """Return one or more strings or paths."""
    if isinstance(value, kind.types):
        return (os.fspath(value),)
    values = tuple(value) if isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping)) else (value,)
    if not all(isinstance(each, kind.types) for each in values):
        raise _WrongTypeError(f"a {kind.noun} or a list of {kind.noun}s")
    return tuple(map(os.fspath, values))


def _text(setting: Setting, value: Any, kind: _TextKind) -> str | None:
    """Return a string or a path; None where there may be none. Raises RequestError for a word that is no choice."""
    if value is None and setting.default is None:
        return None
    if not isinstance(value, kind.types):
        raise _WrongTypeError(f"a {kind.noun}")
    allowed = setting.kind.allowed
    # `fail_on` and `target_gate` are read after the model was checked; the other words are checked before.
    if setting.field in ("fail_on", "target_gate") and value not in allowed:
        raise RequestError(f"{setting.field} is one of {', '.join(allowed)}, not {value!r}")
    return str(os.fspath(value))
