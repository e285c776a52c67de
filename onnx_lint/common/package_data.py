# SPDX-License-Identifier: Apache-2.0
"""Reads the data files of this package, also from a zip file."""

from __future__ import annotations

import pkgutil


def read(package: str, name: str) -> bytes:
    """Return the content of the file `name` of a package. Raises FileNotFoundError or OSError if it cannot be read."""
    data = pkgutil.get_data(package, name)
    if data is None:
        raise FileNotFoundError(f"{package} was loaded by a loader that cannot read its file {name}")
    return data
