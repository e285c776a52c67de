# SPDX-License-Identifier: Apache-2.0
"""The memory of a run does not grow with the number of models without findings: a report is dropped once written."""

from __future__ import annotations

import gc
import os
import tracemalloc
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

import pytest

from onnx_lint.cli import run as run_module
from onnx_lint.cli.paths import Input
from onnx_lint.cli.request import COMMAND_LINE
from onnx_lint.configuration.settings import Request
from onnx_lint.report import FileFacts, FileReport
from onnx_lint.tasks.lint_one import Task

MODELS = 4_000
WARM = 1_000
"""By then everything is imported, and memory that grows in steps has grown."""
FLAT = 50
"""The bytes for one more model: 5 MB for 100,000. The paths are in the list of files, before the first model."""


@pytest.mark.parametrize(
    ("form", "most"),
    [("text", FLAT), ("concise", FLAT), ("jsonl", FLAT), ("github", FLAT), ("sarif", FLAT), ("json", 2 * FLAT)],
)
@pytest.mark.parametrize("to_file", [True, False])
def test_one_more_clean_model_takes_no_memory(
    form: str,
    most: int,
    to_file: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    before = after = 0

    def reports(
        tasks: Sequence[Task], jobs: int, done: dict[int, FileReport], on_done: Callable[[str], None], limits: object
    ) -> Generator[int, None, None]:
        nonlocal before, after
        for index, task in enumerate(tasks):
            if index == WARM:
                gc.collect()
                tracemalloc.start()
                before, _ = tracemalloc.get_traced_memory()
            facts = FileFacts(10, (("", 21),), f"exporter {index % 7}", index % 900, 1, 0)
            done[index] = FileReport(str(task.name), 1_000 + index, facts=facts, judged_by=150)
            yield index
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()

    inputs = [Input(os.devnull, name=f"zoo/{index % 10}/model{index:06}.onnx") for index in range(MODELS)]
    monkeypatch.setattr(run_module, "lint_each", reports)
    monkeypatch.setattr(run_module, "inputs_of", lambda _: inputs)
    request = Request(("zoo",), {"format_name": COMMAND_LINE}, format_name=form, no_config=True, no_progress=True)
    try:
        assert run_module.run(_to(request, "report") if to_file else request) == 0
    finally:
        tracemalloc.stop()
    text = Path("report").read_text() if to_file else capfd.readouterr().out
    assert f"{MODELS:,}" in text or form == "concise" or f"model{MODELS - 1:06}.onnx" in text
    assert after - before < most * (MODELS - WARM)


def _to(request: Request, path: str) -> Request:
    from onnx_lint.common.record import replace

    return replace(request, outputs=(path,))
