# SPDX-License-Identifier: Apache-2.0
"""`--timings`: where the time of a run went."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from onnx_lint import lint
from onnx_lint.cli.application import run
from onnx_lint.engine.lint import lint_file
from onnx_lint.engine.settings import Settings
from onnx_lint.engine.stopwatch import Stopwatch

MODEL = """
ir_version: 10
producer_name: "example"
producer_version: "1"
opset_import { domain: "" version: 21 }
graph {
  name: "g"
  node { op_type: "Relu" input: "x" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { } } } }
}
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "model.textproto"
    file.write_text(MODEL)
    return str(file)


def test_a_part_within_another_counts_for_the_inner_one_only(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((0.0, 1.0, 3.0, 7.0, 15.0))
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    watch = Stopwatch()
    with watch("outer"), watch("inner"):
        pass
    assert watch.seconds == {"outer": 2.0 + 8.0, "inner": 4.0}


def test_the_parts_are_the_model_the_rules_and_the_facts(path: str) -> None:
    timings = dict(lint_file(path, Settings(select=("non-c90-name",), timings=True)).timings)
    assert timings.keys() == {"load model", "load rules", "rule non-c90-name", "facts"}
    assert all(seconds >= 0 for seconds in timings.values())


def test_a_run_without_timings_measures_nothing_and_finds_the_same(path: str) -> None:
    timed = lint_file(path, Settings(timings=True))
    [plain] = lint(path).files
    assert plain.timings == ()
    assert timed.diagnostics == plain.diagnostics


def test_the_command_line_tells_on_standard_error_only(path: str) -> None:
    command = [sys.executable, "-m", "onnx_lint", path]
    plain = subprocess.run(command, capture_output=True, text=True, check=False)
    timed = subprocess.run([*command, "--timings"], capture_output=True, text=True, check=False)
    assert (timed.returncode, timed.stdout) == (plain.returncode, plain.stdout)
    first, *lines = timed.stderr.splitlines()
    assert first == "timings of 1 file, in milliseconds"
    totals = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert totals == ["start-up", "load", "rule", "facts", "output"]
    details = [float(line.split()[-1].replace(",", "")) for line in lines if line.startswith(" ")]
    assert details == sorted(details, reverse=True)


def test_a_model_in_text_form_has_parts_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "model.textproto"
    path.write_text("ir_version: 10")
    assert run([str(path), "--timings", "-o", f"html={tmp_path / 'report.html'}"]) == 1
    said = capsys.readouterr().err
    for part in ("positions", "pictures", "context"):
        assert part in said
