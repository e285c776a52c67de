# SPDX-License-Identifier: Apache-2.0
"""A configuration runs Python files only if the user named it, or trusts its folder, and nobody else could write it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.models.clean_model import CLEAN

from onnx_lint import fix, lint
from onnx_lint.cli.application import run
from onnx_lint.cli.run_plugins import CI_VARIABLES
from onnx_lint.engine.plugins import _module_of_file, use_files

MODEL = CLEAN.encode()

RULE = """
from pathlib import Path
from onnx_lint.model import ROOT
from onnx_lint.rule import Finding, rule

Path("has_run").touch()

@rule(clause="MOD-1", since="1.0")
def house_rule(model):
    '''A rule of the house.'''
    yield Finding(ROOT, "as the house wants it")
"""


@pytest.fixture(autouse=True)
def _leave_no_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Other tests see the rules and clauses of onnx-lint alone. The user is at a terminal, and trusts nothing yet."""
    for name in CI_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
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


REFUSED = "plugins: not loaded, because this file was found and not named"
Captured = pytest.CaptureFixture[str]


def _trust(folder: Path, text: str | None = None) -> Path:
    """Write the user's own configuration, which trusts the folder."""
    own = folder.parent / "own" if folder.name == "models" else folder / "own"
    own.mkdir(exist_ok=True)
    (own / "onnx-lint.toml").write_text(text if text is not None else f'trusted = ["{folder}"]\n')
    return own / "onnx-lint.toml"


def _has_run(folder: Path) -> bool:
    """Return whether the rule ran since the last call."""
    ran = [path for path in (folder / "has_run", folder / "models" / "has_run") if path.exists()]
    for path in ran:
        path.unlink()
    use_files(())
    _module_of_file.cache_clear()
    return ran != []


# --- who is asked


@pytest.mark.parametrize(
    "command",
    [["model.textproto"], ["."], ["fix", "--diff", "."], ["shapes", "model.textproto"], ["--show-settings", "."]],
    ids=" ".join,
)
@pytest.mark.parametrize("is_repository", [False, True])
def test_a_configuration_that_was_found_runs_nothing_and_says_how_to_allow_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, command: list[str], is_repository: bool
):
    """A cloned model is a repository, and the place to start onnx-lint is inside of it."""
    monkeypatch.chdir(folder / "models")
    if is_repository:
        (folder / "models" / ".git").mkdir()
    assert run(command) == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if REFUSED in line]
    assert line.startswith("Warning: onnx-lint.toml: ")
    assert all(way in line for way in ("--plugin FILE", "--config onnx-lint.toml", f"{folder}/own/onnx-lint.toml"))
    assert not _has_run(folder)


@pytest.mark.parametrize(("variable", "value"), [("CI", "1"), ("CI", "no"), *((name, "True") for name in CI_VARIABLES)])
def test_a_gate_fails_instead(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, variable: str, value: str
):
    """Nobody reads the line there, and a rule would be missing silently."""
    monkeypatch.setenv(variable, value)
    assert run(["models"]) == 2
    error = capsys.readouterr().err
    assert REFUSED in error
    assert error.endswith(f" ({variable} is set)\n")
    assert not _has_run(folder)
    assert run(["models", "--no-config"]) == 0


@pytest.mark.parametrize("value", ["", "0", "false", "False", "FALSE"])
def test_a_variable_that_is_switched_off_makes_no_gate(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, value: str
):
    for variable in CI_VARIABLES:
        monkeypatch.setenv(variable, value)
    assert run(["models"]) == 0
    assert REFUSED in capsys.readouterr().err
    monkeypatch.setenv("GITLAB_CI", "true")
    assert run(["models"]) == 2, "one variable is enough"


def test_the_library_raises_an_error(folder: Path):
    for call in (lint, fix):
        with pytest.raises(ValueError, match=REFUSED):
            call("models/model.textproto", config=True)
    assert not _has_run(folder)
    lint("models/model.textproto", config="models/onnx-lint.toml")
    assert _has_run(folder)


@pytest.mark.parametrize("option", [["--config", "models/onnx-lint.toml"], ["--plugin", "models/house_rules.py"]])
def test_what_the_user_names_runs_and_is_listed(folder: Path, capsys: Captured, option: list[str]):
    assert run(["models", *option, "-v"]) == 1
    output = capsys.readouterr()
    assert "house-rule" in output.out
    source = "--plugin" if option[0] == "--plugin" else option[1]
    (line,) = output.err.splitlines()
    assert line.startswith("Plugin: ")
    assert line.endswith(f"models/house_rules.py ({source})")
    assert _has_run(folder)
    run(["models", *option, "-f", "json"])
    assert json.loads(capsys.readouterr().out)["settings"] == {"plugins": [str(folder / "models" / "house_rules.py")]}
    run(["models", "--no-config", "-f", "json"])
    assert "settings" not in json.loads(capsys.readouterr().out)


def test_a_trusted_folder_runs_its_files(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured):
    monkeypatch.chdir(folder / "models")
    _trust(folder / "models")
    assert run(["."]) == 1
    assert "house-rule" in capsys.readouterr().out
    assert _has_run(folder)
    _trust(folder / "models", f'trusted = ["{folder}"]')
    assert run(["."]) == 0, "a folder below may be a submodule of somebody else"
    assert not _has_run(folder)


@pytest.mark.parametrize(
    "text", ["trusted = ['models']", "trusted = [1]", "trusted = '/'", "select = ['name']", "trusted = [", "\0"]
)
def test_a_faulty_configuration_of_the_user_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, text: str
):
    monkeypatch.chdir(folder / "models")
    own = _trust(folder / "models", text)
    assert run(["."]) == 2
    assert f"Error: {own}: " in capsys.readouterr().err
    assert not _has_run(folder)


def test_the_configuration_of_the_user_is_not_that_of_models_below_it(folder: Path):
    _trust(folder)
    (folder / "own" / "model.textproto").write_bytes(MODEL)
    assert run(["own"]) == 0


def test_a_file_that_is_named_answers_for_the_pattern_that_was_found(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """The pattern of a stranger is not searched for, as it may match the whole disk."""
    monkeypatch.setenv("CI", "true")
    monkeypatch.chdir(folder / "models")
    assert run([".", "--plugin", "house_rules.py"]) == 1
    assert _has_run(folder)
    (folder / "models" / "onnx-lint.toml").write_text('plugins = ["house_*.py", "/**/*.py", "more.py"]\n')
    assert run([".", "--plugin", "house_rules.py"]) == 2


# --- who could have written the file


def _chown(monkeypatch: pytest.MonkeyPatch, owners: dict[Path, int]) -> None:
    """Let the files belong to users with these ids, which only root could do in fact."""
    real = os.lstat

    def lstat(path: str) -> os.stat_result:
        status = real(path)
        return os.stat_result((*status[:4], owners.get(Path(path), status.st_uid), *status[5:]))

    monkeypatch.setattr("onnx_lint.configuration.trust.os.lstat", lstat)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
@pytest.mark.parametrize("name", ["models", "models/onnx-lint.toml", "models/house_rules.py"])
def test_what_belongs_to_another_user_never_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, name: str
):
    _trust(folder / "models")
    with monkeypatch.context() as patch:
        _chown(patch, {folder / name: 4242})
        commands = [["--config", "onnx-lint.toml"], [], ["--show-settings"]]
        patch.chdir(folder / "models")
        for options in [*commands, *([] if name.endswith("toml") else [["--no-config", "--plugin", "house_rules.py"]])]:
            assert run([".", *options]) == 2
            assert f"{folder / name} belongs to another user (id 4242)" in capsys.readouterr().err
            assert not _has_run(folder)
    _chown(monkeypatch, {folder / name: 0})
    monkeypatch.chdir(folder / "models")
    assert run(["."]) == 1, "root may write everything anyway"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no modes here")
@pytest.mark.parametrize("name", ["models", "models/onnx-lint.toml", "models/house_rules.py", "own/onnx-lint.toml"])
def test_what_everybody_can_write_runs_only_if_it_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, name: str
):
    """A runner of GitLab clones with umask 0, and Kubernetes mounts folders that everybody can write to."""
    _trust(folder / "models")
    (folder / name).chmod(0o777)
    monkeypatch.chdir(folder / "models")
    assert run(["."]) == 2
    assert f"everybody can write to {folder / name}" in capsys.readouterr().err
    assert not _has_run(folder)
    assert run([".", "--config", "onnx-lint.toml"]) == 1
    warned = "Warning: " in capsys.readouterr().err
    assert warned != name.startswith("own")
    (folder / name).chmod(0o1777 if name == "models" else 0o755)
    assert _has_run(folder)
    assert run(["."]) == 1, "nobody can replace a file of others in a folder such as /tmp"


# --- ways around it


def test_a_pattern_without_a_file_is_a_fault(folder: Path, capsys: Captured):
    (folder / "models" / "house_rules.py").unlink()
    assert run(["models", "--config", "models/onnx-lint.toml"]) == 2
    assert "models/onnx-lint.toml: plugins: no file matches 'house_*.py'" in capsys.readouterr().err


def test_processes_have_the_rules_as_well(folder: Path, capsys: Captured):
    (folder / "models" / "onnx-lint.toml").unlink()
    (folder / "models" / "second.textproto").write_bytes(MODEL)
    run(["models", "--plugin", "models/house_rules.py", "-j", "2", "--time-limit", "600", "-f", "concise"])
    assert capsys.readouterr().out.count("[house-rule]") == 2


def test_the_settings_list_the_files_that_a_pattern_has_found(folder: Path, capsys: Captured):
    (folder / "more.py").write_text(RULE.replace("house_rule", "other_rule"))
    run(["models", "--config", "models/onnx-lint.toml", "--plugin", "more.py", "--show-settings"])
    shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith("plugins")]
    assert [line.split("#")[0].strip() for line in shown] == [
        'plugins = ["models/house_rules.py", "more.py"]',
    ]


def _runs_nothing(folder: Path, *arguments: str) -> None:
    assert run([*arguments]) == 2
    assert not (folder / "has_run").exists()
    assert not (folder / "models" / "has_run").exists()


def test_no_way_to_a_configuration_beside_models_runs_its_files(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Whatever the configuration of a trusted folder above is, and from wherever onnx-lint is started."""
    monkeypatch.setenv("CI", "true")
    _trust(folder)
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
