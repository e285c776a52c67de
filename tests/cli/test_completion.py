# SPDX-License-Identifier: Apache-2.0
"""What the program offers to the scripts of click for completion in shells."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from onnx_lint.cli.application import run

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
        "check",
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
