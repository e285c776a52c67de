# SPDX-License-Identifier: Apache-2.0
"""What a configuration file turns off."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.models.clean_model import TWICE

from onnx_lint.cli.application import run
from onnx_lint.cli.weakened import without_unused
from onnx_lint.report.totals import Weakening


def test_only_suppressions_that_suppressed_nothing_are_left_out():
    first, second = (f"onnx-lint.toml, suppress[{number}]" for number in range(2))
    keys = [f'suppress."{entry}".rule' for entry in (first, second)]
    weakened = [
        Weakening("onnx-lint.toml", (("ignore", ["cycle"]), *((key, "cycle") for key in keys)), is_found=True),
        Weakening("zoo/onnx-lint.toml", ((keys[0], "cycle"),)),
        Weakening("other.toml", (("fail-on", "never"),)),
    ]
    assert without_unused(weakened, [f"{second}: a reason: with a colon"]) == (
        Weakening("onnx-lint.toml", (("ignore", ["cycle"]), (keys[1], "cycle")), is_found=True),
        Weakening("other.toml", (("fail-on", "never"),)),
    )


@pytest.mark.parametrize(
    ("working", "options", "is_listed"),
    [
        ("zoo", (), False),
        ("zoo/deep", (), False),
        (".", ("--config", "zoo/onnx-lint.toml"), False),
        (".", (), True),
        ("elsewhere", (), True),
    ],
)
def test_a_baseline_is_listed_only_if_it_came_with_the_models(
    working: str,
    options: tuple[str, ...],
    is_listed: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for folder in ("zoo/deep", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    model = tmp_path / "zoo/deep/m.textproto"
    model.write_text(TWICE)
    monkeypatch.chdir(tmp_path)
    assert run(["--write-baseline", "zoo/known.json", str(model)]) == 0
    (tmp_path / "zoo/onnx-lint.toml").write_text('baseline = "known.json"\n')
    monkeypatch.chdir(tmp_path / working)
    capsys.readouterr()
    assert run([*options, str(model)]) == 0
    written = capsys.readouterr().out
    assert "suppressed" in written
    assert ("weakens the verdict: baseline" in written) == is_listed
