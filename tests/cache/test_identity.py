# SPDX-License-Identifier: Apache-2.0
"""The identity of a file according to the file system, and when that is enough."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from onnx_lint.cache import identity
from onnx_lint.cache.identity import digest_at, identity_at, is_settled

SECOND = 1_000_000_000


def test_a_file_has_settled_two_seconds_after_its_last_change() -> None:
    content, entry = 100 * SECOND, 101 * SECOND
    for times in ((content, entry), (entry, content)):
        assert is_settled((1, 2, 3, *times), 103 * SECOND)
        assert not is_settled((1, 2, 3, *times), 103 * SECOND - 1)


def test_only_regular_files_have_an_identity(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")
    assert identity_at(str(path)) == identity_at(str(tmp_path / "link"))
    assert identity_at(str(tmp_path / "link"), follow_links=False) is None
    for other in (str(tmp_path), str(tmp_path / "missing"), "a\0b"):
        assert identity_at(other) is None
        assert digest_at(other) is None


def test_the_digest_is_that_of_the_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    assert digest_at(str(path)) == hashlib.sha256(b"content").hexdigest()
    monkeypatch.setattr(identity, "MAX_DIGEST_BYTES", 7)
    assert digest_at(str(path)) is not None
    monkeypatch.setattr(identity, "MAX_DIGEST_BYTES", 6)
    assert digest_at(str(path)) is None
