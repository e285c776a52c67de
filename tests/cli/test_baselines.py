# SPDX-License-Identifier: Apache-2.0
"""What a run says of the baseline that it writes or reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.models.clean_model import CLEAN

from onnx_lint.cli.application import run

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
