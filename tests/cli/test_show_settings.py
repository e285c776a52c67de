# SPDX-License-Identifier: Apache-2.0
"""The settings of each file, with their sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnx_lint.cli.application import run


def test_each_setting_has_the_source_of_its_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(b"")
    Path("onnx-lint.toml").write_text('ignore = ["cycle"]\nextend-select = ["hygiene"]\nfail-on = "error"\n')
    assert run(["m.onnx", "--show-settings", "--fail-on", "note", "--extend-select", "policy"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "# m.onnx"
    found = [tuple(part.strip() for part in line.rsplit("  # ", 1)) for line in lines]
    by_key = {key: [each for each in found if each[0].removeprefix("# ").startswith(f"{key} ")] for key in KEYS}
    assert by_key == KEYS


KEYS = {
    "ignore": [('ignore = ["cycle"]', "onnx-lint.toml")],
    "extend-select": [
        ('extend-select = ["hygiene"]', "onnx-lint.toml"),
        ('extend-select = ["policy"]', "command line"),
    ],
    "fail-on": [('fail-on = "note"', "command line")],
    "select": [("select = []", "default")],
}
