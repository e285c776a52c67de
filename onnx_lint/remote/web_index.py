# SPDX-License-Identifier: Apache-2.0
"""The models that the folder pages of a file server link to.

The file system of fsspec reads such pages as well, but without limits on their size and on time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext
from html.parser import HTMLParser
from typing import Any, Final
from urllib.parse import urljoin

from onnx_lint.common.record import replace
from onnx_lint.input.locations import MODEL_SUFFIXES, folder_of, is_glob
from onnx_lint.remote.access import Access
from onnx_lint.remote.errors import RemoteError
from onnx_lint.remote.parts import Parts
from onnx_lint.remote.web_object import WebObject

_MOST_LINKS: Final = 100_000
"""The most links to follow; a server can invent folders endlessly."""

_MOST_BYTES: Final = 1 << 24
"""The most bytes of one page."""


def objects_below(system: Any, target: str, access: Access) -> Iterator[str]:
    """Yield the addresses of the models below a folder, or that a glob matches.

    Only links below the folder are followed. Raises RemoteError if a page cannot be read, or there are too many links.
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
            if address in seen or not address.startswith(folder_of(folder) + "/") or name.startswith("."):
                continue
            seen.add(address)
            if len(seen) > _MOST_LINKS:
                raise RemoteError(f"the server lists more than {_MOST_LINKS:,} files and folders")
            if address.endswith("/"):
                waiting.append(address)
            elif pattern.match(address) if pattern is not None else address.lower().endswith(MODEL_SUFFIXES):
                yield address


def _links(system: Any, folder: str, access: Access) -> list[str]:
    """Return the addresses that the page of a folder links to, without queries."""
    page, parts = WebObject(system, folder, replace(access, download_bytes=_MOST_BYTES)), Parts()
    size = page.begin(_MOST_BYTES, parts).size
    if size > _MOST_BYTES:
        raise RemoteError(f"the page of a folder has {size:,} bytes, more than {_MOST_BYTES:,}")
    content = bytearray()
    while piece := parts.at(len(content), _MOST_BYTES):
        content += piece
    parts.clear()
    reader = _PageLinks()
    with access.patience.spent() if access.patience is not None else nullcontext():
        reader.feed(content.decode("utf-8", "replace"))
    found = []
    for link in reader.found:
        try:
            found.append(urljoin(folder, link.strip().partition("#")[0]))
        except ValueError:
            continue  # not an address
    return [address for address in found if "?" not in address]


class _PageLinks(HTMLParser):
    """Collects the targets of the links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the target of a link."""
        if tag == "a":
            self.found += [value for name, value in attrs if name == "href" and value]
