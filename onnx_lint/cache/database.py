# SPDX-License-Identifier: Apache-2.0
"""One table of bytes by key in a database of SQLite, which may have any bytes.

SQLite opens most damaged databases without an error, and a query may then follow a loop in them. So every operation may
take a number of steps only, and what cannot be in a database of this module is damage.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterable
from typing import Final

from onnx_lint.cache.folder import OTHERS_WRITE, is_own
from onnx_lint.common.record import Record
from onnx_lint.wording import quote

BESIDE: Final = ("-wal", "-shm", "-journal")
"""The suffixes of the files that SQLite writes beside a database."""

MAX_BYTES: Final = 256 << 20
"""The most bytes of the database. As long as it has more, the least recently used quarter of its entries is deleted."""

MAX_BYTES_OF_CONTENT: Final = 8 << 20
"""The most bytes of an entry."""

BUSY_SECONDS: Final = 5
"""How long to wait for another process that has locked the database."""

_STEPS_BETWEEN_LOOKS: Final = 10_000
_MAX_STEPS: Final = 100_000
"""The instructions of SQLite that an operation may take. It takes less than a hundred for an entry."""

_BYTES_OF_A_STEP: Final = 4
"""The bytes of deleted entries for each further instruction. An entry of a few hundred bytes takes some 30."""

_FORMAT: Final = 1
_DAMAGED: Final = 0
"""The format of a database in which a process has found damage."""

_APPLICATION: Final = 0x4F4E4C54
_TABLE: Final = "CREATE TABLE verdicts (key BLOB PRIMARY KEY, used INTEGER NOT NULL, content BLOB NOT NULL)"
_SCHEMA: Final = "SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL LIMIT 2"
_FIND: Final = "SELECT used, content FROM verdicts WHERE key = ?"
_DELETE: Final = (  # not count(*), which is one instruction
    "DELETE FROM verdicts WHERE key IN "
    "(SELECT key FROM verdicts ORDER BY used LIMIT (SELECT coalesce(sum(1), 0) / 4 + 1 FROM verdicts))"
)
_SETTINGS: Final = (
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "mmap_size = 0",
    "journal_mode = WAL",
    "synchronous = NORMAL",
)
_LIMITS: Final = (
    (sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES_OF_CONTENT + 4_096),
    (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 1_024),
)

_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_NO_DAMAGE: Final = _BUSY | {
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,
}
"""The errors of SQLite whose cause is outside of the database."""

_READ_ONLY: Final = sqlite3.SQLITE_READONLY
"""The error if the database itself says that it cannot be written. Its variants have other causes."""


class DamageError(Exception):
    """A database that this module has not written so; the text says what it is."""


class ForeignFileError(Exception):
    """A file that is left alone. The text says why, with the database as its subject."""


ERRORS: Final = (sqlite3.Error, DamageError, ForeignFileError, OSError, UnicodeDecodeError, MemoryError)
"""The errors of the functions here. UnicodeDecodeError: a message of SQLite can have texts of the database."""


class Problem(Record):
    """Why a database cannot be used."""

    predicate: str = ""
    """What is said of the database, such as `is damaged`; empty if there is an error."""
    error: str = ""
    """The error, which goes after a colon."""
    is_damage: bool = False
    may_pass: bool = False
    """True if another process has locked the database."""

    def in_words(self, path: str) -> str:
        """Return the problem of the database at `path` as a phrase."""
        return f"{path} {self.predicate}" if self.predicate else f"{path}: {self.error}"


def problem_of(error: BaseException) -> Problem:
    """Return what one of the `ERRORS` says about the database."""
    if isinstance(error, DamageError):
        return Problem(str(error), is_damage=True)
    if isinstance(error, ForeignFileError):
        return Problem(str(error))
    if isinstance(error, BlockingIOError):
        return Problem("is just being replaced by another process", may_pass=True)
    if isinstance(error, OSError):
        return Problem(error=error.strerror or type(error).__name__)
    if isinstance(error, MemoryError):
        return Problem(error="out of memory")
    code = getattr(error, "sqlite_errorcode", None)  # Python raises some errors itself
    kind = None if code is None else code & 0xFF
    if kind in _NO_DAMAGE or (kind == _READ_ONLY and code != kind):
        return Problem(error=str(error), may_pass=kind in _BUSY)
    return Problem(f"is damaged ({getattr(error, 'sqlite_errorname', type(error).__name__)})", is_damage=True)


class Database:
    """An open database. Every method may raise one of the `ERRORS`."""

    def __init__(self, path: str) -> None:
        for ending in ("", *BESIDE):
            _check_own(path + ending, ending)
        # SQLite gives the files beside the database its permissions.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600))
        self._steps = _MAX_STEPS
        self._connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            self._connection.text_factory = bytes
            for limit, most in _LIMITS:
                self._connection.setlimit(limit, most)
            self._connection.set_progress_handler(self._is_too_long, _STEPS_BETWEEN_LOOKS)
            for setting in _SETTINGS:
                self._connection.execute(f"PRAGMA {setting}")
            self._check_schema()
            self.shrink()  # here, since a process that lints many files may be ended without `close`
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the database."""
        with contextlib.suppress(sqlite3.Error):
            self._connection.close()

    def get(self, key: bytes) -> tuple[object, object] | None:
        """Return the time of the last use of an entry and its content; None if there is no such entry."""
        self._steps = _MAX_STEPS
        row: tuple[object, object] | None = self._connection.execute(_FIND, (key,)).fetchone()
        return row

    def put(self, key: bytes, used: int, content: bytes) -> None:
        """Write an entry, or replace it, as a whole."""
        self._steps = _MAX_STEPS
        self._connection.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)", (key, used, content))

    def note_used(self, keys: Iterable[bytes], used: int) -> None:
        """Write the time of the last use of these entries."""
        self._steps = _MAX_STEPS
        self._connection.execute("BEGIN IMMEDIATE")
        for key in keys:
            self._steps = _MAX_STEPS
            self._connection.execute("UPDATE verdicts SET used = ? WHERE key = ?", (used, key))
        self._connection.execute("COMMIT")

    def shrink(self) -> None:
        """Delete the entries that were used longest ago until the database is small enough."""
        deleted = 1
        while (size := self._used_bytes()) > MAX_BYTES:
            if not deleted:
                raise DamageError(f"is damaged (no entries in {size:,} bytes)")
            self._steps = _MAX_STEPS + size // _BYTES_OF_A_STEP
            deleted = self._connection.execute(_DELETE).rowcount

    def mark_damaged(self) -> bool:
        """Note in the database that it is damaged, so that the next process replaces it. False if that is noted."""
        self._steps = _MAX_STEPS
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")
        if self._number("user_version") == _DAMAGED:
            return False
        self._connection.execute(f"PRAGMA user_version = {_DAMAGED}")
        return True

    def _is_too_long(self) -> bool:
        """Count the steps of an operation; SQLite ends it if the answer is true."""
        self._steps -= _STEPS_BETWEEN_LOOKS
        return self._steps < 0

    def _check_schema(self) -> None:
        """Make the table in an empty database. Raises DamageError if there is anything else in it."""
        if self._has_table():
            return
        self._connection.execute("BEGIN IMMEDIATE")
        if not self._has_table():  # which another process has made meanwhile
            self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._connection.execute(f"PRAGMA user_version = {_FORMAT}")
            self._connection.execute(_TABLE)
        self._connection.execute("COMMIT")

    def _has_table(self) -> bool:
        found = self._connection.execute(_SCHEMA).fetchall()
        application, version = self._number("application_id"), self._number("user_version")
        if not found and not application and not version:
            return False
        if application != _APPLICATION:
            raise DamageError("is not a cache of onnx-lint")
        if version not in (_FORMAT, _DAMAGED):
            raise DamageError("has the format of another version of onnx-lint")
        if version == _DAMAGED:
            raise DamageError("is damaged (an earlier run has found it)")
        if found != [(b"table", _TABLE.encode())]:
            raise DamageError("is damaged (it has other tables)")
        return True

    def _used_bytes(self) -> int:
        # In this order: the number of pages never falls, also if another process writes in between.
        free, pages, size = (self._number(name) for name in ("freelist_count", "page_count", "page_size"))
        if not 0 <= free < pages:
            raise DamageError(f"is damaged ({free:,} free pages of {pages:,})")
        return (pages - free) * size

    def _number(self, name: str) -> int:
        found: int = self._connection.execute(f"PRAGMA {name}").fetchone()[0]
        return found


def remove(path: str) -> None:
    """Delete a database that nobody has open. Raises OSError if that fails.

    The database goes first: SQLite deletes what is left of an older one beside an empty one.
    """
    for ending in ("", *BESIDE):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + ending)


_REMEDY: Final = "delete it, or set ONNX_LINT_CACHE_DIR to another folder"


def _check_own(path: str, ending: str) -> None:
    """Raise ForeignFileError unless it is a regular file that only the user can write to."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return
    subject = f"has the file {quote(os.path.basename(path))} beside it, which " if ending else ""
    if stat.S_ISLNK(status.st_mode):
        raise ForeignFileError(f"{subject}is a link; {_REMEDY}")
    if not stat.S_ISREG(status.st_mode):
        raise ForeignFileError(f"{subject}is not a regular file; {_REMEDY}")
    if not is_own(status):
        raise ForeignFileError(f"{subject}belongs to another user; {_REMEDY}")
    if os.name == "posix" and status.st_mode & OTHERS_WRITE:
        raise ForeignFileError(f"{subject}can be written by other users; chmod go-w would change that")
