# SPDX-License-Identifier: Apache-2.0
"""The memory of a run does not grow with the number of models without findings: a report is dropped once written."""

from __future__ import annotations

import gc
import os
import tracemalloc
from collections.abc import Generator
from pathlib import Path

import pytest

from onnx_lint.cli import list_tasks
from onnx_lint.cli import run as run_module
from onnx_lint.cli.jobs import Linting
from onnx_lint.cli.paths import Input
from onnx_lint.configuration.settings import Request
from onnx_lint.report.file_report import FileFacts, FileReport, OperatorCount
from onnx_lint.reporters import STREAMED, html, packed_text

pytestmark = pytest.mark.slow

MODELS = 3_000
WARM = 1_000
"""By then everything is imported, and memory that grows in steps has grown."""
FLAT = 50
"""The bytes for one more model: 5 MB for 100,000. The paths are in the list of files, before the first model."""
OF_PYTEST = [tracemalloc.Filter(False, f"*{name}*") for name in ("execnet", "xdist", "pytest", "threading")]


def _kept() -> int:
    gc.collect()
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces(OF_PYTEST).traces)


@pytest.mark.parametrize(
    ("form", "to_file"),
    [
        *((form, False) for form in sorted(STREAMED)),
        *((form, True) for form in ("jsonl", "sarif", "json", "html")),
    ],
)
def test_one_more_clean_model_takes_no_memory(
    form: str,
    to_file: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    before = after = 0

    def made_up(linting: Linting) -> Generator[int, None, None]:
        nonlocal before, after
        for index, task in enumerate(linting._tasks):
            if index == WARM:
                tracemalloc.start()
                before = _kept()
            facts = FileFacts(
                10,
                (("", 21),),
                f"exporter {index % 7}",
                index % 900,
                1,
                0,
                (OperatorCount("", 21, f"Op{index % 99}", 2),),
            )
            linting.done[index] = FileReport(str(task.name), 1_000 + index, facts=facts, judged_by=150)
            yield index
        after = _kept()

    inputs = [Input(os.devnull, name=f"zoo/{index % 10}/model{index:06}.onnx") for index in range(MODELS)]
    monkeypatch.setattr(packed_text, "_FREE", 0)  # a mebibyte at most is not packed, however many models there are
    monkeypatch.setattr(html, "MAX_FILES", 10)  # the page has no more, and the writer keeps no more than twice as many
    monkeypatch.setattr(Linting, "indices", made_up)
    monkeypatch.setattr(list_tasks, "inputs_of", lambda _: inputs)
    outputs = ("report",) if to_file else ()
    given = frozenset({"format_name"})
    request = Request(("zoo",), given, format_name=form, outputs=outputs, no_config=True)
    try:
        assert run_module.run(request) == 0
    finally:
        tracemalloc.stop()
    text = Path("report").read_text() if to_file else capfd.readouterr().out
    assert f"{MODELS:,}" in text or form == "concise" or f"model{MODELS - 1:06}.onnx" in text
    assert after - before < FLAT * (MODELS - WARM)
