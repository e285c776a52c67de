# SPDX-License-Identifier: Apache-2.0
"""The options of the reports: the HTML page has the time and the command of the run."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from onnx_lint.cli.application import run
from onnx_lint.cli.report_options import report_options
from onnx_lint.configuration.errors import RunError
from onnx_lint.configuration.settings import Request


def _origin() -> str:
    return report_options(Request(("m.onnx",)), {"html"}).origin


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        ("0", "1970-01-01 00:00 UTC"),
        ("1700000000", "2023-11-14 22:13 UTC"),
        ("9999999999", "2286-11-20 17:46 UTC"),
        ("10000000000", "2286-11-20 17:46 UTC"),
        ("99999999999", "5138-11-16 09:46 UTC"),
    ],
)
def test_the_environment_sets_the_time(monkeypatch: pytest.MonkeyPatch, seconds: str, shown: str):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", seconds)
    assert _origin().startswith(f"{shown}: ")


@pytest.mark.parametrize("seconds", ["-1", "1.5", "now", " 1", "9" * 30, "9" * 5000])
def test_a_wrong_time_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: str):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", seconds)
    with pytest.raises(RunError, match="SOURCE_DATE_EPOCH requires a number of seconds since 1970, not '"):
        _origin()
    assert report_options(Request(("m.onnx",)), {"text"}).origin == ""
    (tmp_path / "m.onnx").write_bytes(b"")
    assert run([str(tmp_path / "m.onnx"), "-o", str(tmp_path / "r.html")]) == 2
    assert not (tmp_path / "r.html").exists()


def test_without_a_time_it_is_now(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "")
    assert re.match(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC: ", _origin())


def test_no_argument_shows_a_secret(monkeypatch: pytest.MonkeyPatch):
    arguments = [
        "s3://u:PASS@b/m.onnx",
        "--exclude=s3://u:PASS@b/x",
        "--exclude",
        "https://u:PASS@h/x",
        "-o",
        "a=b.md",
    ]
    monkeypatch.setattr(sys, "argv", ["onnx-lint", *arguments])
    origin = _origin()
    assert "PASS" not in origin
    assert " s3://b/m.onnx --exclude=s3://b/x --exclude https://h/x -o a=b.md" in origin
