# SPDX-License-Identifier: Apache-2.0
"""The settings of each file, from a request and the configuration files."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from onnx_lint.cli.plan import Plan
from onnx_lint.configuration.settings import Request

ENTRY = """
[[suppress]]
rule = "cycle"
reason = "{reason}"
{until}
"""


def _suppressed(path: Path, *days: int | None) -> list[str]:
    """The reasons of the suppressions that hold today, of entries that end in so many days."""
    today = datetime.date.today()
    ends = ["" if day is None else f'until = "{today + datetime.timedelta(day)}"' for day in days]
    entries = [ENTRY.format(reason=str(day), until=end) for day, end in zip(days, ends, strict=True)]
    (path / "onnx-lint.toml").write_text("".join(entries))
    settings = Plan(Request(paths=("m.onnx",))).settings_for(str(path / "m.onnx"))
    return [each.reason for each in settings.suppressions]


def test_suppressions_hold_until_they_expire(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert _suppressed(tmp_path, None, 1, -2, 30) == ["None", "1", "30"]
    assert _suppressed(tmp_path, -2) == []
    assert _suppressed(tmp_path) == []
