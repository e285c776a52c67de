# SPDX-License-Identifier: Apache-2.0
"""File names as URIs, relative to the directory that a code-scanning service knows."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

from onnx_lint.reporters.escape import encodable


def default_root() -> Path:
    """The top of the Git repository around the working directory, or the working directory itself."""
    here = Path.cwd()
    return next((directory for directory in (here, *here.parents) if (directory / ".git").exists()), here)


def uri_of(path: str, root: Path) -> str:
    """The URI of the file at `path`: relative to `root` when it is inside, else absolute; `stdin` for `-`."""
    if path == "-":
        return "stdin"
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links out of the repository
    if absolute.is_relative_to(root):
        return _quoted(absolute.relative_to(root))
    return f"file:///{_quoted(absolute).lstrip('/')}"


def _quoted(path: Path) -> str:
    text = path.as_posix()
    try:
        # Bytes, so that a name that is not UTF-8 keeps its bytes.
        return quote(os.fsencode(text), safe="/")
    except UnicodeEncodeError:
        # No file of this system can have the name, but a caller of the library may have given it.
        return quote(encodable(text), safe="/")
