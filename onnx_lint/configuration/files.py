# SPDX-License-Identifier: Apache-2.0
"""Configuration files: how they are read, and how one extends another."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Mapping
from typing import Any, Final

from onnx_lint.common.reasons import reason_of
from onnx_lint.configuration.errors import ConfigurationError
from onnx_lint.configuration.file_names import MAX_CONFIGURATION_BYTES, PYPROJECT, PYPROJECT_TABLE
from onnx_lint.configuration.settings import kinds_by_name
from onnx_lint.configuration.values import Origin, SetValue, SetValues, checked
from onnx_lint.input.regular_file import kind_of_file, read_regular

_MAX_DOTS: Final = 100
_TEXTS: Final = r"""(?xs)
    "{3} (?: [^\\] | \\. )*? (?: "{3,5} | \Z )  |  '{3} .*? (?: '{3,5} | \Z )  # of several lines
    | " (?: [^"\\\n] | \\[^\n] )* "?  |  ' [^'\n]* '?
    | \# [^\n]*
"""
"""Matches the strings and comments of TOML. A string need not be closed, so that none is read twice."""


class ContentError(ConfigurationError):
    """A file that cannot be a configuration, such as one that is no TOML."""


def read_file(path: str) -> SetValues:
    """Return the values of the configuration file at `path`, with those of the files that it extends.

    Raises ConfigurationError for a file that cannot be read or used, and for a pyproject.toml without the table.
    """
    values = read(os.path.abspath(path))  # no resolved links
    if values is None:
        raise ConfigurationError(f"{shown(path)}: has no table [tool.{PYPROJECT_TABLE}]")
    return values


def read(path: str, chain: tuple[str, ...] = (), *, is_found: bool = False) -> SetValues | None:
    """Return the values of the file at an absolute path; None for a pyproject.toml without the table.

    `chain`: the files that lead here by `extend`. `is_found`: whether the first of them was discovered, and not named.
    Raises ConfigurationError for a file that cannot be read or used, and for anything but a regular file.
    """
    if path in chain:
        circle = " -> ".join(shown(item) for item in (*chain[chain.index(path) :], path))
        raise ConfigurationError(f"{shown(chain[-1])}: extend: forms a cycle: {circle}")
    document = _parsed(path)
    if os.path.basename(path) == PYPROJECT:
        tool = document.get("tool", {})
        found = tool.get(PYPROJECT_TABLE) if isinstance(tool, dict) else None
        if found is None:
            return None
        if not isinstance(found, dict):
            raise ConfigurationError(f"{shown(path)}: tool.{PYPROJECT_TABLE}: requires a table")
        document = found
    origin = Origin(shown(path), os.path.dirname(path), is_found=is_found, files=(*chain, path))
    values = checked(document, origin)
    extended = values.pop(("extend",), None)
    if extended is None:
        return values
    base = _extended(extended, path, chain)
    return {**base, **values}


def _extended(extended: SetValue, path: str, chain: tuple[str, ...]) -> SetValues:
    target = os.path.normpath(os.path.join(extended.origin.directory, extended.value))
    check_file(extended, "extend", extended.value)
    try:
        base = read(target, (*chain, path), is_found=extended.origin.is_found)
    except ContentError as error:
        raise extended.error(("extend",), f"{error}; requires another configuration file") from error
    if base is None:
        raise extended.error(("extend",), f"{shown(target)} has no table [tool.{PYPROJECT_TABLE}]")
    return base


def check_file(value: SetValue, key: str, path: str, *, is_folder: bool = False) -> None:
    """Raise ConfigurationError unless the path of a key is that of a regular file, or with `is_folder` of a folder."""
    location = os.path.normpath(os.path.join(value.origin.directory, path))
    wanted, exists = ("folder", os.path.isdir) if is_folder else ("file", os.path.exists)
    if not exists(location):
        relative = "paths are relative to the folder of the configuration file"
        raise value.error((key,), f"there is no {wanted} {path!r}; {relative}")
    mode = os.stat(location).st_mode
    if not (is_folder or stat.S_ISREG(mode)):
        raise value.error((key,), f"{path}: is {kind_of_file(mode)}, not a regular file")


def _parsed(path: str) -> Mapping[str, Any]:
    """Return the document in the file at `path`."""
    try:
        text = _bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContentError(f"{shown(path)}: is not UTF-8 (byte {error.start})") from error
    return _toml(text, shown(path))


def _toml(text: str, name: str) -> Mapping[str, Any]:
    _check_keys(text, name)
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except RecursionError as error:
        raise ConfigurationError(f"{name}: is nested too deeply") from error
    except ValueError as error:  # TOMLDecodeError, and numbers with more digits than Python accepts
        raise ContentError(f"{name}: {_with_key(text, str(error)[:200])}") from error


def _with_key(text: str, fault: str) -> str:
    """Return a fault of TOML, with the key of its line and what the key allows if it is a key of onnx-lint.

    Nothing else of the line is shown: `extend` may name any file of the machine.
    """
    line = re.search(r"at line (\d+)", fault)
    lines = text.split("\n")
    number = int(line[1]) - 1 if line else len(lines)
    key = re.match(r"\s*(?:[a-z_-]+\s*\.\s*)*([a-z_-]+)\s*=", lines[number]) if number < len(lines) else None
    name = key[1] if key else ""
    kind = kinds_by_name().get(name)
    if kind is not None and "overwrite a value" in fault:
        return f"{name}: is not TOML: {fault}; the file has the key before"
    return f"is not TOML: {fault}" if kind is None else f"{name}: is not TOML: {fault}; requires {kind.wanted}"


def _check_keys(text: str, name: str) -> None:
    """Raise ConfigurationError for a key with very many parts, for which tomllib takes quadratic time."""
    if any(key.count(".") > _MAX_DOTS for key in re.split(r"[=,{}\[\]\n]", re.sub(_TEXTS, "", text))):
        raise ConfigurationError(f"{name}: has a key of more than {_MAX_DOTS} parts")


def _bytes(path: str) -> bytes:
    try:
        return read_regular(path, MAX_CONFIGURATION_BYTES)
    except (OSError, ValueError) as error:
        raise ContentError(f"{shown(path)}: {reason_of(error)}") from error


def shown(path: str) -> str:
    """Return the path for messages: relative to the working directory if that is shorter."""
    try:
        relative = os.path.relpath(path)
    except (ValueError, OSError):  # another drive; a working directory that was removed
        return path
    return relative if len(relative) < len(path) else path
