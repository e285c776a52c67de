# SPDX-License-Identifier: Apache-2.0
"""A damaged or forged database leads to an error message, never to a traceback or an endless run."""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from support.reports.scans import faulty, head, scanned, sound

from onnx_lint.cli.application import run
from onnx_lint.fleet.database import open_to_scan
from onnx_lint.fleet.errors import FleetError

DEEP: Final = "[" * 900 + "]" * 900
PAGE: Final = 4096


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return scanned(tmp_path / "r", [faulty("a"), sound("b")], ["a", "b"])


@contextlib.contextmanager
def forging(folder: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(folder / "scan.db", isolation_level=None)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("PRAGMA writable_schema = ON")
    try:
        yield connection
    finally:
        connection.close()


def check_told(folder: Path, capsys: pytest.CaptureFixture[str], said: str = "") -> None:
    """All that reads the database says so, and changes nothing."""
    before = (folder / "scan.db").read_bytes()
    with pytest.raises(FleetError), open_to_scan(str(folder), head(2), anew=False):
        pass
    for arguments in (["--summary", str(folder)], ["--summary", str(folder), "-f", "json", "--against", str(folder)]):
        assert run(["scan", *arguments]) == 2
        errors = capsys.readouterr().err
        assert "scan.db" in errors
        assert said in errors
        assert "Traceback" not in errors
    assert (folder / "scan.db").read_bytes() == before


def test_what_is_not_forged_is_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with forging(folder):
        pass
    assert run(["scan", "--summary", str(folder), "--against", str(folder)]) == 0
    assert "2 models" in capsys.readouterr().out


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE more (a)",
        "CREATE VIEW more AS SELECT 1",
        "CREATE INDEX more ON models (size)",
        "CREATE TRIGGER more AFTER INSERT ON models BEGIN DELETE FROM findings; END",
        "DROP TABLE findings",
        "DROP INDEX findings_of_models",
        "ALTER TABLE models ADD COLUMN more TEXT",
        "DELETE FROM sqlite_master WHERE name = 'models'",
        "UPDATE sqlite_master SET sql = 'CREATE TABLE models (path TEXT)' WHERE name = 'models'",
        "UPDATE sqlite_master SET rootpage = 1 WHERE name = 'models'",
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'findings')"
        " WHERE name = 'models'",
        "UPDATE sqlite_master SET sql = NULL WHERE name = 'findings'",
        "PRAGMA user_version = 2",
        "PRAGMA application_id = 0",
        "PRAGMA encoding = 'UTF-16'; UPDATE scan SET head = '[]'",
    ],
)
def test_other_tables_are_none_of_a_scan(folder: Path, capsys: pytest.CaptureFixture[str], statement: str) -> None:
    with forging(folder) as connection:
        connection.executescript(statement)
    check_told(folder, capsys)


def test_a_table_whose_rows_never_end_is_not_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS path FROM n"
    with forging(folder) as connection:
        connection.executescript(f"DROP TABLE models; CREATE VIEW models AS {endless}")
    check_told(folder, capsys, "its tables are not those of a scan")


@pytest.mark.parametrize(
    "change",
    [
        "models SET path = NULL",
        "models SET path = x'00' WHERE path = 'a'",
        "models SET errors = -1",
        "models SET errors = 'many'",
        "models SET errors = 7",
        "models SET notes = 2.5",
        "models SET size = 1e300",
        "models SET producer = x'33'",
        "models SET record = '{'",
        "models SET settled = NULL",
        "models SET identity = NULL",
        "models SET edition = NULL",
        "models SET unreadable = x'ff'",
        "models SET path = 'c' WHERE path = 'a'",
        "findings SET severity = 'fatal'",
        "findings SET severity = 'note'",
        "findings SET path = 'b'",
        "findings SET path = 'nowhere'",
        "findings SET rule = NULL",
        "findings SET fingerprint = x'33'",
        "findings SET record = 'x'",
        "findings SET record = zeroblob(100)",
        "findings SET message = zeroblob(1000000)",
        "scan SET head = '[]'",
        "scan SET head = '{}'",
        "scan SET head = 'x'",
        f"scan SET head = '{DEEP}'",
        "scan SET head = NULL",
        "scan SET head = json_set(head, '$.models', 'all')",
        "scan SET head = json_set(head, '$.tool.specification.edition', 3)",
        "scan SET complete = 2",
        "scan SET id = 2",
    ],
)
def test_a_forged_value(folder: Path, capsys: pytest.CaptureFixture[str], change: str) -> None:
    with forging(folder) as connection:
        # A column that must have a value is made one that need not, and what it is afterwards is put back.
        statements = dict(connection.execute("SELECT name, sql FROM sqlite_master"))
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '         ')")
    with forging(folder) as connection:
        connection.execute(f"UPDATE {change}")
        for name, sql in statements.items():
            connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (sql, name))
    check_told(folder, capsys)


@pytest.mark.parametrize(
    ("table", "column"),
    [
        *(("models", name) for name in ("path", "record", "producer", "edition", "identity")),
        *(("findings", name) for name in ("path", "record", "fingerprint", "rule")),
    ],
)
def test_text_that_is_none(folder: Path, capsys: pytest.CaptureFixture[str], table: str, column: str) -> None:
    """SQLite does not look at it; who reads it does."""
    with forging(folder) as connection:
        connection.execute(f"UPDATE {table} SET {column} = CAST(x'22ff22' AS TEXT) WHERE path = 'a'")
    _judged(folder, capsys)


@pytest.mark.parametrize(
    "record",
    ["{}", "[]", "3", DEEP, "1" * 9_999, '{"path": 3, "severity": "error", "rule": "x", "message": "x", "place": "x"}'],
)
def test_a_forged_record_of_a_new_finding(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], record: str
) -> None:
    """It is JSON, so that SQLite has nothing to say against it; with `--against` the record is read."""
    old = scanned(tmp_path / "old", [sound("b")], ["b"])
    with forging(folder) as connection:
        connection.execute("UPDATE findings SET record = ?", (record,))
    for form in ("text", "json", "html"):
        assert run(["scan", "--summary", str(folder), "--against", str(old), "-f", form]) == 2
        errors = capsys.readouterr().err
        assert errors.startswith("Error: ")
        assert "Traceback" not in errors


@pytest.mark.parametrize("form", ["text", "json", "html"])
def test_texts_of_strangers_are_only_shown(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    """A well-formed record may still have any text."""
    old = scanned(tmp_path / "old", [], [])
    evil = "\x1b[31m<script>alert(1)</script>##[add-mask]x"
    with forging(folder) as connection:
        names = ("rule", "message", "place")
        finding = json.dumps(dict.fromkeys((*names, "path"), evil) | {"severity": "error"})
        connection.execute("UPDATE findings SET path = ?1, rule = ?1, message = ?1, record = ?2", (evil, finding))
        connection.execute("UPDATE models SET path = ?1, producer = ?1, edition = ?1 WHERE path = 'a'", (evil,))
    assert run(["scan", "--summary", str(folder), "--against", str(old), "-f", form]) == 1
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    assert "\x1b" not in shown.out
    assert "##[" not in shown.out
    assert form != "html" or "<script>alert" not in shown.out


def _judged(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The summary is made, or a sentence says why not."""
    code = run(["scan", "--summary", str(folder), "--against", str(folder), "-f", "json"])
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    assert code != 3
    assert shown.err.startswith("Error: ") if code == 2 else not shown.err


def test_each_truncation_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = (folder / "scan.db").read_bytes()
    for length in range(0, len(data), 509):
        (folder / "scan.db").write_bytes(data[:length])
        assert run(["scan", "--summary", str(folder)]) == 2
        errors = capsys.readouterr().err
        assert errors.startswith("Error: ")
        assert "Traceback" not in errors


@pytest.mark.parametrize("count", [100, pytest.param(2_000, marks=pytest.mark.heavy)])
def test_damaged_bytes_never_crash(folder: Path, capsys: pytest.CaptureFixture[str], count: int) -> None:
    data = (folder / "scan.db").read_bytes()
    rng = random.Random(11)
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(rng.choice((1, 1, 2, 8))):
            # Heads of pages have the numbers that lead elsewhere.
            start = rng.randrange(len(data) // PAGE) * PAGE
            position = start + (rng.randrange(120) if rng.random() < 0.7 else rng.randrange(PAGE))
            changed[position] = rng.choice((0, 1, 2, 5, 13, 255, changed[position] ^ 1 << rng.randrange(8)))
        (folder / "scan.db").write_bytes(changed)
        _judged(folder, capsys)


@pytest.mark.parametrize("table", ["sqlite_master", "models", "findings"])
@pytest.mark.parametrize("leaf_has_rows", [True, False])
def test_pages_that_lead_to_the_same_pages_are_no_end(
    folder: Path, capsys: pytest.CaptureFixture[str], table: str, leaf_has_rows: bool
) -> None:
    """Twenty levels of pages. Every pointer of a page leads to the same page below, so following all never ends."""
    root = 1
    if table != "sqlite_master":
        with forging(folder) as connection:
            ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,))
    data = bytearray((folder / "scan.db").read_bytes())
    first = len(data) // PAGE + 1
    depth = 18
    leaf = first + depth - 1
    interior = [_interior(child) for child in range(first + 1, leaf + 1)]
    original = bytes(data[(root - 1) * PAGE : root * PAGE])
    row = _leaf_with_a_row() if leaf_has_rows else (_leaf_with_a_row() if root == 1 else original)
    data += b"".join(interior) + row
    page = _interior(first, start=100 if root == 1 else 0)
    begin = (root - 1) * PAGE + (100 if root == 1 else 0)
    data[begin : root * PAGE] = page[100 if root == 1 else 0 :]
    data[28:32] = (len(data) // PAGE).to_bytes(4, "big")
    (folder / "scan.db").write_bytes(data)
    check_told(folder, capsys)


def _interior(child: int, start: int = 0) -> bytes:
    """An interior page of a table, each of whose cells leads to the same child."""
    count = 300
    cells = b"".join(child.to_bytes(4, "big") + bytes([0x80 | index >> 7, index & 0x7F]) for index in range(count))
    begin = PAGE - len(cells)
    head_ = b"\x05\0\0" + count.to_bytes(2, "big") + begin.to_bytes(2, "big") + b"\0" + child.to_bytes(4, "big")
    pointers = b"".join((begin + 6 * index).to_bytes(2, "big") for index in range(count))
    page = bytes(start) + head_ + pointers
    return page + bytes(begin - len(page)) + cells


def _leaf_with_a_row() -> bytes:
    """A leaf with a row of five columns without values."""
    payload = bytes([6, 0, 0, 0, 0, 0])
    cell = bytes([len(payload), 1]) + payload
    begin = PAGE - len(cell)
    page = b"\x0d\0\0\0\x01" + begin.to_bytes(2, "big") + b"\0" + begin.to_bytes(2, "big")
    return page + bytes(begin - len(page)) + cell
