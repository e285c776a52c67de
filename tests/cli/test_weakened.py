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
    first, second = (f"onnx-lint.toml: suppress[{number}]" for number in range(2))
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


def test_a_suppression_is_found_by_any_name_of_its_file():
    """Also by one that looks like the end of an entry."""
    entry = "a]: b/onnx-lint.toml: suppress[0]"
    weakened = (Weakening("a]: b/onnx-lint.toml", ((f'suppress."{entry}".rule', "cycle"),)),)
    assert without_unused(weakened, [f"{entry}: as in c[0]: known"]) == weakened


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


def test_a_severity_that_raises_a_clause_counts_only_if_it_lowered_a_finding():
    """Clauses of duplicate-opset-import are errors, warnings and notes; a setting for its notes weakens nothing."""
    mixed, lower = (("severity.duplicate-opset-import", "warning"), ("severity.cycle", "note"))
    weakened = [Weakening("onnx-lint.toml", (mixed, lower))]
    assert without_unused(weakened, ()) == (Weakening("onnx-lint.toml", (lower,)),)
    assert without_unused(weakened, (), {"duplicate-opset-import"}) == tuple(weakened)


@pytest.mark.parametrize(("size", "is_lowered"), [(2, False), (3, True)])
def test_what_is_listed_follows_from_the_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], size: int, *, is_lowered: bool
):
    """An output that is listed twice is a note, and an error if the types differ."""
    monkeypatch.chdir(tmp_path)
    one, other = (
        f'output {{ name: "y" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_value: {number} }} }} }} }} }}'
        for number in (2, size)
    )
    inner = f'node {{ op_type: "Relu" input: "x" output: "y" }} {one} {other} {one.replace("output", "input")}'
    text = f'ir_version: 10 producer_name: "p" opset_import {{ version: 21 }} graph {{ name: "g" {inner} }}'
    Path("m.textproto").write_text(text.replace('input { name: "y"', 'input { name: "x"'))
    Path("onnx-lint.toml").write_text('[severity]\nduplicate-graph-output = "warning"\n')
    run(["m.textproto"])
    out = capsys.readouterr().out
    assert "warning[duplicate-graph-output]" in out
    assert ("weakens the verdict" in out) is is_lowered
    assert ("severity of 'duplicate-graph-output' is lowered" in out) is is_lowered
    assert ("does not conform" in out) is is_lowered
