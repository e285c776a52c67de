# SPDX-License-Identifier: Apache-2.0
"""Finds the report of an unchanged file in the cache, and stores the report of any other file.

An entry belongs to a path and to everything that `key.py` names. It holds what the check looked at: the identity of
the file and the digest of its content, and what was found at each location of external data. A report is reused only
if all of that is still the same.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.cache.identity import (
    MAX_DIGEST_BYTES,
    Identity,
    digest_at,
    identity_at,
    identity_of,
    is_same_elsewhere,
    is_settled,
)
from onnx_lint.cache.key import digest_of_settings, key_of
from onnx_lint.cache.serialized import from_bytes, parsed, serialized, to_bytes
from onnx_lint.cache.store import Store
from onnx_lint.common.record import Record, replace
from onnx_lint.engine.settings import Settings, trusted_folders
from onnx_lint.input.locations import is_remote
from onnx_lint.input.source import ReadError
from onnx_lint.ir.tensors.data_folder import DataFolder
from onnx_lint.report import Context
from onnx_lint.report.file_report import FileReport

if TYPE_CHECKING:
    from onnx_lint.remote import RemoteSource

_MAX_BYTES: Final = 64 << 20
"""A longer entry is not unpacked."""

_LEVEL: Final = 1


class FileCheck(Record):
    """A check of one file: everything that decides its report."""

    path: str
    settings: Settings
    name: str
    context: Context
    """What the report shows around findings."""
    listed: tuple[str, int] | None = None
    """The identity of a stored object in the listing of its store; None if the listing has none."""
    source: RemoteSource | None = None
    """A stored object that was opened."""

    @property
    def may_be_kept(self) -> bool:
        """True if the file system or store shows every change that affects the report."""
        return self.path != "-" and is_remote(self.path) == is_remote(self.name)

    def identity(self) -> Identity | None:
        """Return the identity of the file as it is now; None if it has none that shows every change."""
        if is_remote(self.path):
            return self.listed if self.source is None else self.source.identity
        return identity_at(self.path)

    def folder(self) -> DataFolder | None:
        """The folder in which the check looks for external data; None if it does not look for any, or cannot yet."""
        if not self.settings.external_data or self.name == "-":
            return None
        if is_remote(self.path):
            return self.source.beside(self.settings.limits.external_bytes) if self.source is not None else None
        directory = os.path.dirname(self.name)
        return DataFolder(directory, trusted_folders(directory, self.settings), self.settings.limits.external_bytes)


class Verdicts:
    """The cache in a folder, for one process."""

    def __init__(self, folder: str) -> None:
        self._store = Store(folder)
        self._settings: dict[int, tuple[Settings, bytes | None]] = {}

    @property
    def is_usable(self) -> bool:
        """True unless a line on standard error has said that the cache is not used."""
        return self._store.is_usable

    def report_damaged_entries(self) -> None:
        """Report how many of the entries that were looked up are damaged."""
        self._store.report_damaged_entries()

    def close(self) -> None:
        """Close the database."""
        self._store.close()

    def find(self, check: FileCheck, *, may_read: bool) -> FileReport | None:
        """Return the report of an unchanged file; None if there is none. `may_read`: whether to compare the content.

        A report that shows more around findings also serves one that shows less.
        """
        for context in list(Context)[check.context :]:
            found = self._found(replace(check, context=context), may_read=may_read)
            if found is not None:
                return found if context == check.context else found.with_context(check.context)
        return None

    def _found(self, check: FileCheck, *, may_read: bool) -> FileReport | None:
        key = self._key(check)
        content = self._store.get(key) if key is not None else None
        if key is None or content is None:
            return None
        try:
            identity = check.identity()
            entry = _unpacked(content)
            if identity is None or not _is_unchanged(check, entry, identity, may_read=may_read):
                return None
            report = parsed(entry["report"])
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, zlib.error, ReadError):
            return None
        if report.path != check.name:
            return None
        was_read = entry["identity"] != list(identity) or not is_settled(identity, entry["moment"])
        if was_read and entry["digest"] is not None and check.identity() == identity:
            # The next run need not compare the content: a later change gives the file a later time.
            self._store.put(key, _packed({**entry, "identity": identity, "moment": time.time_ns()}))
        return report

    def checked(self, check: FileCheck, lint: Callable[[DataFolder | None], FileReport]) -> FileReport:
        """Return the report that `lint` makes. Store it if it depends only on what an entry holds."""
        found = linted(check, lint)
        if found.entry is not None:
            self._put(check, found.entry)
        return found.report

    def keep(self, check: FileCheck, entry: Mapping[str, Any], moment: int) -> None:
        """Store an entry that another machine made, if the files here are those that it read.

        `moment`: a time of this machine before the check. A file system has another device number there. The version
        of a stored object that is not listed is known there only.
        """
        identity = check.identity()
        if identity is None and is_remote(check.path):
            identity = entry["identity"]
        if identity is None or not is_same_elsewhere(identity, entry["identity"]):
            return
        folder = check.folder()
        opened = {}
        for location, before in entry["opened"].items():
            found = _identity_in(folder, location) if folder is not None else None
            if found is None or not is_same_elsewhere(found, before):
                return
            opened[location] = found
        self._put(check, {**entry, "identity": identity, "moment": moment, "opened": opened})

    def _put(self, check: FileCheck, entry: Mapping[str, Any]) -> None:
        key = self._key(check)
        if key is not None:
            self._store.put(key, _packed(entry))

    def _key(self, check: FileCheck) -> bytes | None:
        known = self._settings.get(id(check.settings))
        if known is None:
            # The settings are kept as well, so that no other object gets their id.
            known = check.settings, digest_of_settings(check.settings)
            self._settings[id(check.settings)] = known
        if known[1] is None:
            return None
        return key_of(known[1], path=check.path, name=check.name, context=check.context)


class LintedFile(Record):
    """A new report, and its entry in the cache."""

    report: FileReport
    entry: Mapping[str, Any] | None
    """The entry; None if the report depends on more than an entry holds."""


def linted(check: FileCheck, lint: Callable[[DataFolder | None], FileReport]) -> LintedFile:
    """Return the report that `lint` makes, with its entry."""
    before = check.identity()
    moment = time.time_ns()
    has_settled = before is not None and is_settled(before, moment)
    digest = None if before is None or has_settled else digest_at(check.path)
    folder = check.folder()
    report = lint(folder)
    beside = _beside(folder, moment)
    if before is None or beside is None or not _may_be_stored(report):
        return LintedFile(report, None)
    after = digest_at(check.path) if not has_settled or _has_digest(before) else None
    is_unchanged = has_settled or (digest is not None and digest == after)
    if not is_unchanged or check.identity() != before:
        return LintedFile(report, None)
    try:
        made = serialized(report)
    except TypeError:
        return LintedFile(report, None)
    entry = {"identity": before, "moment": moment, "digest": after, **beside, "report": made}
    return LintedFile(report, entry)


def _may_be_stored(report: FileReport) -> bool:
    """Return whether a report follows from the file and the settings alone."""
    return not (report.internal_errors or report.unreadable is not None or report.lacks_numpy)


def _has_digest(identity: Identity) -> bool:
    """Return whether an entry for a file with this identity has the digest of its content: not for large files."""
    return len(identity) > 2 and identity[2] <= MAX_DIGEST_BYTES


def _is_unchanged(check: FileCheck, entry: Mapping[str, Any], identity: Identity, *, may_read: bool) -> bool:
    moment = entry["moment"]
    is_same = entry["identity"] == list(identity) and is_settled(identity, moment)
    if not is_same and (not may_read or entry["digest"] is None or digest_at(check.path) != entry["digest"]):
        return False
    if not entry["lookups"]:
        return True
    folder = check.folder()
    if folder is None:
        return False
    for location, found in entry["lookups"].items():
        if repr(folder.file(location)) != found:
            return False
    if entry["listed"] is not None and folder.data_files() != entry["listed"]:
        return False
    return all(_is_same(folder, location, found, moment) for location, found in entry["opened"].items())


def _is_same(folder: DataFolder, location: str, before: Sequence[int], moment: int) -> bool:
    identity = _identity_in(folder, location)
    return identity is not None and list(identity) == before and is_settled(identity, moment)


def _identity_in(folder: DataFolder, location: str) -> Identity | None:
    file = folder.file(location)
    return identity_at(os.path.join(file.folder, file.path), follow_links=False)


def _beside(folder: DataFolder | None, moment: int) -> dict[str, Any] | None:
    """Return the files beside the model that were looked up; None if unknown, or if they may have changed meanwhile."""
    if folder is None:
        return {"lookups": {}, "opened": {}, "listed": None}
    lookups = folder.lookups
    opened = {location: identity_of(status) for location, status in folder.opened.items()}
    if lookups is None or not all(is_settled(identity, moment) for identity in opened.values()):
        return None
    states = {location: repr(found) for location, found in lookups.items()}
    return {"lookups": states, "opened": opened, "listed": folder.listed}


def _packed(entry: Mapping[str, Any]) -> bytes:
    return zlib.compress(to_bytes(entry), _LEVEL)


def _unpacked(content: bytes) -> dict[str, Any]:
    unpacking = zlib.decompressobj()
    entry = from_bytes(unpacking.decompress(content, _MAX_BYTES))
    if type(entry) is not dict or not unpacking.eof:
        raise ValueError("this is not an entry of the cache")
    return entry
