# SPDX-License-Identifier: Apache-2.0
"""The files of a run, with what its reports show of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnx_lint.cli.list_tasks import tasks_of
from onnx_lint.cli.outputs import Output
from onnx_lint.cli.plan import Plan
from onnx_lint.configuration.settings import Request
from onnx_lint.engine.settings import PARTS


@pytest.mark.parametrize(
    ("form", "fields", "parts"),
    [
        ("concise", {}, ()),
        ("concise", {"cache": True}, PARTS),
        ("text", {}, ("counts",)),
        ("text", {"quiet": True}, ()),
        ("text", {"quiet": True, "statistics": True}, ("operators",)),
        ("json", {}, PARTS),
        ("json", {"cache": True}, PARTS),
    ],
)
def test_a_verdict_for_the_cache_has_what_any_report_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, fields: dict[str, bool], parts: tuple[str, ...]
):
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "m.onnx").write_bytes(b"")
    request = Request(paths=(str(tmp_path / "m.onnx"),), no_config=True, **fields)
    [task] = tasks_of(Plan(request), [Output(form, None)])
    assert task.settings.parts == parts
