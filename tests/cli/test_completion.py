# SPDX-License-Identifier: Apache-2.0
"""Completion in shells: the scripts of click, and what the program offers to them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.project.checkout import ROOT

from onnx_lint.cli.application import run

SHELLS = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}


@pytest.fixture
def program(tmp_path: Path) -> dict[str, str]:
    """An environment in which this checkout is the program `onnx-lint`, installed or not."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "onnx-lint"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m onnx_lint "$@"\n')
    script.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}


def _script(program: dict[str, str], shell: str) -> str:
    asked = program | {"_ONNX_LINT_COMPLETE": f"{shell}_source"}
    done = subprocess.run(["onnx-lint"], env=asked, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def _need(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed here")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_accepts_the_script(program: dict[str, str], shell: str, tmp_path: Path):
    text = _script(program, shell)
    assert "_ONNX_LINT_COMPLETE" in text
    _need(shell)
    path = tmp_path / "script"
    path.write_text(text)
    done = subprocess.run([*SHELLS[shell], path], env=program, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


Offered = Callable[..., list[tuple[str, str]]]


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Offered:
    """Type and value of what the program offers for the last of some words, as the script for bash asks it."""

    def asked(*words: str) -> list[tuple[str, str]]:
        monkeypatch.setenv("_ONNX_LINT_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", "\n".join(("onnx-lint", *words)))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        with pytest.raises(SystemExit):
            run([])
        out, errors = capsys.readouterr()
        assert errors == ""
        items = [line.partition(",") for line in out.splitlines()]
        return [(kind, value) for kind, _, value in items]

    return asked


def _plain(items: list[tuple[str, str]]) -> list[str]:
    return [value for kind, value in items if kind == "plain"]


def test_the_first_word_is_a_command_or_a_file(offered: Offered):
    items = offered("")
    assert items[0] == ("file", "")
    own = [
        "cache",
        "check",
        "config",
        "explain",
        "fix",
        "new-rule",
        "rules",
        "shapes",
    ]
    assert sorted(_plain(items)) == own


def test_options_of_check_are_offered_without_its_name(offered: Offered):
    assert _plain(offered("--sel")) == ["--select"]
    assert _plain(offered("model.onnx", "--fail-on", "")) == ["error", "warning", "note", "never"]


def test_behind_a_file_more_files_follow(offered: Offered):
    assert offered("a.onnx", "b") == [("file", "b")]
    assert offered("check", "b") == [("file", "b")]
    assert offered("a.onnx", "--baseline", "b") == [("file", "b")]
