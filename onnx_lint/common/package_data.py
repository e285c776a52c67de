# SPDX-License-Identifier: Apache-2.0
"""Reads the data files of this package, also from a zip file."""

from __future__ import annotations

import os
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
