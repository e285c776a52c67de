# SPDX-License-Identifier: Apache-2.0
"""A configuration runs Python files only if the user named it, or it is in the root of the repository."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.models.clean_model import CLEAN

from onnx_lint.cli.application import run
from onnx_lint.engine.plugins import use_files

MODEL = CLEAN.encode()

RULE = """
from pathlib import Path
from onnx_lint.model import ROOT
from onnx_lint.rule import Finding, rule

Path("has_run").touch()

@rule(clause="MOD-10", since="1.0")
def house_rule(model):
    '''A rule of the house.'''
    yield Finding(ROOT, "as the house wants it")
"""


@pytest.fixture(autouse=True)
def _leave_no_plugin() -> Iterator[None]:
    """Other tests see the rules and clauses of onnx-lint alone."""
    yield
    use_files(())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a model, a rule and a configuration in the folder `models`."""
    models = tmp_path / "models"
    models.mkdir()
    (models / "model.textproto").write_bytes(MODEL)
    (models / "house_rules.py").write_text(RULE)
    (models / "onnx-lint.toml").write_text('plugins = ["house_*.py"]\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


Printed = Callable[[], pytest.CaptureFixture[str]]


def _moved_up(folder: Path) -> None:
    for name in ("house_rules.py", "onnx-lint.toml"):
        (folder / "models" / name).rename(folder / name)


def test_a_configuration_beside_models_runs_nothing(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run(["models"]) == 2
    assert "models/onnx-lint.toml: plugins: Python files are run only for a configuration" in capsys.readouterr().err
    assert not (folder / "has_run").exists()


@pytest.mark.parametrize("is_repository", [False, True])
def test_the_folder_of_models_may_be_a_repository_of_its_own(
    folder: Path, is_repository: bool, capsys: pytest.CaptureFixture[str]
):
    """A checkout of a stranger is no repository in which onnx-lint was started."""
    (folder / "models" / ".git").mkdir()
    if is_repository:
        (folder / ".git").mkdir()
    assert run(["models"]) == 2
    capsys.readouterr()
    assert not (folder / "has_run").exists()


def test_a_configuration_that_is_named_runs_its_files(folder: Path, capsys: pytest.CaptureFixture[str]):
    run(["models", "--config", "models/onnx-lint.toml"])
    assert "house-rule" in capsys.readouterr().out


def test_one_in_the_root_of_the_repository_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    _moved_up(folder)
    assert run(["models"]) == 2, "no repository"
    (folder / ".git").mkdir()
    monkeypatch.chdir(folder / "models")
    run(["."])
    assert "house-rule" in capsys.readouterr().out


def test_a_pattern_without_a_file_is_a_fault(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "models" / "house_rules.py").unlink()
    assert run(["models", "--config", "models/onnx-lint.toml"]) == 2
    assert "models/onnx-lint.toml: plugins: no file matches 'house_*.py'" in capsys.readouterr().err


def test_the_option_runs_a_file_and_the_settings_list_it(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "models" / "onnx-lint.toml").unlink()
    run(["models", "--plugin", "models/house_rules.py"])
    assert "house-rule" in capsys.readouterr().out
    run(["models", "--plugin", "models/house_rules.py", "--show-settings"])
    shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith("plugins")]
    assert shown[0].split("#")[0].strip() == 'plugins = ["models/house_rules.py"]'


def test_processes_have_the_rules_as_well(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "models" / "onnx-lint.toml").unlink()
    (folder / "models" / "second.textproto").write_bytes(MODEL)
    run(["models", "--plugin", "models/house_rules.py", "-j", "2", "--time-limit", "600", "-f", "concise"])
    assert capsys.readouterr().out.count("[house-rule]") == 2
