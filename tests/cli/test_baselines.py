# SPDX-License-Identifier: Apache-2.0
"""What a run says of the baseline that it writes or reads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.models.clean_model import CLEAN

from onnx_lint.cli.application import run
from onnx_lint.cli.baselines import Baselines

_VALUE = "{ tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } }"

REPEATED = CLEAN.replace(
    "  input {",
    "".join(
        f'  node {{ name: "n{index}" op_type: "Abs" input: "x" output: "z{index}" }}\n'
        + f'  value_info {{ name: "z{index}" type {_VALUE} }}\n' * 2
        for index in range(3)
    )
    + "  input {",
    1,
)
"""A model with one finding about three names, each of which has two entries."""


def test_as_many_findings_are_written_as_are_suppressed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.textproto").write_text(REPEATED)
    Path("clean.textproto").write_text(CLEAN)
    assert run(["--write-baseline", "known.json", "."]) == 0
    assert capsys.readouterr().err == "Wrote 1 finding to known.json\n"
    assert run(["--baseline", "known.json", "."]) == 0
    assert "1 suppressed by the baseline" in capsys.readouterr().out
    assert '"count": 3' in Path("known.json").read_text()  # for a fourth one to be new


def test_what_another_run_writes_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run in parallel, of other models, ends first. Neither replaces the entries of the other."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.textproto", "b.textproto"):
        Path(name).write_text(REPEATED)
    finish = Baselines.finish

    def finish_second(first: Baselines) -> int:
        monkeypatch.setattr(Baselines, "finish", finish)
        assert run(["--write-baseline", "known.json", "b.textproto"]) == 0
        return finish(first)

    monkeypatch.setattr(Baselines, "finish", finish_second)
    assert run(["--write-baseline", "known.json", "a.textproto"]) == 0
    assert list(json.loads(Path("known.json").read_text())["files"]) == ["a.textproto", "b.textproto"]


@pytest.mark.slow
def test_runs_that_end_together_keep_the_entries_of_each_other(tmp_path: Path) -> None:
    names = [f"m{index}.textproto" for index in range(6)]
    for name in names:
        (tmp_path / name).write_text(REPEATED)
    command = [sys.executable, "-m", "onnx_lint", "-q", "--write-baseline", "known.json"]
    runs = [subprocess.Popen([*command, name], cwd=tmp_path, stderr=subprocess.DEVNULL) for name in names]
    assert [run.wait() for run in runs] == [0] * len(runs)
    assert list(json.loads((tmp_path / "known.json").read_text())["files"]) == names
    assert sorted(path.name for path in tmp_path.iterdir()) == ["known.json", *names]
