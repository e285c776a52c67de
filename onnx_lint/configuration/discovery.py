# SPDX-License-Identifier: Apache-2.0
"""Finds the nearest configuration file of a folder. If there is none, only a few names of files are looked up."""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Final

from onnx_lint.configuration.file_names import FILE_NAMES, MAX_CONFIGURATION_BYTES, PYPROJECT

if TYPE_CHECKING:
    from onnx_lint.configuration.values import SetValues

_TABLE: Final = rb"""\btool\s*+(?:['"]\s*+)?\.\s*+['"]?onnx-lint|^[ \t]*+['"]?onnx-lint['"]?\s*+[.=]"""
"""`[tool.onnx-lint]`, or `onnx-lint = ...` below `[tool]`, but not `dependencies = ["onnx-lint"]`.

It is compiled at first use.
"""


class Configurations:
    """The configurations of folders. Each folder is searched and each file read once."""

    def __init__(self) -> None:
        self._of_directories: dict[str, SetValues | None] = {}

    def nearest(self, directory: str) -> SetValues | None:
        """Return the values of the nearest configuration file in `directory` or above; None if there is none.

        Raises ConfigurationError for a file that cannot be used.
        """
        if directory not in self._of_directories:
            found = _in_directory(directory)
            parent = os.path.dirname(directory)
            if found is None and parent != directory:
                found = self.nearest(parent)
            self._of_directories[directory] = found
        return self._of_directories[directory]


def _in_directory(directory: str) -> SetValues | None:
    for name in (*FILE_NAMES, PYPROJECT):
        path = os.path.join(directory, name)
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError):
            continue
        if name == PYPROJECT and not (stat.S_ISREG(mode) and _may_have_table(path)):
            continue
        from onnx_lint.configuration.files import read
        from onnx_lint.configuration.trust import is_user_file

        if is_user_file(path):
            continue
        values = read(path, is_found=True)
        if values is not None:
            return values
    return None


def _may_have_table(path: str) -> bool:
    """Return whether the file may have the table. Most pyproject.toml do not, and need not be parsed."""
    try:
        with open(path, "rb") as stream:
            return re.search(_TABLE, stream.read(MAX_CONFIGURATION_BYTES), re.MULTILINE) is not None
    except OSError:
        return False
