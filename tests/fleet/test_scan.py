# SPDX-License-Identifier: Apache-2.0
"""The targets of a scan, and where a worker looks for them."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pytest
from support.models.clean_model import CLEAN

from onnx_lint.engine.settings import Settings
from onnx_lint.fleet.cell import lint
from onnx_lint.fleet.jobs import Job, Outcome
from onnx_lint.fleet.scan import ScannedFile, with_unique_names
from onnx_lint.input.locations import shown_address


def _target(path: str, name: str | None = None) -> ScannedFile:
    return ScannedFile(path, name or path, Settings(), 3, "1")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a\\xff.onnx", os.fsdecode(b"a\xff.onnx")),
        ("https://host/model?id=1", "https://host/model?id=2"),
        ("https://one:secret@host/m.onnx", "https://two:secret@host/m.onnx"),
    ],
)
def test_none_of_the_objects_with_one_name_is_taken_for_the_other(one: str, other: str) -> None:
    between = _target("b.onnx")
    first, second = (_target(path, shown_address(path) if "://" in path else path) for path in (one, other))
    kept, *others = with_unique_names([first, between, second])
    assert others == [between]
    assert kept.problem is not None
    assert kept.problem.endswith(": several objects have this name in reports, so none of them was linted")
    assert kept.version == ""


def _unreadable(outcome: Outcome | Exception) -> str | None:
    assert isinstance(outcome, Outcome)
    said: str | None = json.loads(outcome.file)["unreadable"]
    return said


def test_a_relative_path_begins_where_the_scan_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And on a machine that has no such folder it does not lead to another model of that name."""
    for name in ("scan", "worker"):
        (tmp_path / name).mkdir()
    (tmp_path / "scan" / "m.textproto").write_text(CLEAN)
    (tmp_path / "worker" / "other.textproto").write_text(CLEAN)
    settings = pickle.dumps(Settings())
    identity = {"size": 3, "version": "1", "settings": "0"}

    def lint_there(path: str, folder: Path) -> str | None:
        monkeypatch.chdir(tmp_path / "worker")
        return _unreadable(lint(Job(path, path, identity, settings, settings, 1, str(folder))))

    assert lint_there("m.textproto", tmp_path / "scan") is None
    assert lint_there("other.textproto", tmp_path / "scan") == "other.textproto: No such file or directory"
    assert lint_there("other.textproto", tmp_path / "nowhere") == "other.textproto: No such file or directory"
    assert lint_there(str(tmp_path / "worker" / "other.textproto"), tmp_path / "nowhere") is None
