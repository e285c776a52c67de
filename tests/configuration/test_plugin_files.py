# SPDX-License-Identifier: Apache-2.0
"""A configuration runs Python files only if the user named it, or it is in the root of the repository."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.models.clean_model import CLEAN

from onnx_lint import lint
from onnx_lint.cli.application import run
from onnx_lint.configuration.plugin_files import files_of
from onnx_lint.configuration.values import ConfigurationError, Origin, SetValue
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
    """An untrusted checkout is not trusted unless onnx-lint was started in it."""
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


def test_the_settings_list_the_files_that_a_pattern_has_found(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "more.py").write_text(RULE.replace("house_rule", "other_rule"))
    run(["models", "--config", "models/onnx-lint.toml", "--plugin", "more.py", "--show-settings"])
    shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith("plugins")]
    assert [line.split("#")[0].strip() for line in shown] == [
        'plugins = ["models/house_rules.py"]',
        'plugins = ["more.py"]',
    ]


def _runs_nothing(folder: Path, *arguments: str) -> None:
    assert run([*arguments]) == 2
    assert not (folder / "has_run").exists()
    assert not (folder / "models" / "has_run").exists()


def test_no_way_to_a_configuration_beside_models_runs_its_files(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Whatever the user's own configuration is, and from wherever onnx-lint is started."""
    own, models = folder / "onnx-lint.toml", folder / "models"
    (folder / ".git").mkdir()
    _runs_nothing(folder, "models")
    _runs_nothing(folder, "fix", "models")
    _runs_nothing(folder, "models/model.textproto", "--show-settings")
    # The configuration of the user extends that beside the models, or the other way round.
    own.write_text('extend = "models/onnx-lint.toml"\n')
    _runs_nothing(folder, "models")
    own.write_text('plugins = ["models/house_rules.py"]\n')
    (models / "onnx-lint.toml").write_text('extend = "sub/onnx-lint.toml"\n')
    (models / "sub").mkdir()
    (models / "sub" / "onnx-lint.toml").write_text('plugins = ["../house_*.py"]\n')
    monkeypatch.chdir(models)
    _runs_nothing(folder, ".")
    _runs_nothing(folder, str(models))
    # A pyproject.toml, and a folder in place of a file.
    (models / "onnx-lint.toml").unlink()
    (models / "pyproject.toml").write_text('[tool.onnx-lint]\nplugins = ["house_*.py"]\n')
    _runs_nothing(folder, ".")
    _runs_nothing(folder, ".", "--config", str(models))
    # The folder is reached by a link, or pretends to be the root.
    (folder.parent / "link").unlink(missing_ok=True)
    (folder.parent / "link").symlink_to(models)
    monkeypatch.chdir(folder.parent / "link")
    _runs_nothing(folder, ".")
    own.unlink()
    monkeypatch.chdir(folder)
    (models / ".git").symlink_to(folder / ".git")
    _runs_nothing(folder, "models")
    _runs_nothing(folder, str(folder.parent / "link"))


def test_the_library_runs_no_file_of_a_configuration_that_it_finds_beside_a_model(folder: Path):
    (folder / ".git").mkdir()
    with pytest.raises(ValueError, match="Python files are run only for a configuration"):
        lint("models/model.textproto", config=True)
    assert not (folder / "has_run").exists()


def test_the_root_of_a_repository_that_everybody_can_write_to_is_no_trusted_place(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Another user can put `.git`, a configuration and a rule into `/tmp`."""
    _moved_up(folder)
    (folder / ".git").mkdir()
    folder.chmod(0o1777)
    run(["models"])
    assert "house-rule" in capsys.readouterr().out, "the file is the user's own"
    (folder / "has_run").unlink()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with monkeypatch.context() as context:
        status = os.lstat(folder / "onnx-lint.toml")
        other = os.stat_result((*status[:4], 54321, *status[5:]))
        context.setattr(os, "lstat", lambda path, **_: other if str(path).endswith("onnx-lint.toml") else status)
        with pytest.raises(ConfigurationError, match="Python files are run only"):
            files_of(SetValue(["*.py"], Origin("onnx-lint.toml", str(folder), is_found=True)))
    folder.chmod(0o755)
