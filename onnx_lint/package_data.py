# SPDX-License-Identifier: Apache-2.0
"""Reads the data files of this package, also from a zip file."""

from __future__ import annotations

import os
import sys
from typing import Any


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
