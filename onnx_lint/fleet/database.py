# SPDX-License-Identifier: Apache-2.0
"""The database of a scan, `scan.db` in the folder of its reports: the scan, a row per model, a row per finding.

New outcomes are written in one transaction, so that they are there completely or not at all, whatever is killed. The
report, its totals and its exports are queries.
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
from onnx_lint.report import InternalError
from onnx_lint.reporters.escape import shortened, visible
from onnx_lint.reporters.records import internal_error

DATABASE: Final = "scan.db"

_BESIDE: Final = ("-wal", "-shm", "-journal")
"""The endings of the files that SQLite writes beside a database."""

_LOCK: Final = "lock"
_OWN: Final = frozenset({DATABASE, _LOCK, *(DATABASE + ending for ending in _BESIDE)})
_FORMER: Final = "scan.json"
"""The file in the folder of a scan by an onnx-lint that wrote no database."""

_BUSY_SECONDS: Final = 10
"""The time to wait for another process that has locked the database."""

_MOST_SHOWN: Final = 200
"""The most characters to show of a message of SQLite, which may contain untrusted text."""


class Reports:
    """The results of a scan, over an open connection."""

    def __init__(self, folder: str, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self.connection = connection
        row = connection.execute("SELECT head FROM scan").fetchone()
        if row is None:
            raise FleetError(f"{visible(folder)} holds no reports of a scan")
        self.head: dict[str, Any] = parsed_head(row[0], _path_of(folder))
        """The targets and settings of the scan."""

    @property
    def is_whole(self) -> bool:
        """True if the last scan was completed."""
        found: tuple[int] = self.connection.execute("SELECT complete FROM scan").fetchone()
        return bool(found[0])

    def count(self) -> int:
        """Return the number of models with results."""
        found: tuple[int] = self.connection.execute("SELECT count(*) FROM models").fetchone()
        return found[0]

    def identity_of(self, path: str) -> str | None:
        """Return the identity of the object that has a verdict, as JSON; None if there is none."""
        query = "SELECT identity FROM models WHERE path = ? AND settled"
        found: tuple[str] | None = self.connection.execute(query, (path,)).fetchone()
        return found[0] if found is not None else None

    def data_files(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the paths of the models with external data, each with the locations at which there is a file."""
        for path, record in self._records("instr(record, '\"data_files\":')"):
            names = record.get("data_files")
            yield path, [name for name in names if isinstance(name, str)] if isinstance(names, list) else []

    def suppressions(self, key: str) -> Iterator[tuple[str, list[str]]]:
        """Yield the paths of the models whose records have the key `used_suppressions` or `suppression_problems`."""
        for path, record in self._records(f"instr(record, '\"{key}\":')"):
            found = record.get(key)
            yield path, [text for text in found if isinstance(text, str)] if isinstance(found, list) else []

    def suppressed(self) -> int:
        """Return the number of suppressed findings."""
        counts = [
            summary.get("suppressed")
            for _, record in self._records("instr(record, '\"used_suppressions\":')")
            if isinstance(summary := record.get("summary"), dict)
        ]
        return sum(count for count in counts if isinstance(count, int))

    def crashes(self) -> Iterator[tuple[str, InternalError]]:
        """Yield the internal errors that have a traceback, each with the path of the model."""
        for path, record in self._records("internal_errors"):
            found: list[InternalError] = []
            with contextlib.suppress(TypeError, LookupError):
                found = [internal_error(each) for each in record["internal_errors"]]
            yield from ((path, error) for error in found if _has_traceback(error))

    def _records(self, condition: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the paths and records of some models, without records that no scan has written."""
        for path, text in self.connection.execute(f"SELECT path, record FROM models WHERE {condition} ORDER BY path"):
            with contextlib.suppress(ValueError, RecursionError):
                record = json.loads(text)
                if isinstance(record, dict):
                    yield path, record

    @contextlib.contextmanager
    def beside(self, old: Reports) -> Iterator[None]:
        """Attach the tables of another scan as the schema `old`."""
        self.connection.execute("ATTACH DATABASE ? AS old", (_address_of(old.folder, "rw"),))
        try:
            yield
        finally:
            with contextlib.suppress(sqlite3.Error):  # inside a transaction it stays until the connection is closed
                self.connection.execute("DETACH DATABASE old")

    def land(self, outcomes: Sequence[Outcome]) -> None:
        """Write outcomes, each in place of the former results of its model. Raises FleetError if that fails.

        An interrupt may come at any step. Then either all or none are written, and they may be written again.
        """
        if outcomes:
            self._change(lambda: self._put_all(outcomes))

    def finish(self, paths: Iterable[str]) -> None:
        """Remove all models except those at `paths`, and record that the scan is complete."""
        self._change(lambda: self._keep(paths))

    def _change(self, change: Callable[[], None]) -> None:
        connection = self.connection
        try:
            with as_fleet_errors(self.folder):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")  # left by an interrupt
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


def _has_traceback(error: InternalError) -> bool:
    """Return whether an error has a traceback, and is one that a scan writes."""
    texts = (error.rule, error.exception, error.traceback, error.node or "", error.place or "", error.work or "")
    return all(isinstance(text, str) for text in texts) and bool(error.traceback)


def _insertion(verb: str, table: str, names: Iterable[str]) -> str:
    listed = [(f'"{name}"', f":{name}") for name in names]
    columns, values = (", ".join(each) for each in zip(*listed, strict=True))
    return f"{verb} INTO {table} ({columns}) VALUES ({values})"


@contextlib.contextmanager
def as_fleet_errors(folder: str) -> Iterator[None]:
    """Turn errors of SQLite into FleetErrors."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise FleetError(f"{visible(_path_of(folder))}: {_shown(error)}") from error
    except sqlite3.Error as error:
        raise _damaged(folder, str(error)) from error


@contextlib.contextmanager
def open_to_read(folder: str) -> Iterator[Reports]:
    """Yield the reports in a folder, as a snapshot. Raises FleetError if it has none, or damaged ones."""
    if not os.path.isdir(folder):
        raise FleetError(f"{visible(folder)}: {'is not a folder' if os.path.lexists(folder) else 'does not exist'}")
    _refuse_former(folder)
    if not os.path.lexists(_path_of(folder)):
        raise FleetError(f"{visible(folder)} holds no reports of a scan")
    with as_fleet_errors(folder), _connected(folder, "rw") as connection:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("BEGIN")
        if not _has_tables(folder, connection):
            raise FleetError(f"{visible(folder)} holds no reports of a scan")
        yield Reports(folder, connection)


@contextlib.contextmanager
def open_to_scan(folder: str, head: dict[str, Any], *, anew: bool) -> Iterator[Reports]:
    """Yield the reports in a folder for the scan that `head` describes. The folder is created if it does not exist.

    `anew`: whether to discard earlier results. Raises FleetError if the folder holds something else or another scan, or
    if a scan is writing to it.
    """
    try:
        _make(folder)
        with _locked(folder):
            if anew:
                _remove(folder)
            with as_fleet_errors(folder), _connected(folder, "rwc") as connection:
                yield _begun(folder, connection, head)
                # In this mode the database is one file, which can be copied, and read on a read-only file system.
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("PRAGMA journal_mode = DELETE")
    except OSError as error:
        raise FleetError(f"{visible(folder)}: {error.strerror or error}") from error


def _begun(folder: str, connection: sqlite3.Connection, head: dict[str, Any]) -> Reports:
    """Create the tables, or check that they belong to the scan that `head` describes, and mark it as incomplete."""
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
    """Return whether there are tables. Raises FleetError unless they and their rows are like those of a scan."""
    try:
        if schema.is_empty(connection):
            return False
        fault = schema.fault_in(connection)
    except UnicodeDecodeError:  # in a message of SQLite
        fault = "it contains text that is not UTF-8"
    if fault is not None:
        raise _damaged(folder, fault)
    return True


def _shown(error: sqlite3.Error) -> str:
    return visible(shortened(str(error), _MOST_SHOWN))


def _damaged(folder: str, why: str) -> FleetError:
    problem = f"{visible(_path_of(folder))} is damaged: {visible(shortened(why, _MOST_SHOWN))}"
    return FleetError(f"{problem}; use --anew to start the scan again")


@contextlib.contextmanager
def _connected(folder: str, mode: str) -> Iterator[sqlite3.Connection]:
    """Yield a connection to the database in a folder. `mode`: that of SQLite's URIs."""
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
    """Raise FleetError for a pipe, a device or a link, which SQLite would wait for or write through."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise FleetError(f"{visible(path)} is {kind_of_file(mode)}, not a file of a scan")


def _path_of(folder: str) -> str:
    return os.path.join(folder, DATABASE)


def _remove(folder: str) -> None:
    """Remove the database, after the files that SQLite would apply to the next one as changes."""
    for ending in (*_BESIDE, ""):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(_path_of(folder) + ending)


def _make(folder: str) -> None:
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise FleetError(f"{visible(folder)}: is not a folder")
    os.makedirs(folder, exist_ok=True)
    _refuse_former(folder)
    foreign = sorted(name for name in os.listdir(folder) if name not in _OWN)
    if foreign and not os.path.lexists(_path_of(folder)):
        shown = visible(foreign[0])
        raise FleetError(f"{visible(folder)} holds other files, such as {shown}, and no reports of a scan")


def _refuse_former(folder: str) -> None:
    if os.path.lexists(os.path.join(folder, _FORMER)) and not os.path.lexists(_path_of(folder)):
        problem = f"{visible(folder)} holds the reports of an earlier onnx-lint, which this version cannot read"
        raise FleetError(f"{problem}: scan again, into another folder")


@contextlib.contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Lock the folder for the life of this process."""
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
