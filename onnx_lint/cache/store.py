# SPDX-License-Identifier: Apache-2.0
"""The entries of the cache: bytes by key in one database, bounded in size, that several processes share.

A cache may be lost at any time, so no error leaves this module. A database that is damaged, or holds anything but the
entries, is replaced by an empty one. After any other error the cache is not used until the process ends. Each
replacement, and the end of use, is reported in one line.

SQLite loses data if its files are deleted while another process has them open. So only a process that has locked the
folder against all others replaces a database. One that cannot, because others are using the database, notes the damage
in it and uses it no longer.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import time
from collections.abc import Callable
from typing import Final, TypeVar

from onnx_lint.cache.database import (
    BUSY_SECONDS,
    ERRORS,
    MAX_BYTES_OF_CONTENT,
    Database,
    Problem,
    problem_of,
    remove,
)
from onnx_lint.cache.folder_lock import FolderLock
from onnx_lint.common.record import Record
from onnx_lint.wording import quote

DATABASE: Final = "verdicts.db"

_WRITTEN_BEFORE_LOOK: Final = 16 << 20
"""The bytes that a process writes before it checks the size again."""

_DAY_SECONDS: Final = 86_400
_RETRY_SECONDS: Final = 0.1
_CHECKSUM_BYTES: Final = 16

_Result = TypeVar("_Result")


class _ReplaceAttempt(Record):
    """The attempt to replace a database."""

    is_done: bool = False
    """True if the database is to be opened anew."""
    obstacle: str = ""
    """Why it was not replaced, after ", and "; empty if it was, or if nothing was tried."""


def print_line(text: str) -> None:
    """Print a line on standard error, if that is possible: it may be missing (None) or closed."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{text}\n")


class Store:
    """The entries of a cache, through one connection, which belongs to the process that made it."""

    def __init__(self, folder: str, report: Callable[[str], None] = print_line) -> None:
        """Open the cache in `folder`. `report` is called with a line if the cache is replaced or not used."""
        self._path = os.path.join(folder, DATABASE)
        self._report = report
        self._lock = FolderLock(folder)
        self._database: Database | None = None
        self._used: list[bytes] = []
        """The keys of the entries that were found and whose recorded use is more than a day old."""
        self._written = 0
        self._was_replaced = False
        self._damaged_entries = 0
        self._open()

    @property
    def is_usable(self) -> bool:
        """True until the database cannot be used, or is closed."""
        return self._database is not None

    def get(self, key: bytes) -> bytes | None:
        """Return the content of an entry; None if there is none, or if it is damaged."""
        row = self._with_database(lambda database: database.get(key))
        if row is None:
            return None
        used, content = row
        if not isinstance(content, bytes) or content[:_CHECKSUM_BYTES] != _checksum(key, content[_CHECKSUM_BYTES:]):
            self._damaged_entries += 1
            return None
        if not isinstance(used, int) or used + _DAY_SECONDS < time.time():
            self._used.append(key)
        return content[_CHECKSUM_BYTES:]

    def put(self, key: bytes, content: bytes) -> None:
        """Write an entry, or replace it, as a whole."""
        if len(content) + _CHECKSUM_BYTES > MAX_BYTES_OF_CONTENT:
            return
        self._with_database(lambda database: database.put(key, int(time.time()), _checksum(key, content) + content))
        self._written += len(content)
        if self._written >= _WRITTEN_BEFORE_LOOK:
            self._written = 0
            self._with_database(Database.shrink)

    def report_damaged_entries(self) -> None:
        """Report how many entries were damaged, unless a line has said that the database is."""
        if self._damaged_entries and not self._was_replaced and self._database is not None:
            count = f"{self._damaged_entries:,} entr{'y' if self._damaged_entries == 1 else 'ies'}"
            self._report(f"The cache is not used for {count}: the bytes in {quote(self._path)} are damaged")

    def close(self) -> None:
        """Note which entries were used, and close the connection."""
        if self._used:
            self._with_database(lambda database: database.note_used(self._used, int(time.time())))
        self._disconnect()

    def _open(self) -> None:
        """Open the database. Replace a damaged one, and wait for another process that has locked it."""
        end = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._lock.share()
                self._database = Database(self._path)
                return
            except ERRORS as error:
                problem = problem_of(error)
            self._disconnect()
            attempt = self._replace(problem)
            if attempt.is_done:
                continue
            # Another process may be replacing a damaged database.
            may_pass = problem.may_pass or (problem.is_damage and not self._was_replaced)
            if not may_pass or time.monotonic() > end:
                self._report_not_used(problem, attempt)
                return
            time.sleep(_RETRY_SECONDS)

    def _with_database(self, work: Callable[[Database], _Result]) -> _Result | None:
        """Return `work(database)`, done again if a damaged database was replaced; None if the cache is unusable."""
        for _ in range(2):
            if self._database is None:
                return None
            try:
                return work(self._database)
            except ERRORS as error:
                self._recover(self._database, problem_of(error))
        return None

    def _recover(self, database: Database, problem: Problem) -> None:
        """Replace a damaged database. If others are using it, or after any other error, only disconnect."""
        is_first_report = True
        if problem.is_damage:
            with contextlib.suppress(*ERRORS):
                is_first_report = database.mark_damaged()
        self._disconnect()
        attempt = self._replace(problem)
        if attempt.is_done:
            self._open()
        elif is_first_report:  # otherwise the process that has found it first says so
            self._report_not_used(problem, attempt)

    def _report_not_used(self, problem: Problem, attempt: _ReplaceAttempt) -> None:
        more = f", and {attempt.obstacle}" if attempt.obstacle else ""
        self._report(f"The cache is not used: {problem.in_words(quote(self._path))}{more}")

    def _replace(self, problem: Problem) -> _ReplaceAttempt:
        """Delete a damaged database, at most once."""
        if not problem.is_damage or self._was_replaced:
            return _ReplaceAttempt()
        try:
            self._lock.claim()
            is_damaged = self._is_still_damaged()
            if is_damaged:
                remove(self._path)
        except BlockingIOError:
            return _ReplaceAttempt(obstacle="another process is using it; a later run replaces it")
        except OSError as error:
            return _ReplaceAttempt(obstacle=f"cannot be deleted: {error.strerror}")
        finally:
            self._lock.release()
        self._was_replaced = True
        if is_damaged:
            self._report(f"The cache was replaced: {problem.in_words(quote(self._path))}")
        return _ReplaceAttempt(is_done=True)

    def _is_still_damaged(self) -> bool:
        """Return whether opening the database finds damage: another process may have replaced it meanwhile.

        Opening it creates a missing database.
        """
        try:
            Database(self._path).close()
        except ERRORS as error:
            return problem_of(error).is_damage
        return False

    def _disconnect(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()
        self._lock.release()


def _checksum(key: bytes, content: bytes) -> bytes:
    # BLAKE2b accepts keys of at most 64 bytes.
    return hashlib.blake2b(content, key=key[:64], digest_size=_CHECKSUM_BYTES).digest()
