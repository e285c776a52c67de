# SPDX-License-Identifier: Apache-2.0
"""The folder of the cache: the user's own, and never one that comes with models."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from onnx_lint.cache import folder as module
from onnx_lint.cache.folder import CacheFolder, CacheFolderError, cache_folder, prepare, refuse_beside_models


def test_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    usual = CacheFolder("/home/somebody/.cache/onnx-lint", is_chosen=False)
    assert cache_folder({}) == usual
    assert cache_folder({"XDG_CACHE_HOME": "cache"}) == usual
    assert cache_folder({"XDG_CACHE_HOME": "/cache"}) == CacheFolder("/cache/onnx-lint", is_chosen=True)
    chosen = cache_folder({"XDG_CACHE_HOME": "/cache", "ONNX_LINT_CACHE_DIR": "/own"})
    assert chosen == CacheFolder("/own", is_chosen=True)
    with pytest.raises(CacheFolderError, match="not an absolute path"):
        cache_folder({"ONNX_LINT_CACHE_DIR": "own"})


def test_it_is_made_for_the_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    prepare(str(folder))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    prepare(str(folder))


def test_a_folder_that_others_can_write_to(tmp_path: Path) -> None:
    tmp_path.chmod(0o770)
    with pytest.raises(CacheFolderError, match="other users can write"):
        prepare(str(tmp_path))


def test_a_folder_of_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(CacheFolderError, match="belongs to another user"):
        prepare(str(tmp_path))


def test_what_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CacheFolderError, match="file"):
        prepare(str(tmp_path / "file"))


def test_a_folder_among_models(tmp_path: Path) -> None:
    models = tmp_path / "models"
    (models / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("models")
    refuse_beside_models(str(tmp_path / "cache"), [str(models)])
    refuse_beside_models(str(models / "cache"), [str(models / "deep")])
    for folder in (models, models / "cache", tmp_path / "link" / "cache" / "more"):
        with pytest.raises(CacheFolderError, match="is checked"):
            refuse_beside_models(str(folder), [str(models / "deep"), str(models)])
