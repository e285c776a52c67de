# SPDX-License-Identifier: Apache-2.0
"""Errors name the part of a key that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnx_lint.cli.merge_configuration import merged
from onnx_lint.cli.plan import Plan
from onnx_lint.configuration.errors import ConfigurationError
from onnx_lint.configuration.settings import Request
from onnx_lint.configuration.values import Origin, checked


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('select = ["cycel"]', "select"),
        ('[severity]\ncycel = "note"', "severity"),
        ("[rules.cycel]\na = 1", "rules.cycel"),
        ("[rules.oversized-message]\nmax_byts = 1", "rules.oversized-message"),
        ("[limits]\nmemori = 1", "limits"),
        ('[targets]\nonnxruntimes = "1"', "targets"),
    ],
)
def test_an_error_names_the_part_of_the_key_that_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, place: str
):
    monkeypatch.chdir(tmp_path)
    Path("onnx-lint.toml").write_text(text)
    with pytest.raises(ConfigurationError) as error:
        Plan(Request(paths=("m.onnx",))).settings_for("m.onnx")
    assert str(error.value).startswith(f"onnx-lint.toml: {place}: ")


def test_excluded_addresses_stay_addresses() -> None:
    patterns = ["s3://bucket/**/old-*.onnx", "../old/*.onnx", "./old-*", "old-*"]
    values = checked({"exclude": patterns}, Origin("onnx-lint.toml", "/models/[new]"))
    assert merged(Request(paths=()), values).exclude == (patterns[0], "/models/old/*.onnx", "old-*", "old-*")
