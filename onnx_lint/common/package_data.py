# SPDX-License-Identifier: Apache-2.0
"""Reads the data files of this package, also from a zip file, and the JSON in them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, Final


def read(package: str, name: str) -> bytes:
    """The content of the file `name` beside the modules of an imported package; raises FileNotFoundError or OSError.

    pkgutil and importlib.resources do the same, and import more (docs/performance.md: package-data).
    """
    module = sys.modules[package]
    loader: Any = module.__spec__.loader if module.__spec__ is not None else None
    if module.__file__ is None or not hasattr(loader, "get_data"):
        raise FileNotFoundError(f"{package} was loaded in a way that brings no {name}")
    path = os.path.join(os.path.dirname(module.__file__), name)
    return bytes(loader.get_data(path))


class _Context:
    """What the scanner of the standard library asks for: JSON as it is, with Python's own numbers."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def _scanner() -> Callable[[str, int], tuple[Any, int]]:
    """What finds the value at a position, and the position after it.

    It is the one that json has in C where Python has it; json itself brings regular expressions that are compiled first
    (docs/performance.md: json-scanner).
    """
    try:
        from _json import make_scanner

        return make_scanner(_Context)  # type: ignore[arg-type]  # its stub takes a scanner for the context
    except (ImportError, AttributeError):  # another implementation of Python, or a later version that asks for more
        from json import JSONDecoder

        return JSONDecoder().raw_decode


_scan: Final = _scanner()


def parsed(line: bytes) -> Any:
    """The value that a line of JSON holds. Raises ValueError for anything else."""
    try:
        return _scan(line.decode(), 0)[0]
    except StopIteration as error:
        raise ValueError("is no JSON") from error
