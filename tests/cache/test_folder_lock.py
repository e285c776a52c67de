# SPDX-License-Identifier: Apache-2.0
"""The lock of a folder: shared by many, or taken by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnx_lint.cache import folder_lock
from onnx_lint.cache.folder_lock import FolderLock, claimed


def test_one_replaces_only_what_no_other_uses(tmp_path: Path) -> None:
    one, other = FolderLock(str(tmp_path)), FolderLock(str(tmp_path))
    one.share()
    other.share()
    with pytest.raises(BlockingIOError):
        one.claim()
    other.claim()  # the lock of the first is gone
    with pytest.raises(BlockingIOError):
        one.share()
    other.release()
    one.share()
    one.release()
    one.release()


@pytest.mark.parametrize("error", [OSError("not supported"), None])
def test_a_system_without_such_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError | None) -> None:
    class Locks:
        LOCK_SH, LOCK_EX, LOCK_NB = 1, 2, 4

        def flock(self, descriptor: int, kind: int) -> None:
            assert error is not None
            raise error

    monkeypatch.setattr(folder_lock, "_locks", Locks() if error else None)
    for lock in (FolderLock(str(tmp_path)), FolderLock(str(tmp_path / "missing"))):
        lock.share()
        lock.claim()
        lock.release()


def test_a_block_waits_for_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = FolderLock(str(tmp_path)), FolderLock(str(tmp_path))
    one.claim()
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            one.release()

    monkeypatch.setattr(folder_lock.time, "sleep", sleep)
    with claimed(str(tmp_path), 1e9), pytest.raises(BlockingIOError):
        other.claim()
    assert len(waits) == 3
    other.claim()
    other.release()


def test_a_block_waits_no_longer_than_it_may(tmp_path: Path) -> None:
    """The process that has the lock may be one that waits for this one, such as `flock FOLDER onnx-lint ...`."""
    lock = FolderLock(str(tmp_path))
    lock.claim()
    with claimed(str(tmp_path), -1):
        pass
    lock.release()


def test_the_lock_of_a_block_ends_with_it(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), claimed(str(tmp_path), 1e9):
        raise ZeroDivisionError
    lock = FolderLock(str(tmp_path))
    lock.claim()
    lock.release()
