# SPDX-License-Identifier: Apache-2.0
"""A new file takes over the permissions of the old one, and nothing that its path leads to is changed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from onnx_lint.common.replacement import replacement

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _replace(path: Path, content: bytes = b"new") -> None:
    with replacement(str(path)) as (descriptor, _):
        os.write(descriptor, content)


@pytest.mark.parametrize(("before", "after"), [(0o6755, 0o755), (0o1640, 0o640), (0o600, 0o600)])
def test_only_permissions_are_carried_over(tmp_path: Path, before: int, after: int) -> None:
    path = tmp_path / "report"
    path.write_bytes(b"old")
    path.chmod(before)
    _replace(path)
    assert (path.read_bytes(), _mode(path)) == (b"new", after)


@pytest.mark.parametrize("place", ["link", "file"])
def test_a_file_that_another_program_put_in_place_of_the_new_one_is_not_used(tmp_path: Path, place: str) -> None:
    """The owner of the folder can do that at any moment before the renaming."""
    victim, report = tmp_path / "victim", tmp_path / "folder" / "report"
    report.parent.mkdir()
    for path, mode in ((victim, 0o600), (report, 0o4777)):
        path.write_bytes(b"old")
        path.chmod(mode)

    def write_and_swap() -> None:
        with replacement(str(report)) as (descriptor, temporary):
            os.write(descriptor, b"new")
            os.unlink(temporary)
            if place == "link":
                os.symlink(victim, temporary)
            else:
                Path(temporary).write_bytes(b"theirs")

    with pytest.raises(OSError, match="another program replaced the new file"):
        write_and_swap()
    assert (victim.read_bytes(), _mode(victim)) == (b"old", 0o600)
    assert report.read_bytes() == b"old"
    assert os.listdir(report.parent) == ["report"]
