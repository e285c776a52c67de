# SPDX-License-Identifier: Apache-2.0
"""File names as URIs, relative to the directory that a code-scanning service knows."""

from __future__ import annotations

import os
from typing import Final

from onnx_lint.input.locations import is_remote
from onnx_lint.reporters.escape import encodable, visible

_OF_ADDRESSES: Final = "%:/?#[]@!$&'()*+,;=~"
"""The characters that have a meaning in an address, or begin an escape in it (RFC 3986)."""
_UNRESERVED: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~"


def default_root() -> str:
    """Return the top of the Git repository around the working directory, or the working directory itself."""
    here = folder = os.getcwd()
    while not os.path.exists(os.path.join(folder, ".git")):
        below, folder = folder, os.path.dirname(folder)
        if folder == below:
            return here
    return folder


def uri_of(path: str, root: str) -> str:
    """Return the URI of the file at `path`: relative to `root` if it is inside, else absolute; `stdin` for `-`.

    The URI of a remote object is its address.
    """
    if path == "-":
        return "stdin"
    if is_remote(path):
        return _quoted(encodable(path).encode(), _OF_ADDRESSES)
    place = _below(path, root)
    try:
        data = os.fsencode(place)  # a name that is not UTF-8 keeps its bytes
    except UnicodeEncodeError:  # no file of this system can have the name, but a caller of the library may pass it
        data = encodable(place).encode()
    scheme = "file:///" if os.path.isabs(place) else ""
    return f"{scheme}{_quoted(data.lstrip(b'/'), '/')}"


def path_below(path: str, root: str) -> str:
    """Return the path with forward slashes: relative to `root` if it is inside, else absolute; `stdin` for `-`."""
    if is_remote(path):
        return visible(path)
    return "stdin" if path == "-" else visible(_below(path, root))


def is_outside(path: str, root: str) -> bool:
    """Return whether the file at `path` is not below `root`."""
    return path != "-" and not is_remote(path) and os.path.isabs(_below(path, root))


def _below(path: str, root: str) -> str:
    absolute = os.path.abspath(path)  # realpath would follow links out of the repository
    top = os.path.join(os.path.abspath(root), "")
    if os.path.normcase(absolute).startswith(os.path.normcase(top)):
        absolute = absolute[len(top) :]
    return absolute.replace(os.sep, "/")


def _quoted(data: bytes, safe: str) -> str:
    """Return the bytes as part of a URI, as `urllib.parse.quote` does, which would have to be imported."""
    kept = frozenset((_UNRESERVED + safe).encode())
    return "".join(chr(byte) if byte in kept else f"%{byte:02X}" for byte in data)
