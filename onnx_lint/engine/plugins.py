# SPDX-License-Identifier: Apache-2.0
"""Plugins: the files with rules that a run names."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from types import ModuleType

from onnx_lint.input.regular_file import read_regular
from onnx_lint.spec.clauses import declare

MAX_FILE_BYTES = 10_000_000


class PluginError(Exception):
    """A plugin that cannot be loaded; the message names it."""


_in_use: tuple[str, ...] = ()


def files_in_use() -> tuple[str, ...]:
    """Return the absolute paths of the plugin files that the present run uses."""
    return _in_use


def use_files(paths: Sequence[str]) -> None:
    """Use exactly these plugin files (absolute paths) from now on: the registry has their rules and no others."""
    global _in_use
    if tuple(paths) != _in_use:
        _in_use = tuple(paths)
        declare({})


@functools.cache
def module_of_file(path: str) -> ModuleType:
    """Import a plugin file; its module has the path as its name, and leaves no bytecode beside the file.

    Raises PluginError for one that cannot be loaded.
    """
    module = ModuleType(path)
    module.__file__ = path
    sys.modules[path] = module  # where dataclasses and pickle look for what it defines
    try:
        exec(compile(read_regular(path, MAX_FILE_BYTES), path, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[path]
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise PluginError(f"plugin {path}: {type(error).__name__}: {reason}") from error
    return module
