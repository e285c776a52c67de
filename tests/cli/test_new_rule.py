# SPDX-License-Identifier: Apache-2.0
"""From an empty folder to a green test of a rule of the house, by two commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.models.clean_model import CLEAN

from onnx_lint.cli.application import run


def _run(folder: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env={**os.environ, "PYTEST_ADDOPTS": "-p no:hypothesispytest -p no:anyio"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["metadata", "node", "value", "graph"])
def test_a_rule_of_a_kind_fails_its_test_until_it_is_filled_in(kind: str, tmp_path: Path):
    assert _run(tmp_path, "onnx_lint", "new-rule", "odd-thing", "--kind", kind)[0] == 0
    code, output = _run(tmp_path, "pytest", "-q", "-p", "no:cacheprovider")
    assert (code, "1 failed, 1 passed" in output) == (1, True), output
    rule = tmp_path / "odd_thing.py"
    text = rule.read_text(encoding="utf-8")
    condition = text.partition("such as ")[2].partition("\n")[0]
    rule.write_text(text.replace("is_wrong = False", f"is_wrong = {condition}"), encoding="utf-8")
    code, output = _run(tmp_path, "pytest", "-q", "-p", "no:cacheprovider")
    assert (code, "2 passed" in output) == (0, True), output


@pytest.mark.slow
def test_a_rule_that_is_called_missing_finds_what_is_missing(tmp_path: Path):
    assert _run(tmp_path, "onnx_lint", "new-rule", "missing-author")[0] == 0
    assert _run(tmp_path, "onnx_lint", "new-rule", "missing-training-data")[0] == 0
    code, output = _run(tmp_path, "pytest", "-q", "-p", "no:cacheprovider")
    assert (code, "4 passed" in output) == (0, True), output
    (tmp_path / "model.textproto").write_text(CLEAN)
    code, output = _run(tmp_path, "onnx_lint", "model.textproto", "--plugin", "missing_training_data.py")
    assert (code, "the metadata has no key 'training-data'" in output) == (1, True), output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Missing_Licence"], "lower-case words with dashes"),
        (["cycle"], "a rule of onnx-lint has the name 'cycle' already"),
        (["missing-" + "very-" * 20 + "long"], "too long: a line would have more than 120 characters"),
        (["class"], "'class' is a keyword of Python"),
        (["os"], "would be a module 'os', which Python or pytest imports"),
        (["conftest"], "would be a module 'conftest'"),
        (["numpy"], "would be a module 'numpy'"),
    ],
)
def test_a_name_that_cannot_be_is_a_sentence(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    assert run(["new-rule", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_no_file_is_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_missing_licence.py").write_text("mine")
    assert run(["new-rule", "missing-licence"]) != 0
    assert "test_missing_licence.py: the file exists already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["test_missing_licence.py"]


@pytest.mark.slow
def test_a_second_rule_in_the_folder_is_beside_the_first_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name in ("missing-licence", "missing-author"):
        assert run(["new-rule", name, "--kind", "graph"]) == 0
    code, output = _run(tmp_path, "pytest", "-q", "-p", "no:cacheprovider")
    assert (code, "2 failed, 2 passed" in output) == (1, True), output
    (tmp_path / "model.textproto").write_text(CLEAN)
    for name in ("missing_licence.py", "missing_author.py"):
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(text.replace("is_wrong = False", "is_wrong = True"))
    plugins = [word for name in ("missing_licence", "missing_author") for word in ("--plugin", f"{name}.py")]
    code, output = _run(tmp_path, "onnx_lint", "model.textproto", *plugins)
    assert code == 1
    assert "HOUSE-MISSING-LICENCE" in output
    assert "HOUSE-MISSING-AUTHOR" in output


def test_no_line_is_longer_than_120_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert run(["new-rule", "missing-licence-of-the-weights-of-a-model"]) == 0
    lengths = [len(line) for path in tmp_path.iterdir() for line in path.read_text().splitlines()]
    assert max(lengths) <= 120
