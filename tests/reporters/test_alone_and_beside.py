# SPDX-License-Identifier: Apache-2.0
"""A report format has the same content with any other formats in the same run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from onnx_lint.cli.application import run
from onnx_lint.reporters import REPORTERS

COUNT = 80
"""The faults of each kind. Every format shows the lines of fewer findings: at most 300 of a file."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A model with many errors of four kinds, and warnings behind them; and every form of report on it, in one run."""
    folder = tmp_path_factory.mktemp("beside")
    errors = "".join(
        f"""node {{ name: "n" op_type: "Abs" input: "missing{index}" output: "y" }}
            node {{ op_type: "None{index}" input: "x" output: "z{index}" }}
            node {{ op_type: "Add" input: "x" output: "w{index}" }}
            value_info {{ name: "stale{index}" }}
            initializer {{ name: "i-{index}" data_type: 99 }}"""
        for index in range(COUNT)
    )
    (folder / "model.textproto").write_text(
        f"""ir_version: 10 opset_import {{ version: 21 }}
            graph {{ name: "g" {errors} input {{ name: "x" type {{ tensor_type {{ elem_type: 1 }} }} }} }}"""
    )
    outputs = [part for form in REPORTERS for part in ("-o", f"{form}={folder / 'beside'}.{form}")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "0")  # the page has the time
        assert run([str(folder / "model.textproto"), *outputs, "--select", "ALL", "-q"]) == 1
        yield folder


@pytest.mark.parametrize("form", REPORTERS)
def test_a_form_is_the_same_alone_and_beside_all_others(folder: Path, form: str) -> None:
    alone = folder / f"alone.{form}"
    assert run([str(folder / "model.textproto"), "-f", form, "-o", str(alone), "--select", "ALL", "-q"]) == 1
    assert alone.read_bytes() == (folder / f"beside.{form}").read_bytes()


@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_a_form_on_standard_output_is_the_same_too(folder: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run([str(folder / "model.textproto"), "-f", form, "--select", "ALL", "-q", "-o", f"sarif={folder / 'x'}"]) == 1
    )
    assert capsys.readouterr().out.encode() == (folder / f"beside.{form}").read_bytes()
