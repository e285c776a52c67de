# SPDX-License-Identifier: Apache-2.0
"""Checked values of a configuration, each with its origin."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from onnx_lint.common.record import Record
from onnx_lint.configuration.errors import ConfigurationError
from onnx_lint.configuration.settings import keys
from onnx_lint.configuration.toml_text import toml_key
from onnx_lint.engine.checked_values import ValueKindError, checked_values
from onnx_lint.engine.value_kinds import DOMAINS, Path
from onnx_lint.input.locations import is_remote, without_user
from onnx_lint.spec.domains import shown_domain
from onnx_lint.wording import suggestion


class Origin(Record):
    """The file of a value."""

    shown: str
    """The path of the configuration file."""
    directory: str
    """The folder that paths and patterns in the value are relative to."""
    is_found: bool = False
    """True if the file was discovered near a model, and not named by the user."""
    files: tuple[str, ...] = ()
    """The absolute paths of the file and of those that extend it."""


class SetValue(Record):
    """A value and its origin."""

    value: Any
    origin: Origin

    def error(self, path: Path, text: str) -> ConfigurationError:
        """Return the error with this text about the value."""
        if path[0] == "suppress" and len(path) > 1:
            entry = path[1].rpartition(": ")[2]  # the number alone, as the file comes first
            return ConfigurationError(f"{self.origin.shown}: {'.'.join((entry, *path[2:]))}: {text}")
        return ConfigurationError(f"{self.origin.shown}: {toml_key(path)}: {text}")


SetValues = Mapping[Path, SetValue]


def suppressions_in(values: SetValues) -> dict[str, dict[str, SetValue]]:
    """Return the entries of `suppress` by file and number, each with its values by name."""
    entries: dict[str, dict[str, SetValue]] = {}
    for path, value in values.items():
        if path[0] == "suppress" and len(path) == 3:
            entries.setdefault(path[1], {})[path[2]] = value
    return entries


def checked(table: Mapping[str, Any], origin: Origin) -> dict[Path, SetValue]:
    """Return the values of one table, those of nested tables separately.

    Raises ConfigurationError for an unknown key and a value of the wrong kind.
    """
    values: dict[Path, SetValue] = {}
    for name, value in table.items():
        if name not in keys():
            others = f"; the keys are {', '.join(keys())}"
            if name == "tool":
                others = "; write the keys without [tool.onnx-lint], which only pyproject.toml has"
            # `suppressions` is nearly `suppress`.
            hint = suggestion(name, keys()) or suggestion(name[:-3], keys()) or others
            raise ConfigurationError(f"{origin.shown}: unknown key {name!r}{hint}")
        if name == "suppress":
            value = _by_place(value, origin)
        value = _without_users(value)
        for path, item in _flat(name, value, origin):
            found = SetValue(item, origin)
            if path[:2] == ("policy", "opsets") and len(path) == 3:
                if not DOMAINS.accepts([path[2]]):
                    raise found.error(path, f"requires a domain without spaces as its key, not {path[2]!r}")
                path = (*path[:2], shown_domain(path[2]))  # so that each domain has one name in all files
                if path in values:
                    raise found.error(path[:2], "requires each domain once, but 'ai.onnx' and '' are the same domain")
            values[path] = found
    return values


def _flat(name: str, value: Any, origin: Origin) -> list[tuple[Path, Any]]:
    """Return the value of a key, or those in its tables. Raises ConfigurationError for one of the wrong kind."""
    try:
        return list(checked_values((name,), value, keys()[name].kind))
    except ValueKindError as error:
        is_nested = error.path[:2] == ("policy", "opsets") and len(error.path) > 2 and "not a table" in str(error)
        hint = """; write a domain with a dot in quotes: "ai.onnx" = 17""" if is_nested else ""
        raise SetValue(value, origin).error(error.path, f"{error}{hint}") from error


def _by_place(value: Any, origin: Origin) -> Any:
    """Return the entries of a list of tables by file and number, so that those of several files are kept apart."""
    if not isinstance(value, list):
        raise SetValue(value, origin).error(("suppress",), "requires a list of tables: write [[suppress]]")
    if {} in value:
        path = ("suppress", f"suppress[{value.index({})}]")
        raise SetValue(value, origin).error(path, "requires 'rule' and 'reason', but is an empty table")
    return {f"{origin.shown}: suppress[{number}]": _with_text_of_dates(entry) for number, entry in enumerate(value)}


def _with_text_of_dates(entry: Any) -> Any:
    """Return a table with its dates as text, which reports can contain."""
    if not isinstance(entry, dict):
        return entry
    return {name: str(value) if type(value) is datetime.date else value for name, value in entry.items()}


def _without_users(value: Any) -> Any:
    """Return the value with addresses as reports show them, so that a pattern with a password
    matches and stays secret.
    """
    if isinstance(value, dict):
        return {_without_users(name): _without_users(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_users(item) for item in value]
    return without_user(value) if isinstance(value, str) and is_remote(value) else value
