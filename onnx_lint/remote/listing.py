# SPDX-License-Identifier: Apache-2.0
"""Finds the models at an address: of an object, or of a folder or prefix."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from onnx_lint.common.record import Record
from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.locations import MODEL_SUFFIXES, is_web, scheme_of, shown_address
from onnx_lint.remote.access import Access, access_of
from onnx_lint.remote.answers import bounded
from onnx_lint.remote.errors import RemoteError
from onnx_lint.remote.file_systems import file_system
from onnx_lint.remote.versions import content_version_of, pinned


class RemoteObject(Record):
    """An object in a store."""

    url: str
    """Its address as reports show it, without credentials and without the version."""
    address: str
    """Its address for opening it: complete, and with the version if addresses of the store have one."""
    identity: tuple[str, int] | None = None
    """What no other content of it has: the store's name of the version, and the size; None if that is not listed."""


def listed(target: str, limits: Limits = DEFAULT_LIMITS) -> Iterator[RemoteObject]:
    """Yield the models at an address, sorted by name.

    The address must not be one of the web. That of an object yields that object, with any suffix. One that ends with a
    slash, or names a folder, yields the objects below it with the suffix of a model. Raises RemoteError if the store
    cannot be read or there is no such object or folder.
    """
    access = access_of(limits)
    try:
        if is_web(target):
            raise RemoteError("a web server has no listing: name each model, or the address of a store")
        yield from sorted(_in_store(file_system(target, access), target, access), key=lambda each: each.url)
    except RemoteError as error:
        raise type(error)(f"{shown_address(target)}: {error}") from None


def _in_store(system: Any, target: str, access: Access) -> Iterator[RemoteObject]:
    path = bounded(lambda: pinned(system, target), target, access)
    name = _Name(scheme_of(target), system._strip_protocol(target), path)
    about = {"type": "directory"}
    if not target.endswith("/"):
        about = bounded(lambda: system.info(path), target, access)
    if about.get("type") != "directory":
        yield name.object(path, about)
        return
    bounded(lambda: system.invalidate_cache(path), target, access)
    found = bounded(lambda: system.find(path, detail=True), target, access)
    yield from (name.object(each, facts) for each, facts in found.items() if _is_model(each, path))


class _Name:
    """Translates paths in the version that is read to the names that the user asked for."""

    def __init__(self, scheme: str, path: str, pinned_path: str) -> None:
        self.scheme = scheme
        self._given = re.match(_REVISION, path)
        self._pinned = re.match(_REVISION, pinned_path) if path != pinned_path else None

    def object(self, path: str, about: dict[str, Any]) -> RemoteObject:
        """Return the object at a path of the file system."""
        url = path
        if self._pinned is not None:
            revision = self._given[2] if self._given is not None else ""
            url = self._pinned[1] + revision + path.removeprefix(self._pinned[0])
        addresses = [f"{self.scheme}://{each.lstrip('/')}" for each in (url, path)]
        content, size = content_version_of(about), about.get("size")
        identity = (content, size) if content is not None and isinstance(size, int) else None
        return RemoteObject(shown_address(addresses[0]), addresses[1], identity)


_REVISION: Final = r"((?:datasets/|spaces/|models/)?[^/@]+/[^/@]+)(@[^/]*)"


def _is_model(path: str, folder: str) -> bool:
    """Return whether a path below a folder has the suffix of a model and is not in a hidden folder."""
    below = path.strip("/").removeprefix(folder.strip("/")).strip("/").split("/")
    return path.lower().endswith(MODEL_SUFFIXES) and not any(part.startswith(".") for part in below[:-1])
