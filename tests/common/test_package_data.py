# SPDX-License-Identifier: Apache-2.0
"""The JSON of data files is read as json reads it, without importing that."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from support.project.checkout import ROOT

from onnx_lint.common import package_data

FILES = [ROOT / "rules" / "index.json", *sorted((ROOT / "onnx_lint" / "spec").rglob("*.jsonl"))]


@pytest.fixture(params=["in C", "in Python", "of a later version"])
def scanner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "in Python":
        monkeypatch.setitem(sys.modules, "_json", None)
    elif request.param == "of a later version":
        monkeypatch.delattr(package_data._Context, "parse_constant")
    monkeypatch.setattr(package_data, "_scan", package_data._scanner())


@pytest.mark.usefixtures("scanner")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_values_are_those_of_json(path: Path):
    lines = path.read_bytes().splitlines() if path.suffix == ".jsonl" else [path.read_bytes()]
    assert [repr(package_data.parsed(line)) for line in lines] == [repr(json.loads(line)) for line in lines]


@pytest.mark.usefixtures("scanner")
@pytest.mark.parametrize("line", [b"", b"]", b"[1,", b'{"a" 1}', b"\xff"])
def test_other_bytes_are_no_json(line: bytes):
    with pytest.raises(ValueError):  # noqa: PT011 - each has words of its own
        package_data.parsed(line)
