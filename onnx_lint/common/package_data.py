# SPDX-License-Identifier: Apache-2.0
"""Reads the data files of this package, also from a zip file."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


def read(package: str, name: str) -> bytes:
    """Return the content of the file `name` of a package. Raises FileNotFoundError or OSError if it cannot be read.

    pkgutil.get_data does the same, and imports more.
    """
    module = import_module(package)
    loader: Any = module.__loader__
    if module.__file__ is None or not hasattr(loader, "get_data"):
        raise FileNotFoundError(f"{package} was loaded by a loader that cannot read its file {name}")
    data: bytes = loader.get_data(os.path.join(os.path.dirname(module.__file__), name))
    return data


def read_json(package: str, name: str) -> Any:
    """Return the value in the JSON file `name` of a package. Raises errors as `read` does."""
    return from_json(read(package, name))


def from_json(text: bytes) -> Any:
    """Return the value of JSON from a data file of this package, without spaces before it.

    Use the package `json` for the files of users, since this function does not check what comes after the value. It
    only imports the part in C, while the package compiles six regular expressions (docs/performance.md: json-scanner).
    """
    return _scanner()(text.decode(), 0)[0]


@cache
def _scanner() -> Callable[[str, int], tuple[Any, int]]:
    """Return a function that returns the value at a position of a text, and the position after it."""
    try:
        from _json import make_scanner
    except ImportError:  # an interpreter without this part of its library
        import json

        return json.JSONDecoder().raw_decode
    usual: Any = _Usual
    return make_scanner(usual)


class _Usual:
    """The options with which `json.loads` makes its scanner."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
