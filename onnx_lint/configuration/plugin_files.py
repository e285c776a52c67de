# SPDX-License-Identifier: Apache-2.0
"""The plugin files that a configuration names. Whether they run is the decision of the user, not of a file."""

from __future__ import annotations

import fnmatch
import glob
import os
import tomllib
from collections.abc import Iterable, Iterator
from typing import Final

from onnx_lint.configuration.errors import ConfigurationError
from onnx_lint.configuration.file_names import MAX_CONFIGURATION_BYTES
from onnx_lint.configuration.files import check_file
from onnx_lint.configuration.trust import dangers, user_file
from onnx_lint.configuration.values import SetValue
from onnx_lint.input.regular_file import read_regular

_KEY: Final = ("plugins",)


def files_of(value: SetValue) -> tuple[str, ...]:
    """Return the paths of the files that the patterns of the key `plugins` match, in order.

    Raises ConfigurationError for a pattern without a file.
    """
    found: list[str] = []
    for pattern in value.value:
        matching = sorted(glob.glob(os.path.join(value.origin.directory, pattern), recursive=True))
        if not matching:
            raise value.error(_KEY, f"no file matches {pattern!r}")
        found += matching
    return tuple(found)


def check_named(value: SetValue) -> None:
    """Raise ConfigurationError for a path without wildcards at which there is no file.

    Wildcards of a stranger are not searched for, since there may be a large file system below them.
    """
    for path in value.value:
        if not glob.has_magic(path):
            check_file(value, "plugins", path)


def refusal(value: SetValue) -> str | None:
    """Return why the key `plugins` is not obeyed, with the ways to allow it; None if the user allowed it.

    A configuration that was found may have come with the models. Its files run only if the user's own configuration
    lists its folder in `trusted`. Raises ConfigurationError if such a folder, or the user's configuration, could have
    been written by another user.
    """
    origin = value.origin
    if not origin.is_found or not value.value:
        return None
    own = user_file()
    if own is not None and os.path.realpath(origin.directory) in _trusted(own):
        check(value.origin.files, is_named=False)
        check(files_of(value), is_named=False)
        return None
    add = f', or add its folder to "trusted" in {own}' if own is not None else ""
    return (
        f"{origin.shown}: plugins: not loaded, because this file was found and not named: "
        f"use --plugin FILE or --config {origin.shown}{add}"
    )


def is_answered(value: SetValue, named: Iterable[str]) -> bool:
    """Return whether each pattern of the key `plugins` matches a file that the user named instead.

    The patterns may be a stranger's, so the file system is not searched for them.
    """
    folder, files = os.path.realpath(value.origin.directory), list(map(os.path.realpath, named))
    return all(fnmatch.filter(files, os.path.join(folder, os.path.normpath(pattern))) for pattern in value.value)


def check(paths: Iterable[str], *, is_named: bool) -> list[str]:
    """Return a warning for each file that another user can change, although the user named it.

    Raises ConfigurationError for a file of another user, and for one that was not named and that another user can
    change. Containers of CI services have folders to which everybody can write, so that alone refuses no named file.
    """
    warnings = []
    for path in paths:
        try:
            first = min(dangers(path), key=lambda danger: not danger.is_owner, default=None)
        except OSError:
            continue  # loading the file reports it
        if first is not None and is_named and not first.is_owner:
            warnings.append(f"{path}: {first.text}")
        elif first is not None:
            raise ConfigurationError(
                f"{path}: not used to run Python files, because {first.text}; a copy in a folder of your own can run"
            )
    return warnings


def _trusted(own: str) -> set[str]:
    """Return the folders that the user's configuration trusts, without links."""
    if not os.path.lexists(own):
        return set()
    check([own], is_named=False)
    try:
        table = tomllib.loads(read_regular(own, MAX_CONFIGURATION_BYTES).decode("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{own}: {error}") from error
    folders = table.pop("trusted", [])
    if table or not isinstance(folders, list):
        raise ConfigurationError(f'{own}: requires one key: trusted = ["/path/of/a/folder"]')
    return set(_absolute(folders, own))


def _absolute(folders: list[object], own: str) -> Iterator[str]:
    for folder in folders:
        path = os.path.expanduser(folder) if isinstance(folder, str) else ""
        if not os.path.isabs(path):
            raise ConfigurationError(f"{own}: trusted: requires absolute paths of folders, not {folder!r}")
        yield os.path.realpath(path)
