# SPDX-License-Identifier: Apache-2.0
"""A shorter way to the modules of this package, which the command line takes.

A plain run imports 150 of them, and for each Python goes through lists of folders, of file endings and of what may have
to be compiled, which takes longer than to run most modules: a tenth of the time on a small model. In an ordinary
installation a module is compiled and has its source beside it; there it is found here. Whatever is otherwise, such as
a zip file, is left to Python.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER
from types import CodeType, ModuleType
from typing import Any

_PREFIX = f"{__package__}."
_ENDING = f".{sys.implementation.cache_tag}.pyc"
_HEADER = MAGIC_NUMBER + bytes(4)
"""What a file begins with that this Python has compiled, and that goes on with the time and size of its source."""


def install() -> None:
    """Let Python find the modules of this package in this way from now on, right before its own for files.

    Nothing happens where this module itself is not to be found so, since others would not be either.
    """
    is_usual = sys.implementation.cache_tag and not sys.pycache_prefix and not sys.flags.optimize
    if is_usual and PathFinder in sys.meta_path and _spec(__name__, os.path.dirname(__file__), "quick_imports"):
        sys.meta_path.insert(sys.meta_path.index(PathFinder), _Finder)


class _Finder:
    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith(_PREFIX) or not path:
            return None
        folder, last = path[0], name.rpartition(".")[2]
        return _spec(name, folder, last) or _spec(name, f"{folder}{os.sep}{last}", "__init__")


class _Loader(SourceFileLoader):
    """Python's own, which is given the code."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code: CodeType | None = code

    def get_code(self, fullname: str) -> CodeType | None:
        code, self._code = self._code, None
        return code or super().get_code(fullname)


def _spec(name: str, folder: str, stem: str) -> ModuleSpec | None:
    source = f"{folder}{os.sep}{stem}.py"
    compiled = f"{folder}{os.sep}__pycache__{os.sep}{stem}{_ENDING}"
    try:
        with open(compiled, "rb", buffering=0) as file:
            data = file.read()
        stat = os.stat(source)
    except OSError:
        return None
    if not data.startswith(_HEADER + _four_bytes(int(stat.st_mtime)) + _four_bytes(stat.st_size)):
        return None
    code: Any = marshal.loads(memoryview(data)[16:])
    if code.co_filename != source:
        return None  # it was moved after it was compiled; Python puts that right
    spec = ModuleSpec(name, _Loader(name, source, code), origin=source, is_package=stem == "__init__")
    spec.has_location = True
    spec.cached = compiled
    if spec.submodule_search_locations is not None:
        spec.submodule_search_locations.append(folder)
    return spec


def _four_bytes(number: int) -> bytes:
    return (number & 0xFFFFFFFF).to_bytes(4, "little")
