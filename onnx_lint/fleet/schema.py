# SPDX-License-Identifier: Apache-2.0
"""The tables of a scan's database, and the checks that a database has exactly these, with rows like those of a scan.

A database may come from a stranger. One with other tables, views or triggers is rejected before any of its rows is
read. The constraints of the tables define valid rows, and SQLite checks them and the pages of the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final

from onnx_lint.fleet.columns import FINDING_COLUMNS, LEVELS, MODEL_COLUMNS

APPLICATION: Final = 0x6F6E6C74
"""The `application_id` of SQLite: the letters `onlt`."""

VERSION: Final = 1
"""The `user_version` of SQLite. Within a version no column changes."""

_NEEDED: Final = {
    *("path", "version", "errors", "warnings", "notes", "internal_errors", "identity", "settled", "edition"),
    *("rule", "severity", "message", "place", "fingerprint", "record", "count"),
}
"""The columns that have a value in every row."""

_SIGNED: Final = {"ir_version", "opset"}
"""The columns of numbers that may be negative, because a file may hold any number there."""

_MOST_STEPS: Final = 1_000
"""The instructions of SQLite, in thousands, that suffice to load the schema, unless pages form a cycle."""

_ONE_TOO_MANY: Final = """
    SELECT EXISTS (
        SELECT 1 FROM models LEFT JOIN (
            SELECT path, sum(severity = 'error') AS e, sum(severity = 'warning') AS w, sum(severity = 'note') AS n
            FROM findings GROUP BY path
        ) USING (path)
        WHERE errors <> coalesce(e, 0) OR warnings <> coalesce(w, 0) OR notes <> coalesce(n, 0)
    ) OR EXISTS (SELECT 1 FROM findings WHERE path NOT IN (SELECT path FROM models))
"""


def _column(name: str, kind: str, more: str = "") -> str:
    types = [kind.lower()] if name in _NEEDED else [kind.lower(), "null"]
    checks = f"typeof({_quoted(name)}) IN ({', '.join(map(repr, types))})"
    if kind == "INTEGER" and name not in _SIGNED:
        checks += f" AND coalesce({_quoted(name)}, 0) >= 0"
    needed = " NOT NULL" if name in _NEEDED else ""
    return f"{_quoted(name)} {kind}{needed}{more} CHECK ({checks})"


def _quoted(name: str) -> str:
    return f'"{name}"'


def _table(name: str, columns: Mapping[str, str], *more: str) -> str:
    lines = [*(_column(each, kind) for each, kind in columns.items()), *more]
    return f"CREATE TABLE {name} (\n  " + ",\n  ".join(lines) + "\n)"


_RECORD: Final = '"record" TEXT NOT NULL CHECK (typeof("record") = \'text\' AND json_valid("record"))'

_STATEMENTS: Final = {
    "scan": (
        "CREATE TABLE scan (\n"
        "  id INTEGER PRIMARY KEY CHECK (id = 1),\n"
        "  head TEXT NOT NULL CHECK (typeof(head) = 'text' AND json_valid(head)),\n"
        "  complete INTEGER NOT NULL CHECK (complete IN (0, 1))\n)"
    ),
    "models": _table(
        "models",
        MODEL_COLUMNS | {"edition": "TEXT", "reason": "TEXT", "identity": "TEXT", "settled": "INTEGER"},
        _RECORD,
        "PRIMARY KEY (path)",
    ),
    "findings": _table(
        "findings",
        FINDING_COLUMNS,
        _RECORD,
        "id INTEGER PRIMARY KEY",
        f"CHECK (severity IN ({', '.join(map(repr, LEVELS))}))",
    ),
    "findings_of_models": "CREATE INDEX findings_of_models ON findings (path, fingerprint)",
}


def create(connection: sqlite3.Connection) -> None:
    """Create the tables. The caller has begun a transaction."""
    for statement in _STATEMENTS.values():
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def is_empty(connection: sqlite3.Connection) -> bool:
    """Return whether there are no tables yet, as after a scan that was killed at its start."""
    left = [_MOST_STEPS]

    def is_too_long() -> bool:
        left[0] -= 1
        return left[0] < 0

    # Pages that form a cycle would be visited endlessly before anything can be checked.
    connection.set_progress_handler(is_too_long, 1_000)
    try:
        found: tuple[int] = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return not found[0]
    finally:
        connection.set_progress_handler(None, 0)


def fault_in(connection: sqlite3.Connection) -> str | None:
    """Return what is wrong with the database; None if a scan can have written it."""
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
        return "it is not the database of a scan"
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        return f"it has version {version}, which this onnx-lint does not support"
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_autoindex%'").fetchall()
    if len(found) != len(_STATEMENTS) or dict(found) != _STATEMENTS:
        return "its tables are not those of a scan"
    (problem,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if problem != "ok":
        return str(problem)
    if connection.execute(_ONE_TOO_MANY).fetchone() != (0,):
        return "the numbers of findings do not match the models"
    return None
