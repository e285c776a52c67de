# SPDX-License-Identifier: Apache-2.0
"""Plugins: packages of rules that are installed, and single files that a run names."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType

from onnx_lint.input.regular_file import read_regular
from onnx_lint.spec.clauses import declare

ENTRY_POINT_GROUP = "onnx_lint.rules"
"""Third parties name a package of rule files under this entry-point group."""

MAX_FILE_BYTES = 10_000_000


class RegistryError(Exception):
    """A rule that cannot be registered: a plugin is broken, or two rules share an id."""

    def __init__(self, reason: str, path: str | None = None) -> None:
        super().__init__(reason)
        self.path = path
        """The plugin file that cannot be used; None if another file, or none, is the cause."""


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


def chapter_of_file(path: str) -> str:
    """Return the chapter of the rules in a plugin file: its name, with dashes."""
    return os.path.basename(path).removesuffix(".py").replace("_", "-")


def modules(files: Sequence[str]) -> Iterator[tuple[str, ModuleType]]:
    """Yield the modules of installed plugins and of plugin files, each with the name of its plugin.

    The name is that of the distribution, or of the file. Raises RegistryError for a plugin that cannot be loaded.
    """
    for name, package in _packages():
        import pkgutil

        yield name, package
        try:
            found = [info.name for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
            yield from ((name, import_module(module)) for module in found)
        except Exception as error:
            raise RegistryError(f"plugin {name}: {type(error).__name__}: {error}") from error
    for path in files:
        yield os.path.basename(path), _module_of_file(path)


@functools.cache
def _module_of_file(path: str) -> ModuleType:
    """Import a plugin file; its module has the path as its name, and leaves no bytecode beside the file."""
    module = ModuleType(path)
    module.__file__ = path
    sys.modules[path] = module  # where dataclasses and pickle look for what it defines
    try:
        exec(compile(read_regular(path, MAX_FILE_BYTES), path, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        del sys.modules[path]
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise RegistryError(f"plugin {path}: {type(error).__name__}: {reason}", path) from error
    return module


def _packages() -> Iterator[tuple[str, ModuleType]]:
    if not _may_have_packages():
        return
    from importlib.metadata import entry_points

    for entry_point in entry_points(group=ENTRY_POINT_GROUP):
        name = entry_point.dist.name if entry_point.dist else entry_point.name
        try:
            package = entry_point.load()
        except Exception as error:
            raise RegistryError(f"plugin {name}: {type(error).__name__}: {error}") from error
        if not isinstance(package, ModuleType) or not hasattr(package, "__path__"):
            raise RegistryError(f"plugin {name}: entry point {entry_point.value!r} is not a package of rule files")
        yield name, package


def _may_have_packages() -> bool:
    """Return whether an installed distribution may declare the entry-point group.

    Few installations have a plugin, and importlib.metadata takes time to import (docs/performance.md: entry-points).
    If a look into the folders does not answer the question, as for a zipped path, the answer is yes.
    """
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or ".")
        except NotADirectoryError:
            return True
        except OSError:
            continue  # what does not exist holds no distribution
        for name in names:
            if name.endswith((".dist-info", ".egg-info")) and _declares_plugins(os.path.join(folder, name)):
                return True
    return False


def _declares_plugins(folder: str) -> bool:
    try:
        with open(os.path.join(folder, "entry_points.txt"), "rb", buffering=0) as file:
            return ENTRY_POINT_GROUP.encode() in file.read()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
