# SPDX-License-Identifier: Apache-2.0
"""The database of the cache: one table of bytes by key, bounded in size, that several processes share.

A cache may be lost at any time, so no error of SQLite leaves this module. A database that is damaged, or holds anything
but that table, is replaced by an empty one. After any other error the cache is not used until the process ends.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import stat
import time
from typing import Final

from onnx_lint.cache.folder import is_own

DATABASE: Final = "verdicts.db"
_BESIDE: Final = ("-wal", "-shm", "-journal")
"""The suffixes of the files that SQLite writes beside a database."""

MOST_BYTES: Final = 256 << 20
"""The most bytes of the database. As long as it has more, the least recently used quarter of its entries is deleted."""

_WRITTEN_BEFORE_LOOK: Final = 16 << 20
"""The bytes that a process writes before it checks the size again."""

_MOST_BYTES_OF_ENTRY: Final = 8 << 20
_DAY_SECONDS: Final = 86_400
_BUSY_SECONDS: Final = 5
_RETRY_SECONDS: Final = 0.01
_FORMAT: Final = 1
_APPLICATION: Final = 0x4F4E4C54
_TABLE: Final = "CREATE TABLE verdicts (key BLOB PRIMARY KEY, used INTEGER NOT NULL, content BLOB NOT NULL)"
_FIND: Final = "SELECT used, content FROM verdicts WHERE key = ?"
_SETTINGS: Final = ("trusted_schema = OFF", "cell_size_check = ON", "journal_mode = WAL", "synchronous = NORMAL")
_CHECK_BYTES: Final = 16


class Store:
    """The entries of a cache, through one connection, which belongs to the process that made it."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, DATABASE)
        self._connection: sqlite3.Connection | None = None
        self._used: list[bytes] = []
        """The keys of the entries that were found and whose recorded use is more than a day old."""
        self._written = 0
        try:
            self._connection = self._opened()
            _shrink(self._connection)  # here, since a process that lints many files may be ended without `close`
        except (sqlite3.Error, OSError):
            self._fail()

    def get(self, key: bytes) -> bytes | None:
        """Return the content of an entry; None if there is none, or if it is damaged."""
        if self._connection is None:
            return None
        try:
            row = self._connection.execute(_FIND, (key,)).fetchone()
        except sqlite3.Error as error:
            self._recover(error)
            return None
        used, content = row or (None, None)
        if not isinstance(content, bytes) or content[:_CHECK_BYTES] != _check(key, content[_CHECK_BYTES:]):
            return None
        if not isinstance(used, int) or used + _DAY_SECONDS < time.time():
            self._used.append(key)
        return content[_CHECK_BYTES:]

    def put(self, key: bytes, content: bytes) -> None:
        """Write an entry, or replace it, as a whole."""
        if self._connection is None or len(content) > _MOST_BYTES_OF_ENTRY:
            return
        row = key, int(time.time()), _check(key, content) + content
        try:
            self._connection.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)", row)
            self._written += len(content)
            if self._written >= _WRITTEN_BEFORE_LOOK:
                self._written = 0
                _shrink(self._connection)
        except sqlite3.Error as error:
            self._recover(error)

    def close(self) -> None:
        """Note which entries were used, and close the connection."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        with contextlib.suppress(sqlite3.Error):
            if self._used:
                now = int(time.time())
                connection.execute("BEGIN IMMEDIATE")
                connection.executemany("UPDATE verdicts SET used = ? WHERE key = ?", ((now, key) for key in self._used))
                connection.execute("COMMIT")
        with contextlib.suppress(sqlite3.Error):
            connection.close()

    def _opened(self) -> sqlite3.Connection:
        end = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                return self._connected()
            except sqlite3.OperationalError as error:
                # SQLite does not wait for another process that changes the journal mode at the same time.
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(_RETRY_SECONDS)
            except (sqlite3.DatabaseError, UnicodeDecodeError):
                remove(self._path)
                return self._connected()

    def _connected(self) -> sqlite3.Connection:
        for path in (self._path + ending for ending in ("", *_BESIDE)):
            _check_own(path)
        # SQLite gives the files beside the database its permissions.
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600))
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}")
            _check_schema(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _recover(self, error: sqlite3.Error) -> None:
        """Delete a damaged database, so that the next process makes another; after any other error only disconnect."""
        self._fail()
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            with contextlib.suppress(OSError):
                remove(self._path)

    def _fail(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
        self._connection = None


def remove(path: str) -> None:
    """Delete a database. Raises OSError if that fails.

    The files beside it are deleted first: SQLite would apply the changes in them to the next database.
    """
    for ending in (*_BESIDE, ""):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + ending)


def _check(key: bytes, content: bytes) -> bytes:
    return hashlib.blake2b(content, key=key[:64], digest_size=_CHECK_BYTES).digest()


def _check_own(path: str) -> None:
    """Raise OSError for what is not a regular file of the user."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(status.st_mode) or not is_own(status):
        raise PermissionError(f"{path} is not a file of this user")


def _check_schema(connection: sqlite3.Connection) -> None:
    """Make the table in an empty database. Raises DatabaseError if there is anything else in it."""
    if _has_table(connection):
        return
    connection.execute("BEGIN IMMEDIATE")
    if not _has_table(connection):  # which another process has made meanwhile
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_FORMAT}")
        connection.execute(_TABLE)
    connection.execute("COMMIT")


def _has_table(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    if not found:
        return False
    numbers = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    if found != [("table", _TABLE)] or numbers != [_APPLICATION, _FORMAT]:
        raise sqlite3.DatabaseError("this is not a cache of onnx-lint")
    return True


def _shrink(connection: sqlite3.Connection) -> None:
    while _used_bytes(connection) > MOST_BYTES:
        connection.execute(
            "DELETE FROM verdicts WHERE key IN "
            "(SELECT key FROM verdicts ORDER BY used LIMIT (SELECT count(*) / 4 + 1 FROM verdicts))"
        )


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)
