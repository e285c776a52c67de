# SPDX-License-Identifier: Apache-2.0
"""What an error says about a database, and how many steps an operation takes."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from support.project.each_case import each_case

from onnx_lint.cache import database
from onnx_lint.cache.database import DamageError, Database, ForeignFileError, problem_of


def _error(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("words")
    error.sqlite_errorcode, error.sqlite_errorname = code, f"NAME_{code}"
    return error


@each_case(
    ("error", "is_damage", "may_pass"),
    [
        (DamageError("is damaged"), True, False),
        (ForeignFileError("is a link"), False, False),
        (BlockingIOError(), False, True),
        (PermissionError(13, "denied"), False, False),
        (MemoryError(), False, False),
        (sqlite3.OperationalError("Could not decode"), True, False),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "no text"), True, False),
        (_error(sqlite3.SQLITE_CORRUPT), True, False),
        (_error(sqlite3.SQLITE_CORRUPT_VTAB), True, False),
        (_error(sqlite3.SQLITE_NOTADB), True, False),
        (_error(sqlite3.SQLITE_INTERRUPT), True, False),
        (_error(sqlite3.SQLITE_ERROR), True, False),
        (_error(sqlite3.SQLITE_TOOBIG), True, False),
        (_error(sqlite3.SQLITE_READONLY), True, False),
        (_error(sqlite3.SQLITE_READONLY_DBMOVED), False, False),
        (_error(sqlite3.SQLITE_BUSY), False, True),
        (_error(sqlite3.SQLITE_BUSY_RECOVERY), False, True),
        (_error(sqlite3.SQLITE_FULL), False, False),
        (_error(sqlite3.SQLITE_IOERR_WRITE), False, False),
        (_error(sqlite3.SQLITE_CANTOPEN), False, False),
    ],
    ids=repr,
)
def test_problems(error: Exception, is_damage: bool, may_pass: bool) -> None:
    found = problem_of(error)
    assert (found.is_damage, found.may_pass) == (is_damage, may_pass)
    assert found.in_words("here").startswith("here: " if found.error else "here is ")


def test_an_operation_takes_few_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound on damaged databases is far above what a healthy one needs."""
    monkeypatch.setattr(database, "_STEPS_BETWEEN_LOOKS", 1)
    monkeypatch.setattr(database, "_MAX_STEPS", 500)
    made = Database(str(tmp_path / "verdicts.db"))
    keys = [b"%032d" % number for number in range(300)]
    for key in keys:
        made.put(key, 1, bytes(200))
    assert made.get(keys[7]) == (1, bytes(200))
    made.note_used(keys, 2)
    monkeypatch.setattr(database, "MAX_BYTES", 60_000)
    made.shrink()
    assert made.get(keys[7]) is None
    made.close()


def test_an_operation_that_takes_too_many_steps_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_STEPS_BETWEEN_LOOKS", 1)
    made = Database(str(tmp_path / "verdicts.db"))
    made.put(b"key", 1, b"content")
    monkeypatch.setattr(database, "_MAX_STEPS", 5)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        made.get(b"key")
    made.close()


def test_damage_is_noted_once_also_within_a_transaction(tmp_path: Path) -> None:
    path = str(tmp_path / "verdicts.db")
    one, other = Database(path), Database(path)
    one._connection.execute("BEGIN IMMEDIATE")
    assert one.mark_damaged()
    assert not other.mark_damaged()
    with pytest.raises(DamageError, match="an earlier run has found it"):
        Database(path)
    one.close()
    other.close()
