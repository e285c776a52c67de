# SPDX-License-Identifier: Apache-2.0
"""The targets of a scan, and where a worker looks for them."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pytest
from support.models.clean_model import CLEAN

from onnx_lint.cache import identity
from onnx_lint.cache.checks import opened
from onnx_lint.cli.application import run
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


def test_it_shares_the_cache_with_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither of them lints a model that the other one has linted."""
    monkeypatch.setattr(identity, "SETTLED_NANOSECONDS", -3_600_000_000_000)
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "models").mkdir()
    monkeypatch.chdir(tmp_path / "models")
    with_finding = CLEAN.replace("Relu", "Rleu")
    assert with_finding != CLEAN
    for name in ("first", "second", "third"):
        Path(f"{name}.textproto").write_text(with_finding)
    settings = pickle.dumps(Settings())

    def scanned(name: str, cache: str) -> Outcome | Exception:
        path = f"{name}.textproto"
        state = {"size": 3, "version": "1", "settings": "0"}
        with opened():
            return lint(Job(path, path, state, settings, settings, 1, str(tmp_path / "models"), cache))

    def checked(name: str, *options: str) -> tuple[int, str]:
        return run(["check", *options, "-f", "jsonl", f"{name}.textproto"]), capsys.readouterr().out

    cache = str(tmp_path / "cache")
    plain, expected = scanned("first", ""), checked("second")
    assert isinstance(plain, Outcome)
    assert plain.errors == 1
    assert checked("first", "--cache")[0] == 1
    assert isinstance(scanned("second", cache), Outcome)
    with monkeypatch.context() as patch:
        patch.setattr("onnx_lint.engine.lint.lint_file", None)
        assert scanned("first", cache) == plain
        assert checked("second", "--cache") == expected
        broken = scanned("third", cache)
    assert isinstance(broken, Outcome)
    assert not broken.settled  # it had to be linted
    assert isinstance(after := scanned("third", cache), Outcome)
    assert after.settled


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
