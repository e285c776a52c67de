# SPDX-License-Identifier: Apache-2.0
"""What the program says to words and options that other linters have."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnx_lint.cli.application import run


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("version", "onnx-lint --version"),
        ("help", "onnx-lint --help"),
        ("lint", "onnx-lint MODEL"),
        ("list", "onnx-lint rules"),
        ("--strict", "--fail-on warning, and --pedantic for faults that nearly every model has"),
        ("--werror", "--fail-on warning"),
        ("--list-rules", "onnx-lint rules"),
        ("--explain", "onnx-lint explain NAME"),
        ("--no-color", "NO_COLOR=1 before the command"),
    ],
)
def test_a_word_of_other_linters_is_answered_by_what_to_write(
    word: str, written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([word]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("Error: ")
    assert last.endswith(f"write {written}")


def test_a_file_of_such_a_name_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("version").write_bytes(b"\xff\xff")
    assert run(["version"]) == 1
    assert "not-a-model" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "is_shown"),
    [("--baseline", True), ("--opset-schema", False), ("--time-limit", False), ("--limit", False)],
)
def test_the_short_help_has_what_most_need(option: str, is_shown: bool, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--help"]) == 0
    shown = capsys.readouterr().out
    assert (f"  {option} " in shown) == is_shown
    assert run(["check", "--help-all"]) == 0
    assert f"  {option} " in capsys.readouterr().out
