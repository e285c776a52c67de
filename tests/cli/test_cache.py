# SPDX-License-Identifier: Apache-2.0
"""The command `cache`."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnx_lint.cli.application import run


def test_a_cache_that_cannot_be_cleared_is_reported_in_the_words_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("onnx_lint.cache.store.clear", refuse)
    assert run(["cache", "clear"]) == 2
    assert capsys.readouterr().err == f"Error: {tmp_path}: Permission denied\n"
