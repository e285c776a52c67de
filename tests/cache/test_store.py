# SPDX-License-Identifier: Apache-2.0
"""The database of the cache: whole entries, several processes, a bound, and nothing that others wrote."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from onnx_lint.cache import store
from onnx_lint.cache.store import DATABASE, Store


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
        store._TABLE,  # with other numbers
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


def test_an_entry_whose_bytes_are_others(tmp_path: Path) -> None:
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
    made.close()


def test_what_is_no_regular_file_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"mine")
    (tmp_path / DATABASE).symlink_to("target")
    made = Store(str(tmp_path))
    made.put(b"key", b"content")
    assert made.get(b"key") is None
    assert (tmp_path / "target").read_bytes() == b"mine"
    made.close()


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    made = Store(str(tmp_path / "missing"))
    made.put(b"key", b"content")
    assert made.get(b"key") is None
    made.close()


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
    monkeypatch.setattr(store, "MOST_BYTES", 100_000)
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
    monkeypatch.setattr(store, "MOST_BYTES", 1_000_000)
    monkeypatch.setattr(store, "_WRITTEN_BEFORE_LOOK", 100_000)
    made = Store(str(tmp_path))
    for number in range(2_000):
        made.put(b"small %d" % number, b"")
    for number in range(100):
        made.put(b"%d" % number, os.urandom(50_000))
    assert made.get(b"99") is not None
    made.close()
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 1_300_000


def _write(folder: str, start: int) -> None:
    made = Store(folder)
    for number in range(start, start + 20):
        made.put(b"%d" % number, b"content of %d" % number)
        made.put(b"shared", b"content of all")
        assert made.get(b"shared") == b"content of all"
    made.close()


@pytest.mark.slow
def test_eight_processes(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_write, args=(str(tmp_path), 20 * number)) for number in range(8)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8
    made = Store(str(tmp_path))
    assert all(made.get(b"%d" % number) == b"content of %d" % number for number in range(160))
    made.close()
