# SPDX-License-Identifier: Apache-2.0
"""The plugin files that a configuration names, which run only if the user can be taken to trust the configuration."""

from __future__ import annotations

import glob
import os
import stat
from typing import Final

from onnx_lint.configuration.values import Origin, SetValue

_KEY: Final = ("plugins",)
_REPOSITORIES: Final = (".git", ".hg", ".svn")


def files_of(value: SetValue) -> tuple[str, ...]:
    """Return the absolute paths of the files that the patterns of the key `plugins` match, in order.

    Raises ConfigurationError for a pattern without a file, and for a configuration file that was merely found: it may
    have come with the models. It is trusted if `--config` names it, or if it is in the root of the repository in which
    onnx-lint was started.
    """
    origin = value.origin
    if origin.is_found and not (_is_in_root_of_repository(origin.directory) and _is_trusted(origin)):
        raise value.error(
            _KEY,
            "Python files are run only for a configuration that --config names, or in the root of the repository in "
            "which onnx-lint was started",
        )
    found: list[str] = []
    for pattern in value.value:
        matching = sorted(glob.glob(os.path.join(origin.directory, pattern), recursive=True))
        if not matching:
            raise value.error(_KEY, f"no file matches {pattern!r}")
        found += map(os.path.realpath, matching)
    return tuple(found)


def _is_trusted(origin: Origin) -> bool:
    """Return whether the file is the user's, if everybody can write to its folder, such as a `/tmp` with a `.git`."""
    if not hasattr(os, "geteuid") or not os.stat(origin.directory).st_mode & stat.S_IWOTH:
        return True
    file = os.path.join(origin.directory, os.path.basename(origin.shown))
    return os.lstat(file).st_uid in {os.geteuid(), 0}


def _is_in_root_of_repository(folder: str) -> bool:
    """Return whether the folder is the root of the repository that the working directory is in."""
    current = os.path.realpath(os.getcwd())
    while not any(os.path.lexists(os.path.join(current, name)) for name in _REPOSITORIES):
        parent = os.path.dirname(current)
        if parent == current:
            return False
        current = parent
    return current == os.path.realpath(folder)
