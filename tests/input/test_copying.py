# SPDX-License-Identifier: Apache-2.0
"""The bytes of a source are copied by the system, or in blocks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onnx_lint.input import copying as module
from onnx_lint.input.copying import copy_all
from onnx_lint.input.patched_source import PatchedSource, unpatched
from onnx_lint.input.source import BytesSource, Source, open_file

OLD, NEW = b"old" * 1000, b"old" * 500 + b"new" + b"old" * 500


def _patched(base: Source) -> PatchedSource:
    return unpatched(base).patched([(1500, 1500, [b"new"])])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(OLD)
    return path


def _copied(source: PatchedSource, target: Path) -> bytes:
    with target.open("wb", buffering=0) as stream:
        copy_all(source, stream.fileno())
    return target.read_bytes()


@pytest.mark.parametrize("most", [1, 7, 1 << 20])
def test_a_file_is_copied_in_parts(path: Path, monkeypatch: pytest.MonkeyPatch, most: int):
    monkeypatch.setattr(module, "_MAX_COPIED", most)
    assert _copied(_patched(open_file(path)), path.with_name("new")) == NEW


def test_a_system_that_does_not_copy_by_itself_gets_blocks(path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> int:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "copy_file_range", refuse, raising=False)
    monkeypatch.setattr(module, "_BLOCK_BYTES", 7)
    assert _copied(_patched(open_file(path)), path.with_name("new")) == NEW


def test_another_error_of_the_system_is_raised(path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "copy_file_range", fail, raising=False)
    with pytest.raises(OSError, match="No space left"):
        _copied(_patched(open_file(path)), path.with_name("new"))


def test_a_source_that_became_shorter_is_an_error(path: Path):
    source = _patched(open_file(path))
    os.truncate(path, 100)
    with pytest.raises(OSError, match="shorter"):
        _copied(source, path.with_name("new"))


def test_bytes_in_memory_can_be_written(tmp_path: Path):
    assert _copied(_patched(BytesSource(OLD)), tmp_path / "new") == NEW
