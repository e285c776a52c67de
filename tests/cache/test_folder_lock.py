# SPDX-License-Identifier: Apache-2.0
"""The lock of a folder: shared by many, or taken by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnx_lint.cache import folder_lock
from onnx_lint.cache.folder_lock import FolderLock


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
