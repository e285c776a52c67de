# SPDX-License-Identifier: Apache-2.0
"""The database of a scan, `scan.db` in the folder of its reports: what is scanned, a row a model, a row a finding.

What has come is written in one transaction, so that it is there whole or not at all, whatever is killed. The report,
its totals and its exports are queries.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from onnx_lint.fleet import schema
from onnx_lint.fleet.columns import FINDING_COLUMNS, edition_of, finding_row, model_row, reason_of
from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.head import check_same, parsed_head
from onnx_lint.fleet.jobs import Outcome
from onnx_lint.input.regular_file import kind_of_file
from onnx_lint.reporters.escape import shortened, visible

DATABASE: Final = "scan.db"

_BESIDE: Final = ("-wal", "-shm", "-journal")
"""What the names of the files that SQLite writes beside a database end with."""

_LOCK: Final = "lock"
_OWN: Final = frozenset({DATABASE, _LOCK, *(DATABASE + ending for ending in _BESIDE)})
_FORMER: Final = "scan.json"
"""What stands in the folder of a scan by an onnx-lint that wrote no database."""

_BUSY_SECONDS: Final = 10
"""So long is waited for another process that has locked the database."""

_MOST_SHOWN: Final = 200
"""Characters of what SQLite says, in which there may be text of a stranger."""


class Reports:
    """What a scan knows, by an open connection."""

    def __init__(self, folder: str, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self.connection = connection
        row = connection.execute("SELECT head FROM scan").fetchone()
        if row is None:
            raise FleetError(f"{visible(folder)} holds no reports of a scan")
        self.head: dict[str, Any] = parsed_head(row[0], _path_of(folder))
        """What is scanned, and by which settings."""

    @property
    def is_whole(self) -> bool:
        """Whether the last scan came to its end."""
        found: tuple[int] = self.connection.execute("SELECT complete FROM scan").fetchone()
        return bool(found[0])

    def count(self) -> int:
        """How many models are known."""
        found: tuple[int] = self.connection.execute("SELECT count(*) FROM models").fetchone()
        return found[0]

    def identity_of(self, path: str) -> str | None:
        """Return the identity of the object that has a verdict, as JSON; None where there is none."""
        query = "SELECT identity FROM models WHERE path = ? AND settled"
        found: tuple[str] | None = self.connection.execute(query, (path,)).fetchone()
        return found[0] if found is not None else None

    @contextlib.contextmanager
    def beside(self, old: Reports) -> Iterator[None]:
        """Have the tables of another scan beside those of this one, in the schema `old`."""
        self.connection.execute("ATTACH DATABASE ? AS old", (_address_of(old.folder, "rw"),))
        try:
            yield
        finally:
            with contextlib.suppress(sqlite3.Error):  # who only reads keeps it until the connection is closed
                self.connection.execute("DETACH DATABASE old")

    def land(self, outcomes: Sequence[Outcome]) -> None:
        """Write outcomes, each in the place of what was known of its model. Raises FleetError where that fails.

        An interrupt may come at any step: then all of them are written or none, and they may be landed again.
        """
        if outcomes:
            self._change(lambda: self._put_all(outcomes))

    def finish(self, paths: Iterable[str]) -> None:
        """Forget all models but those at `paths`, which are known, and note that the scan is at its end."""
        self._change(lambda: self._keep(paths))

    def _change(self, change: Callable[[], None]) -> None:
        connection = self.connection
        try:
            with telling(self.folder):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")  # what an interrupt has left
                connection.execute("BEGIN IMMEDIATE")
                change()
                connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _put_all(self, outcomes: Iterable[Outcome]) -> None:
        self.connection.execute("UPDATE scan SET complete = 0")
        usual = self.head["tool"]["specification"]
        for item in outcomes:
            self._put(item, usual)

    def _put(self, outcome: Outcome, usual: Mapping[str, str]) -> None:
        record = json.loads(outcome.file)
        row = model_row(record) | {
            "edition": edition_of(record.get("specification", usual)),
            "reason": reason_of(record),
            "identity": json.dumps(record["object"], sort_keys=True),
            "settled": int(outcome.settled),
            "record": outcome.file.decode().rstrip("\n"),
        }
        self.connection.execute("DELETE FROM findings WHERE path = ?", (row["path"],))
        self.connection.execute(_insertion("INSERT OR REPLACE", "models", row), row)
        lines = outcome.findings.decode().splitlines()
        rows = [finding_row(json.loads(line)) | {"record": line} for line in lines]
        self.connection.executemany(_insertion("INSERT", "findings", (*FINDING_COLUMNS, "record")), rows)

    def _keep(self, paths: Iterable[str]) -> None:
        connection = self.connection
        connection.execute("CREATE TEMP TABLE IF NOT EXISTS kept (path TEXT PRIMARY KEY)")
        connection.execute("DELETE FROM kept")
        connection.executemany("INSERT OR IGNORE INTO kept VALUES (?)", ((path,) for path in paths))
        for table in ("models", "findings"):
            connection.execute(f"DELETE FROM {table} WHERE path NOT IN (SELECT path FROM kept)")
        connection.execute("UPDATE scan SET complete = 1")


def _insertion(verb: str, table: str, names: Iterable[str]) -> str:
    listed = [(f'"{name}"', f":{name}") for name in names]
    columns, values = (", ".join(each) for each in zip(*listed, strict=True))
    return f"{verb} INTO {table} ({columns}) VALUES ({values})"


@contextlib.contextmanager
def telling(folder: str) -> Iterator[None]:
    """Turn an error of SQLite into a FleetError."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise FleetError(f"{visible(_path_of(folder))}: {_shown(error)}") from error
    except sqlite3.Error as error:
        raise _damaged(folder, str(error)) from error


@contextlib.contextmanager
def open_to_read(folder: str) -> Iterator[Reports]:
    """The reports in a folder as they are at one time. Raises FleetError where it holds none, or damaged ones."""
    if not os.path.isdir(folder):
        raise FleetError(f"{visible(folder)}: {'is no folder' if os.path.lexists(folder) else 'is not there'}")
    _refuse_former(folder)
    if not os.path.lexists(_path_of(folder)):
        raise FleetError(f"{visible(folder)} holds no reports of a scan")
    with telling(folder), _connected(folder, "rw") as connection:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        if not _has_tables(folder, connection):
            raise FleetError(f"{visible(folder)} holds no reports of a scan")
        yield Reports(folder, connection)


@contextlib.contextmanager
def open_to_scan(folder: str, head: dict[str, Any], *, anew: bool) -> Iterator[Reports]:
    """The reports in a folder for one scan at a time, described by `head`; the folder is made where there is none.

    `anew`: whether to forget what there is. Raises FleetError where something else is in it, another scan, or one that
    is under way.
    """
    try:
        _make(folder)
        with _locked(folder):
            if anew:
                _remove(folder)
            with telling(folder), _connected(folder, "rwc") as connection:
                yield _begun(folder, connection, head)
                # Then the database is one file, which may be copied, or read where nobody may write.
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("PRAGMA journal_mode = DELETE")
    except OSError as error:
        raise FleetError(f"{visible(folder)}: {error.strerror or error}") from error


def _begun(folder: str, connection: sqlite3.Connection, head: dict[str, Any]) -> Reports:
    """Make the database that of the scan that `head` describes."""
    is_new = not _has_tables(folder, connection)
    if not is_new:
        check_same(folder, Reports(folder, connection).head, head)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("BEGIN IMMEDIATE")
    if is_new:
        schema.create(connection)
    connection.execute("INSERT OR REPLACE INTO scan (id, head, complete) VALUES (1, ?, 0)", (json.dumps(head),))
    connection.execute("COMMIT")
    return Reports(folder, connection)


def _has_tables(folder: str, connection: sqlite3.Connection) -> bool:
    """Return whether there are tables. Raises FleetError unless they and their rows are such as a scan writes."""
    try:
        if schema.is_empty(connection):
            return False
        fault = schema.fault_in(connection)
    except UnicodeDecodeError:  # in what SQLite says of it
        fault = "it has text in it that is not UTF-8"
    if fault is not None:
        raise _damaged(folder, fault)
    return True


def _shown(error: sqlite3.Error) -> str:
    return visible(shortened(str(error), _MOST_SHOWN))


def _damaged(folder: str, why: str) -> FleetError:
    told = f"{visible(_path_of(folder))} is damaged: {visible(shortened(why, _MOST_SHOWN))}"
    return FleetError(f"{told}; with --anew a scan begins again")


@contextlib.contextmanager
def _connected(folder: str, mode: str) -> Iterator[sqlite3.Connection]:
    """A connection to the database in a folder, by the mode of SQLite's addresses."""
    for path in (_path_of(folder) + ending for ending in ("", *_BESIDE)):
        _check_regular(path)
    connection = sqlite3.connect(_address_of(folder, mode), uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        for setting in ("cell_size_check = ON", "temp_store = MEMORY"):
            connection.execute(f"PRAGMA {setting}")
        yield connection
    finally:
        connection.close()


def _address_of(folder: str, mode: str) -> str:
    return f"file:{quote(os.fsencode(os.path.abspath(_path_of(folder))))}?mode={mode}"


def _check_regular(path: str) -> None:
    """Raise FleetError for what SQLite would wait for, or write through: a pipe, a device, a link."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise FleetError(f"{visible(path)} is {kind_of_file(mode)}, which no scan writes")


def _path_of(folder: str) -> str:
    return os.path.join(folder, DATABASE)


def _remove(folder: str) -> None:
    """Remove the database; first what SQLite would take for changes of the next one."""
    for ending in (*_BESIDE, ""):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_path_of(folder) + ending)


def _make(folder: str) -> None:
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise FleetError(f"{visible(folder)}: is no folder")
    os.makedirs(folder, exist_ok=True)
    _refuse_former(folder)
    foreign = sorted(name for name in os.listdir(folder) if name not in _OWN)
    if foreign and not os.path.lexists(_path_of(folder)):
        shown = visible(foreign[0])
        raise FleetError(f"{visible(folder)} holds other things, such as {shown}, and no reports of a scan")


def _refuse_former(folder: str) -> None:
    if os.path.lexists(os.path.join(folder, _FORMER)) and not os.path.lexists(_path_of(folder)):
        told = f"{visible(folder)} holds the reports of an earlier onnx-lint, which are not read any more"
        raise FleetError(f"{told}: scan again, into another folder")


@contextlib.contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Hold the folder as long as this process lives."""
    import locket

    path = os.path.join(folder, _LOCK)
    _check_regular(path)
    lock = locket.lock_file(path, timeout=0)
    try:
        lock.acquire()
    except locket.LockError as error:
        raise FleetError(f"{visible(folder)}: another scan is writing to it") from error
    try:
        yield
    finally:
        lock.release()
