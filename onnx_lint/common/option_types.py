# SPDX-License-Identifier: Apache-2.0
"""The types of the options of rules, and the conversion of configuration values to these types."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

_PLAIN: Final[Mapping[Any, tuple[str, type | tuple[type, ...]]]] = types.MappingProxyType(
    {
        bool: ("true or false", bool),
        int: ("a whole number", int),
        float: ("a number", (int, float)),
        str: ("a string", str),
    }
)
_LISTS: Final = (tuple, list, set, frozenset, Sequence)
_TABLES: Final = (dict, Mapping)


class OptionTypeError(ValueError):
    """A value that does not have the type of the option. The text names the expected type."""


def option_types(check: Callable[..., Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the type of each option of the rule function `check`. Options are its keyword-only parameters.

    If annotations are missing or cannot be evaluated, it is the type of the default.
    """
    try:
        known = typing.get_type_hints(check)
    except Exception:  # an annotation is any expression, so evaluating it may raise anything
        known = {}
    return {name: known.get(name, type(default)) for name, default in defaults.items()}


def as_option(value: Any, wanted: Any) -> Any:
    """Return `value`, of a type of TOML or JSON, as the type `wanted`. Raises OptionTypeError if that is impossible."""
    alternatives = typing.get_args(wanted) if _is_union(wanted) else (wanted,)
    for alternative in alternatives:
        try:
            return _converted(value, alternative)
        except OptionTypeError:
            continue
    shown = str(value).lower() if isinstance(value, bool) else repr(value)
    raise OptionTypeError(f"requires {in_words(wanted)}, not {shown}")


def _is_union(wanted: Any) -> bool:
    return typing.get_origin(wanted) in (typing.Union, types.UnionType)


def _converted(value: Any, wanted: Any) -> Any:
    """Return a value as a type that is no union. Raises OptionTypeError without a text if that is impossible."""
    origin, arguments = typing.get_origin(wanted) or wanted, typing.get_args(wanted)
    item = next((each for each in reversed(arguments) if each is not Ellipsis), Any)
    if origin in _LISTS and isinstance(value, (list, tuple, set, frozenset)):
        return (tuple if origin is Sequence else origin)(as_option(part, item) for part in value)
    if origin in _TABLES and isinstance(value, Mapping):
        return {name: as_option(part, item) for name, part in value.items()}
    if not _is_of_type(value, wanted):
        raise OptionTypeError
    return value


def _is_of_type(value: Any, wanted: Any) -> bool:
    """Return whether a value has a type that is neither a list nor a table."""
    if wanted in _PLAIN:
        # bool is a subclass of int, but true is not a number for users.
        return isinstance(value, _PLAIN[wanted][1]) and (wanted is bool or not isinstance(value, bool))
    if typing.get_origin(wanted) is typing.Literal:
        return value in typing.get_args(wanted)
    return wanted is Any or (wanted in (None, type(None)) and value is None)


def in_words(wanted: Any) -> str:
    """Return the type in words for a message: `a list (of a string each)`."""
    if _is_union(wanted):
        return " or ".join(in_words(part) for part in typing.get_args(wanted) if part is not type(None))
    if wanted in _PLAIN:
        return _PLAIN[wanted][0]
    origin, arguments = typing.get_origin(wanted) or wanted, typing.get_args(wanted)
    if origin is typing.Literal:
        return f"one of {', '.join(map(repr, arguments))}"
    if origin in _LISTS:
        if arguments and arguments[0] is str:
            return "a list of strings"
        return f"a list (of {in_words(arguments[0])} each)" if arguments else "a list"
    return "a table" if origin in _TABLES else f"a {getattr(wanted, '__name__', wanted)}"
