# SPDX-License-Identifier: Apache-2.0
"""Shapes have one notation in all reports: brackets where the textual syntax is unambiguous, words where it is not."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.project.fixture_files import FIXTURES

from onnx_lint.cli.application import run
from onnx_lint.wording import MAX_DIMENSIONS, describe_shape, typed, with_shape

BRACKETS = re.compile(r"(?<![=:])(?<![=:] )\[\]")
"""Empty brackets that are no list: not `axes: ints = []` and not `dims: []`."""


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((2, "N", None), "[2, N, ?]"),
        ((2, "?", None, "N + 1"), "[2, '?', ?, N + 1]"),
        ((), "a scalar"),
        (None, "of unknown rank"),
        (range(MAX_DIMENSIONS + 1), f"[{', '.join(map(str, range(MAX_DIMENSIONS)))}, ... 17 dimensions]"),
    ],
)
def test_describe_shape(shape: Sequence[int | str | None] | None, expected: str):
    assert describe_shape(shape) == expected


def test_a_shape_behind_a_noun():
    assert [typed("float", shape) for shape in ((2, 3), (), None)] == [
        "float[2, 3]",
        "float (a scalar)",
        "float (of unknown rank)",
    ]
    assert with_shape("input 0 'x'", "[2, 3]") == "input 0 'x' [2, 3]"
    assert with_shape("input 0 'x'", "a scalar") == "input 0 'x' (a scalar)"


def test_no_report_on_the_fixtures_has_empty_brackets(tmp_path: Path):
    """`float[]` is a scalar to some readers and of unknown rank to others: no message, frame or type has it."""
    report = tmp_path / "report.json"
    run([str(FIXTURES), "--no-config", "-o", f"json={report}", "-o", f"text={tmp_path / 'text'}", "-q"])
    texts = (tmp_path / "text").read_text().splitlines()
    for file in json.loads(report.read_text())["files"]:
        for item in file["diagnostics"]:
            texts += [item["message"], item["allowed"] or "", item.get("hint", "")]
            texts += [place["message"] for place in item["related"]]
    assert len(texts) > 10_000
    assert [text for text in texts if BRACKETS.search(re.sub("'[^']*'", "", text))] == []
