# SPDX-License-Identifier: Apache-2.0
"""The models to which the pages of a server lead that lists its folders, as file servers do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from onnx_lint.locations import MODEL_SUFFIXES, is_glob
from onnx_lint.remote.access import Access, tried
from onnx_lint.remote.errors import RemoteError

_MOST_PAGES: Final = 10_000
"""A server can make up folders without end."""


def objects_below(system: Any, target: str, access: Access) -> Iterator[str]:
    """The addresses of the models below a folder, or of what a glob matches; nothing beside the folder is looked at.

    Raises RemoteError where a page cannot be had or there are too many.
    """
    from fsspec.utils import glob_translate

    start, pattern = target, None
    if is_glob(target):
        start = re.split(r"[*?\[]", target, maxsplit=1)[0].rpartition("/")[0] + "/"
        pattern = re.compile(glob_translate(target))
    waiting, seen = [start], {start}
    while waiting:
        folder = waiting.pop()
        for address in _links(system, folder, access):
            name = address.rstrip("/").rpartition("/")[2]
            if address in seen or not address.startswith(folder) or name.startswith("."):
                continue
            seen.add(address)
            if len(seen) > _MOST_PAGES:
                raise RemoteError(f"the server lists more than {_MOST_PAGES:,} files and folders")
            if address.endswith("/"):
                waiting.append(address)
            elif pattern.match(address) if pattern is not None else address.lower().endswith(MODEL_SUFFIXES):
                yield address


def _links(system: Any, folder: str, access: Access) -> list[str]:
    return tried(lambda: list(system.ls(folder, detail=False)), folder, access)
