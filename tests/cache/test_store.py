# SPDX-License-Identifier: Apache-2.0
"""The database of the cache: whole entries, several processes, a bound, and nothing that others wrote."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import sqlite3
import stat
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.damaged_databases import copy_database, damages

from onnx_lint.cache import database, store
from onnx_lint.cache.store import DATABASE, Store, print_line


def test_entries(tmp_path: Path) -> None:
    one = Store(str(tmp_path))
    assert one.get(b"key") is None
    one.put(b"key", b"content")
    one.put(b"key", b"other content")
    other = Store(str(tmp_path))
    assert other.get(b"key") == b"other content"
    assert other.get(b"another key") is None
    one.close()
    other.close()
    assert one.get(b"key") is None  # closed


def test_only_the_user_reads_the_database(tmp_path: Path) -> None:
    made = Store(str(tmp_path))
    made.put(b"key", b"content")
    names = {path.name for path in tmp_path.iterdir()}
    assert DATABASE in names
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    made.close()


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE other (a)",
        "CREATE VIEW verdicts AS SELECT x'00' AS key, 0 AS used, x'00' AS content",
        "CREATE TABLE verdicts (key, used, content)",
        database._TABLE,  # with other numbers
    ],
)
def test_a_database_of_somebody_else_is_made_anew(tmp_path: Path, script: str) -> None:
    connection = sqlite3.connect(tmp_path / DATABASE)
    connection.execute(script)
    connection.close()
    made = Store(str(tmp_path))
    made.put(b"key", b"content")
    assert made.get(b"key") == b"content"
    made.close()


def test_a_trigger_is_not_run(tmp_path: Path) -> None:
    made = Store(str(tmp_path))
    made.put(b"key", b"content")
    made.close()
    connection = sqlite3.connect(tmp_path / DATABASE)
    connection.execute("CREATE TRIGGER t AFTER INSERT ON verdicts BEGIN DELETE FROM verdicts; END")
    connection.close()
    made = Store(str(tmp_path))
    assert made.get(b"key") is None
    made.put(b"key", b"content")
    assert made.get(b"key") == b"content"
    made.close()


def test_an_entry_whose_bytes_are_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Store(str(tmp_path))
    made.put(b"key", b"content")
    made.put(b"other", b"content")
    connection = sqlite3.connect(tmp_path / DATABASE)
    connection.execute("UPDATE verdicts SET content = (SELECT content FROM verdicts WHERE key = x'6b6579')")
    connection.commit()
    assert made.get(b"key") == b"content"
    assert made.get(b"other") is None
    connection.execute("UPDATE verdicts SET content = 'text'")
    connection.commit()
    connection.close()
    assert made.get(b"key") is None
    made.report_damaged_entries()
    made.close()
    assert capsys.readouterr().err.startswith("The cache is not used for 2 entries: ")


@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", ["link", "FIFO", "folder", "writable"])
def test_what_is_no_file_of_the_user_is_left_alone_and_a_line_says_so(tmp_path: Path, kind: str, ending: str) -> None:
    path = tmp_path / f"{DATABASE}{ending}"
    if kind == "link":
        (tmp_path / "target").write_bytes(b"mine")
        path.symlink_to("target")
    elif kind == "FIFO":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.touch()
        path.chmod(0o666)
    before = path.lstat()
    lines: list[str] = []
    assert _uses_it(tmp_path, lines) is False
    says = {"link": "is a link", "writable": "can be written by other users"}.get(kind, "is not a regular file")
    assert len(lines) == 1
    assert lines[0].startswith(f"The cache is not used: '{tmp_path / DATABASE}'")
    assert says in lines[0]
    assert lines[0].endswith(
        "chmod go-w would change that"
        if kind == "writable"
        else "; delete it, or set ONNX_LINT_CACHE_DIR to another folder"
    )
    assert path.lstat() == before
    assert kind != "link" or (tmp_path / "target").read_bytes() == b"mine"


def test_a_database_of_another_user_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / DATABASE).touch()
    monkeypatch.setattr(database, "is_own", lambda status: False)
    lines: list[str] = []
    assert _uses_it(tmp_path, lines) is False
    assert lines == [f"The cache is not used: '{tmp_path / DATABASE}' belongs to another user; {database._REMEDY}"]
    assert (tmp_path / DATABASE).read_bytes() == b""


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    lines: list[str] = []
    assert _uses_it(tmp_path / "missing", lines) is False
    assert lines == [f"The cache is not used: '{tmp_path / 'missing' / DATABASE}': No such file or directory"]


def _uses_it(folder: Path, lines: list[str]) -> bool:
    """Return whether a store finds what it has written, and collect the lines that it reports."""
    made = Store(str(folder), lines.append)
    made.put(b"key", b"content")
    found = made.get(b"key")
    made.close()
    assert found in (None, b"content")
    return found is not None


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of several levels with free pages, with the files beside it as after a run that was killed."""
    folder = tmp_path_factory.mktemp("healthy")
    (folder / "open").mkdir()
    made = Store(str(folder / "open"))
    for number in range(60):
        made.put(_key(number), _content(number))
    connection = sqlite3.connect(folder / "open" / DATABASE)
    connection.execute("DELETE FROM verdicts WHERE rowid > 50")
    connection.commit()
    copy_database(folder / "open" / DATABASE, folder / DATABASE)
    connection.close()
    made.close()
    return folder / DATABASE


def _key(number: int) -> bytes:
    return b"%032d" % number


def _content(number: int) -> bytes:
    return b"%d." % number * (3_000 if number % 10 == 0 else 150)


CASES = dict(damages())


@pytest.mark.parametrize("name", list(CASES)[::9])
def test_a_damaged_database(healthy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    _try(healthy, tmp_path, monkeypatch, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_damaged_database(healthy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    _try(healthy, tmp_path, monkeypatch, name)


def _try(healthy: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Use a damaged database twice: no other content, few steps, and exactly one line if anything is not used."""
    looks = 0
    removed = []
    remove = store.remove
    monkeypatch.setattr(store, "remove", lambda path: (removed.append(path), remove(path)))
    is_too_long = database.Database._is_too_long

    def counted(self: database.Database) -> bool:
        nonlocal looks
        looks += 1
        return is_too_long(self)

    monkeypatch.setattr(database.Database, "_is_too_long", counted)
    copy_database(healthy, folder / DATABASE)
    with contextlib.suppress(FileNotFoundError):
        CASES[name](folder / DATABASE)
    for _ in range(2):
        lines: list[str] = []
        removed.clear()
        made = Store(str(folder), lines.append)
        for number in range(0, 60, 4):
            if made.get(_key(number)) not in (None, _content(number)):
                pytest.fail("another content")
            made.put(_key(number), _content(number))
        is_used = made.is_usable
        made.report_damaged_entries()
        made.close()
        if removed:
            says = ["The cache was replaced"] if is_used else ["The cache was replaced", "The cache is not used"]
        else:
            says = [] if is_used and not made._damaged_entries else ["The cache is not used"]
        assert [line.partition(":")[0].partition(" for ")[0] for line in lines] == says
    assert looks < 30


@pytest.mark.parametrize("free", [0x7FFFFFFF, 0x90000000, 0xFFFFFFFF])
def test_an_impossible_number_of_free_pages_is_damage(healthy: Path, tmp_path: Path, free: int) -> None:
    copy_database(healthy, tmp_path / DATABASE)
    CASES[f"field 36 {free:x}"](tmp_path / DATABASE)
    pages = (tmp_path / DATABASE).stat().st_size // 4_096
    lines: list[str] = []
    assert _uses_it(tmp_path, lines)
    counted = struct.unpack(">i", struct.pack(">I", free))[0]
    assert lines == [
        f"The cache was replaced: '{tmp_path / DATABASE}' is damaged ({counted:,} free pages of {pages:,})"
    ]


def test_there_are_500_of_them() -> None:
    assert len(CASES) > 500


def test_impossible_counts_are_damage(healthy: Path, tmp_path: Path) -> None:
    copy_database(healthy, tmp_path / DATABASE)
    CASES["field 36 90000000"](tmp_path / DATABASE)
    lines: list[str] = []
    assert _uses_it(tmp_path, lines)
    [line] = lines
    assert line.startswith(f"The cache was replaced: '{tmp_path / DATABASE}' is damaged (-1,879,048,192 free pages of ")


def test_free_pages_that_are_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deleting all entries does not make such a database small enough."""
    monkeypatch.setattr(database, "MAX_BYTES", 100_000)
    made = Store(str(tmp_path))
    for number in range(40):
        made.put(_key(number), os.urandom(4_000))
    made.close()
    connection = sqlite3.connect(tmp_path / DATABASE)
    connection.execute("DELETE FROM verdicts")
    connection.commit()
    connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    connection.close()
    with (tmp_path / DATABASE).open("r+b") as stream:
        stream.seek(32)
        stream.write(bytes(8))
    lines: list[str] = []
    assert _uses_it(tmp_path, lines)
    assert len(lines) == 1
    assert "is damaged (no entries in " in lines[0]


def test_a_tree_that_leads_to_one_page_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite visits such a page once for each way, 10 ** 9 times here, and sees no damage."""
    made = Store(str(tmp_path))
    for number in range(3_000):
        made.put(_key(number), b"")
    made.close()
    connection = sqlite3.connect(tmp_path / DATABASE)
    connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    [root] = connection.execute("SELECT rootpage FROM sqlite_master WHERE type = 'index'").fetchone()
    connection.close()
    data = bytearray((tmp_path / DATABASE).read_bytes())
    leaves = [number + 1 for number in range(1, len(data) // 4_096) if data[4_096 * number] == 10]
    for page, child in zip((root, *leaves[:4]), leaves[:5], strict=True):
        data[4_096 * (page - 1) : 4_096 * page] = _interior_page(child)
    (tmp_path / DATABASE).write_bytes(data)
    monkeypatch.setattr(database, "MAX_BYTES", 50_000)
    lines: list[str] = []
    assert _uses_it(tmp_path, lines)
    assert len(lines) == 1
    assert "is damaged (SQLITE_INTERRUPT)" in lines[0]


def _interior_page(child: int) -> bytes:
    """Return a page of an index whose 60 entries have the same page below them."""
    record = b"\x03\x4c\x01" + b"k" * 32 + b"\x01"
    cell = struct.pack(">I", child) + bytes([len(record)]) + record
    cells = cell * 60
    places = b"".join(struct.pack(">H", 4_096 - len(cell) * (60 - number)) for number in range(60))
    head = struct.pack(">BHHHBI", 2, 0, 60, 4_096 - len(cells), 0, child)
    return (head + places).ljust(4_096 - len(cells), b"\0") + cells


def test_a_database_in_use_is_replaced_by_a_later_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "BUSY_SECONDS", 0)
    reported: dict[str, list[str]] = {name: [] for name in ("one", "other", "between", "later")}
    one = Store(str(tmp_path), reported["one"].append)
    other = Store(str(tmp_path), reported["other"].append)
    for each in (one, other):
        each.put(b"key", b"content")
    with monkeypatch.context() as patch:
        patch.setattr(database.Database, "get", _finds_damage)
        assert one.get(b"key") is None
        assert not one.is_usable
    other.put(b"more", b"content")  # is not lost for the process that is writing
    assert other.get(b"more") == b"content"
    assert _uses_it(tmp_path, reported["between"]) is False
    other.close()
    assert _uses_it(tmp_path, reported["later"])
    one.close()
    path = f"'{tmp_path / DATABASE}'"
    in_use = "and another process is using it; a later run replaces it"
    assert reported == {
        "one": [f"The cache is not used: {path} is damaged (a test), {in_use}"],
        "other": [],
        "between": [f"The cache is not used: {path} is damaged (an earlier run has found it), {in_use}"],
        "later": [f"The cache was replaced: {path} is damaged (an earlier run has found it)"],
    }


def test_what_another_process_has_replaced_meanwhile_is_not_replaced_again(
    healthy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_database(healthy, tmp_path / DATABASE)
    CASES["field 36 90000000"](tmp_path / DATABASE)
    claim = store.FolderLock.claim

    def claim_late(self: store.FolderLock) -> None:
        monkeypatch.setattr(store.FolderLock, "claim", claim)
        assert _uses_it(tmp_path, reported["other"])
        self.claim()

    monkeypatch.setattr(store.FolderLock, "claim", claim_late)
    reported: dict[str, list[str]] = {"one": [], "other": []}
    one = Store(str(tmp_path), reported["one"].append)
    assert one.get(b"key") == b"content"
    one.close()
    assert reported["one"] == []
    assert len(reported["other"]) == 1


def test_the_process_that_finds_the_damage_first_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    stores = [Store(str(tmp_path), lines.append) for _ in range(3)]
    monkeypatch.setattr(database.Database, "get", _finds_damage)
    for each in stores[:2]:
        assert each.get(b"key") is None
    assert len(lines) == 1
    stores[2].close()


def _finds_damage(self: database.Database, key: bytes) -> None:
    raise database.DamageError("is damaged (a test)")


def test_a_locked_database_is_waited_for_only_so_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0)
    monkeypatch.setattr(store, "BUSY_SECONDS", 0)
    assert _uses_it(tmp_path, [])
    connection = sqlite3.connect(tmp_path / DATABASE, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")
    lines: list[str] = []
    assert _uses_it(tmp_path, lines) is False
    assert lines == [f"The cache is not used: '{tmp_path / DATABASE}': database is locked"]
    connection.close()
    assert _uses_it(tmp_path, [])


def test_a_database_that_is_damaged_meanwhile_is_made_anew(tmp_path: Path) -> None:
    made = Store(str(tmp_path))
    for number in range(50):
        made.put(b"%d" % number, b"content" * 200)
    made.close()
    made = Store(str(tmp_path))
    size = (tmp_path / DATABASE).stat().st_size
    (tmp_path / DATABASE).write_bytes(b"\0" * size)
    assert made.get(b"1") is None
    made.put(b"1", b"content")  # no error, whatever SQLite makes of it
    made.close()
    made = Store(str(tmp_path))
    made.put(b"1", b"content")
    assert made.get(b"1") == b"content"
    made.close()


def test_the_entries_that_were_used_longest_ago_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MAX_BYTES", 100_000)
    now = 1_000_000
    monkeypatch.setattr(store.time, "time", lambda: now)
    made = Store(str(tmp_path))
    for number in range(100):
        now += 1
        made.put(b"%d" % number, os.urandom(2_000))
    now += 1_000_000
    assert made.get(b"0") is not None  # is used, which is noted when the store is closed
    made.close()
    made = Store(str(tmp_path))
    found = [number for number in range(100) if made.get(b"%d" % number) is not None]
    made.close()
    assert found == [0, *range(found[1], 100)]
    assert 26 < found[1] < 90


def test_large_entries_of_one_process_stay_within_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MAX_BYTES", 1_000_000)
    monkeypatch.setattr(store, "_WRITTEN_BEFORE_LOOK", 100_000)
    made = Store(str(tmp_path))
    for number in range(2_000):
        made.put(b"small %d" % number, b"")
    for number in range(100):
        made.put(b"%d" % number, os.urandom(50_000))
    assert made.get(b"99") is not None
    made.close()
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 1_300_000


def _in_processes(work: Callable[[str, int], None], folder: Path, count: int) -> None:
    """Let so many processes work on one folder at once, each with numbers of its own."""
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=work, args=(str(folder), 20 * number)) for number in range(count)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * count


def _write(folder: str, start: int) -> None:
    made = Store(folder)
    for number in range(start, start + 20):
        made.put(b"%d" % number, b"content of %d" % number)
        made.put(b"shared", b"content of all")
        assert made.get(b"shared") == b"content of all"
    made.close()


@pytest.mark.slow
def test_eight_processes(tmp_path: Path) -> None:
    _in_processes(_write, tmp_path, 8)
    made = Store(str(tmp_path))
    assert all(made.get(b"%d" % number) == b"content of %d" % number for number in range(160))
    made.close()


def _replace(folder: str, start: int) -> None:
    lines: list[str] = []
    made = Store(folder, lines.append)
    for number in range(start, start + 20):
        made.put(b"%d" % number, b"content of %d" % number)
        assert made.get(b"%d" % number) == b"content of %d" % number
    made.close()
    assert len(lines) <= 1
    Path(folder, f"lines {start}").write_text("".join(lines), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["field 36 90000000", "head 0 0", "512 bytes of garbage", "another table"])
def test_processes_that_find_one_damage_at_once(healthy: Path, tmp_path: Path, name: str) -> None:
    """One of them replaces the database, the others use the new one, and no entry is lost."""
    copy_database(healthy, tmp_path / DATABASE)
    CASES[name](tmp_path / DATABASE)
    _in_processes(_replace, tmp_path, 6)
    lines = [path.read_text(encoding="utf-8") for path in tmp_path.glob("lines *")]
    assert [line.partition(":")[0] for line in lines if line] == ["The cache was replaced"]
    made = Store(str(tmp_path))
    assert all(made.get(b"%d" % number) == b"content of %d" % number for number in range(120))
    made.close()


@pytest.mark.parametrize("stream", [None, "closed"])
def test_a_line_that_cannot_be_printed_is_no_error(monkeypatch: pytest.MonkeyPatch, stream: str | None):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", None if stream is None else closed)
    print_line("The cache is not used")
    assert sys.stderr is (None if stream is None else closed)
