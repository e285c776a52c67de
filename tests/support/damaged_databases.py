# SPDX-License-Identifier: Apache-2.0
"""Some 500 kinds of damage to a database: in its head, pages, schema and rows, its length, and the files beside it."""

from __future__ import annotations

import random
import shutil
import sqlite3
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

Damage = Callable[[Path], None]
"""Damages the database at a path."""

_SEED = 61_007
_HEAD_BYTES = 100
_FIELDS = (24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 92, 96)
"""The numbers of 4 bytes in the head of a database."""

_NUMBERS = (0, 1, 0x7FFFFFFF, 0x90000000, 0xFFFFFFFF)
_SCRIPTS = {
    "another table": "DROP TABLE verdicts; CREATE TABLE verdicts (key, used, content)",
    "a view": "DROP TABLE verdicts; CREATE VIEW verdicts AS SELECT x'00' AS key, 0 AS used, x'00' AS content",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON verdicts BEGIN DELETE FROM verdicts; END",
    "an index": "CREATE INDEX i ON verdicts (length(content))",
    "a newer format": "PRAGMA user_version = 2",
    "another program": "PRAGMA application_id = 1",
    "no table": "DROP TABLE verdicts",
    "no row": "DELETE FROM verdicts",
    "text in place of bytes": "UPDATE verdicts SET content = 'text'",
    "times that are text": "UPDATE verdicts SET used = 'never'",
    "times in the far future": "UPDATE verdicts SET used = 9223372036854775807",
    "entries that are swapped": "UPDATE verdicts SET content = (SELECT max(content) FROM verdicts)",
    "a large entry": "UPDATE verdicts SET content = zeroblob(20000000) WHERE rowid = 1",
}


def damages() -> Iterator[tuple[str, Damage]]:
    """Yield each kind of damage with its name, always the same."""
    generator = random.Random(_SEED)
    for offset in range(_HEAD_BYTES):
        for value in (0, 0x80, 0xFF):
            yield f"head {offset} {value}", _bytes_at(offset, bytes([value]))
    for field in _FIELDS:
        for number in _NUMBERS:
            yield f"field {field} {number:x}", _bytes_at(field, struct.pack(">I", number))
    for number in range(90):
        yield f"page {number}", _in_a_page(generator.random(), generator.randrange(40), generator.randbytes(2))
    for number in range(40):
        yield f"byte {number}", _anywhere("", generator.random(), generator.randbytes(generator.choice((1, 4, 300))))
    for text in (b"CREATE TABLE", b"verdicts", b"PRIMARY KEY", b"sqlite_autoindex", b"content BLOB"):
        for new in (b"\xff\xfe", b"\0\0", b"--", b"GE"):
            yield f"schema {text!r} {new!r}", _in_place_of(text, new)
    for number in range(20):
        yield f"length {number}", _cut("", generator.random())
    for length in (0, 1, 15, 16, 99, 100, 511, 512, 4_095, 4_096, 4_097):
        yield f"length of {length}", _cut("", length)
    for length in (1, 512, 4_096, 100_000):
        yield f"{length} bytes of garbage", _content("", generator.randbytes(length))
        yield f"{length} bytes of zero", _content("", bytes(length))
    for name, script in _SCRIPTS.items():
        yield name, _script(script)
    for ending in ("-wal", "-shm"):
        for number in range(20):
            bytes_in = generator.choice((1, 4, 300))
            yield f"{ending} byte {number}", _anywhere(ending, generator.random() ** 6, generator.randbytes(bytes_in))
        for number in range(5):
            yield f"{ending} length {number}", _cut(ending, generator.random())
    for ending in ("-wal", "-shm", "-journal"):
        yield f"{ending} of garbage", _content(ending, generator.randbytes(10_000))
        yield f"{ending} that is empty", _content(ending, b"")
    yield "a journal", _content("-journal", b"\xd9\xd5\x05\xf9 \xa1c\xd7" + struct.pack(">5I", 3, 7, 1, 512, 4_096))
    yield "a folder beside it", lambda path: _beside(path, "-wal").mkdir()


def copy_database(source: Path, target: Path) -> None:
    """Copy a database with the files beside it."""
    for path in source.parent.glob(f"{source.name}*"):
        shutil.copy(path, target.parent / path.name)


def _beside(path: Path, ending: str) -> Path:
    found = path.with_name(path.name + ending)
    found.unlink(missing_ok=True)
    return found


def _edit(path: Path, offset: int, content: bytes) -> None:
    with path.open("r+b") as stream:
        stream.seek(offset)
        stream.write(content)


def _alone(path: Path) -> Path:
    """Write what is in the files beside a database into it."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    connection.close()
    return path


def _bytes_at(offset: int, content: bytes) -> Damage:
    return lambda path: _edit(_alone(path), offset, content)


def _in_a_page(share: float, offset: int, content: bytes) -> Damage:
    """Damage the head of a page or the places of its cells."""

    def damage(path: Path) -> None:
        pages = _alone(path).stat().st_size // 4_096
        page = int(share * pages)
        _edit(path, 4_096 * page + offset + (0 if page else _HEAD_BYTES), content)

    return damage


def _anywhere(ending: str, share: float, content: bytes) -> Damage:
    def damage(path: Path) -> None:
        file = path.with_name(path.name + ending) if ending else _alone(path)
        _edit(file, int(share * file.stat().st_size), content)

    return damage


def _in_place_of(text: bytes, new: bytes) -> Damage:
    return lambda path: _edit(_alone(path), path.read_bytes().index(text), new)


def _cut(ending: str, length: float) -> Damage:
    """Cut a file to a number of bytes, or to a share of its length below 1."""

    def damage(path: Path) -> None:
        file = path.with_name(path.name + ending) if ending else _alone(path)
        left = int(length * file.stat().st_size) if isinstance(length, float) else length
        with file.open("r+b") as stream:
            stream.truncate(left)

    return damage


def _content(ending: str, content: bytes) -> Damage:
    def damage(path: Path) -> None:
        (path.with_name(path.name + ending) if ending else _alone(path)).write_bytes(content)

    return damage


def _script(script: str) -> Damage:
    def damage(path: Path) -> None:
        connection = sqlite3.connect(_alone(path))
        connection.executescript(script)
        connection.close()

    return damage
