# SPDX-License-Identifier: Apache-2.0
"""The progress bar on standard error."""

from __future__ import annotations

import re

import pytest

from onnx_lint.cli.progress import ProgressBar
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.tensors.wire_values import Reading, byte_pieces


@pytest.mark.parametrize(("files", "count"), [(1, ""), (3, " 1/3")])
def test_the_bar_shows_the_bytes_that_are_read(
    files: int, count: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(Reading, "bytes_read", 0)
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("COLUMNS", "80")
    with ProgressBar(files, wanted=True) as bar:
        bar._show()
        for _ in byte_pieces(BytesSource(bytes(2_500_000)), 0, 2_500_000, 1_000_000):
            pass
        bar.advance()
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert re.search(rf"━{count} 2\.5 MB read 0:00:00", shown)
