# SPDX-License-Identifier: Apache-2.0
"""File names as URIs, relative to the directory that a code-scanning service knows."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from onnx_lint.input.locations import is_remote
from onnx_lint.reporters.escape import encodable, visible

_OF_ADDRESSES = "%:/?#[]@!$&'()*+,;=~"
"""The characters that have a meaning in an address, or begin an escape in it (RFC 3986)."""


def default_root() -> Path:
    """Return the top of the Git repository around the working directory, or the working directory itself."""
    here = Path.cwd()
    return next((directory for directory in (here, *here.parents) if (directory / ".git").exists()), here)


def uri_of(path: str, root: Path) -> str:
    """Return the URI of the file at `path`: relative to `root` if it is inside, else absolute; `stdin` for `-`.

    The URI of a remote object is its address.
    """
    if path == "-":
        return "stdin"
    if is_remote(path):
        return quote(encodable(path), safe=_OF_ADDRESSES)
    place = _below(path, root)
    return f"file:///{_quoted(place).lstrip('/')}" if place.is_absolute() else _quoted(place)


def path_below(path: str, root: Path) -> str:
    """Return the path with forward slashes: relative to `root` if it is inside, else absolute; `stdin` for `-`."""
    if is_remote(path):
        return visible(path)
    return "stdin" if path == "-" else visible(_below(path, root).as_posix())


def is_outside(path: str, root: Path) -> bool:
    """Return whether the file at `path` is not below `root`."""
    return path != "-" and not is_remote(path) and _below(path, root).is_absolute()


def _below(path: str, root: Path) -> Path:
    absolute = Path(os.path.abspath(path))  # resolve() would follow links out of the repository
    root = Path(os.path.abspath(root))
    return absolute.relative_to(root) if absolute.is_relative_to(root) else absolute


def _quoted(path: Path) -> str:
    text = path.as_posix()
    try:
        # Quote bytes, so that a name that is not UTF-8 keeps its bytes.
        return quote(os.fsencode(text), safe="/")
    except UnicodeEncodeError:
        # No file of this system can have the name, but a caller of the library may pass it.
        return quote(encodable(text), safe="/")
