# SPDX-License-Identifier: Apache-2.0
"""The hook for pre-commit and the action for GitHub, in the hands of those who run them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.models.clean_model import CLEAN, binary
from support.project.checkout import ROOT

from onnx_lint.cli import exit_codes
from onnx_lint.cli.commands import check_command

UNDEFINED = CLEAN.replace('input: "x" output', 'input: "z" output')
POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    "size 12345\n"
)


def _yaml(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def _run(command: list[str | Path], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


# --- what the files say


def test_the_hook_takes_what_pre_commit_holds_for_text():
    (hook,) = _yaml(".pre-commit-hooks.yaml")
    assert (hook["id"], hook["language"], hook["types"], hook["files"]) == ("onnx-lint", "python", ["file"], r"\.onnx$")
    assert hook["require_serial"] is True
    assert hook["entry"] == "onnx-lint check --allow-no-input"
    assert hook["args"] == ["--"], "pre-commit appends the names of files"


def test_no_input_of_the_action_becomes_part_of_a_script():
    scripts = [step["run"] for step in _yaml("action.yml")["runs"]["steps"] if "run" in step]
    assert len(scripts) == 2
    assert [script for script in scripts if "${{" in script] == []


def test_actions_are_pinned_to_a_commit():
    steps = list(_yaml("action.yml")["runs"]["steps"])
    steps += [step for job in _yaml(".github/workflows/ci.yml")["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step and step["uses"] != "./"]
    assert used != []
    assert [name for name in used if len(name.partition("@")[2]) != 40] == []


PYTHON_CALL = re.compile(r"""(?:\$python|/python|\bpython3?)"?\s+(?=-)(.*)""")


def test_every_call_of_python_leaves_the_checked_repository_out():
    """`python -m` and `python -c` import from the working directory: a pull request could add a json.py."""
    steps = [*_yaml("action.yml")["runs"]["steps"], *_yaml(".github/workflows/release.yml")["jobs"]["build"]["steps"]]
    scripts = [step["run"] for step in steps if "run" in step]
    scripts.append((ROOT / "docs" / "continuous_integration.md").read_text(encoding="utf-8"))
    calls = [call for script in scripts for call in PYTHON_CALL.findall(script)]
    assert len(calls) >= 7
    assert [call for call in calls if not call.startswith("-I ")] == []
    assert "version" not in _yaml("action.yml")["inputs"], "nobody owns the name on the package index yet"


CI = ROOT / ".ci"
EVENTS = {
    "push": {"change", "full"},
    "pull_request": {"change", "full"},
    "schedule": {"nightly"},
    "workflow_dispatch": {"nightly"},
}
"""The words of `.ci/stages` with whose stages CI answers an event."""


def _stages() -> list[list[str]]:
    """The rows of `.ci/stages`: the name, the word that says when it runs, Pythons, and commits."""
    lines = (CI / "stages").read_text(encoding="utf-8").splitlines()
    return [line.split() for line in lines if not line.startswith("#")]


def test_each_marker_has_a_stage():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    markers = {line.partition(":")[0] for line in settings["markers"]}
    script = (CI / "run").read_text(encoding="utf-8")
    assert set(re.findall(r'/pytest" .*-m "?(\w+)', script)) == markers
    left_out = re.findall(r"\w+", settings["addopts"].partition("-m 'not (")[2].replace(" or ", " "))
    assert sorted(left_out) == sorted(markers), "the default run leaves out the tests of each marker"
    listed = [name for name, *_ in _stages()]
    assert sorted(listed) == sorted(re.findall(r"^stage_(\w+)\(\)", script, re.MULTILINE))


def test_each_stage_of_the_list_runs_in_ci_and_here():
    assert {when for _, when, *_ in _stages()} == set().union(*EVENTS.values())
    assert 'stages_of "${@:-change}"' in (CI / "run").read_text(encoding="utf-8")
    assert (CI / "full").read_text(encoding="utf-8").endswith("\nexec .ci/run full nightly\n")


@pytest.mark.parametrize("event", EVENTS)
def test_the_jobs_of_ci_are_those_of_the_list(event: str, tmp_path: Path):
    jobs = _yaml(".github/workflows/ci.yml")["jobs"]
    script = jobs["list"]["steps"][-1]["run"]
    done = _run(["bash", "-c", script], ROOT, EVENT=event, GITHUB_OUTPUT=str(tmp_path / "output"))
    assert (done.returncode, done.stderr) == (0, "")
    name, _, printed = (tmp_path / "output").read_text(encoding="utf-8").partition("=")
    assert json.loads(printed) == [
        {"stage": stage, "python": python, "depth": {"one": 1, "all": 0}[history]}
        for stage, when, pythons, history in _stages()
        if when in EVENTS[event]
        for python in pythons.split(",")
    ]
    assert jobs["stage"]["strategy"]["matrix"] == {"include": f"${{{{ fromJSON(needs.list.outputs.{name}) }}}}"}
    assert [step["run"] for step in jobs["stage"]["steps"] if "run" in step] == ['.ci/run "$STAGE"']


def test_contributing_says_what_ci_runs_for_a_change():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    row = re.search(r"^\| `\.ci/full` \|.*CI runs (.*?) for each change as well", page, re.MULTILINE)
    assert row is not None
    assert re.findall(r"`(\w+)`", row[1]) == [name for name, when, *_ in _stages() if when == "full"]


def test_a_stage_that_is_not_in_the_list_ends_the_run():
    done = _run([str(CI / "run"), "lint", "lnit"], ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "unknown stage: lnit\n")


def test_the_action_knows_the_severities_and_options_of_the_program():
    inputs = _yaml("action.yml")["inputs"]
    gate = next(parameter for parameter in check_command.params if parameter.name == "fail_on")
    assert inputs["fail-on"]["default"] == gate.default
    assert all(choice in inputs["fail-on"]["description"] for choice in gate.type.to_info_dict()["choices"])


# --- pre-commit, for real


@pytest.fixture(scope="module")
def hook_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the files of this checkout, including uncommitted changes."""
    folder = tmp_path_factory.mktemp("hook") / "onnx-lint"
    listed = _run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], ROOT).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    _commit(folder)
    return folder


def _commit(folder: Path) -> None:
    author = ["-c", "user.name=a test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--no-verify", "-m", "all"]):
        done = _run(["git", *author, *arguments], folder)
        assert done.returncode == 0, done.stderr


@pytest.mark.consumers
def test_pre_commit_finds_a_bad_model_a_pointer_and_an_empty_file(hook_repository: Path, tmp_path: Path):
    models = tmp_path / "zoo" / "models"
    models.mkdir(parents=True)
    (models / "good.onnx").write_bytes(binary(CLEAN))
    (models / "bad one.onnx").write_bytes(binary(UNDEFINED))
    (models / "pointer.onnx").write_text(POINTER)
    (models / "empty.onnx").write_bytes(b"")
    (models / "notes.txt").write_text("no model")
    revision = _run(["git", "rev-parse", "HEAD"], hook_repository).stdout.strip()
    hook = {
        "repo": str(hook_repository),
        "rev": revision,
        "hooks": [{"id": "onnx-lint", "args": ["-f", "concise", "--"]}],
    }
    (tmp_path / "zoo" / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [hook]}))
    _commit(tmp_path / "zoo")

    command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color", "never"]
    done = _run(command, tmp_path / "zoo", PRE_COMMIT_HOME=str(tmp_path / "cache"))
    assert done.returncode == 1, done.stdout + done.stderr
    found = [line for line in done.stdout.splitlines() if line.startswith("models/")]
    assert found == [
        "models/bad one.onnx: graph.node[0].input[0]: error[undefined-name] "
        "node 'relu' (Relu) uses 'z', which nothing defines; 'x' is used by nothing",
        "models/empty.onnx: model: error[not-a-model] the file is empty",
        "models/pointer.onnx: model: error[not-a-model] the file is a Git LFS pointer: "
        "'git lfs pull' has not fetched the model",
    ]
    assert "- exit code: 1" in done.stdout

    for name in ("bad one", "pointer", "empty"):
        (models / f"{name}.onnx").unlink()
    _commit(tmp_path / "zoo")
    done = _run(command, tmp_path / "zoo", PRE_COMMIT_HOME=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout


@pytest.mark.consumers
def test_pre_commit_fixes_a_model_and_fails_until_it_is_added(hook_repository: Path, tmp_path: Path):
    zoo = tmp_path / "zoo"
    zoo.mkdir()
    stale = CLEAN.replace("graph {", 'graph { value_info { name: "gone" }', 1)
    (zoo / "good.onnx").write_bytes(binary(CLEAN))
    (zoo / "stale one.onnx").write_bytes(binary(stale))
    revision = _run(["git", "rev-parse", "HEAD"], hook_repository).stdout.strip()
    arguments = ["--fix", "--select", "unknown-value-info-name", "--"]
    hook = {"repo": str(hook_repository), "rev": revision, "hooks": [{"id": "onnx-lint", "args": arguments}]}
    (zoo / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [hook]}))
    _commit(zoo)

    command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color", "never"]
    done = _run(command, zoo, PRE_COMMIT_HOME=str(tmp_path / "cache"))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "files were modified by this hook" in done.stdout
    assert "exit code" not in done.stdout
    assert (zoo / "stale one.onnx").read_bytes() == binary(CLEAN)
    assert (zoo / "good.onnx").read_bytes() == binary(CLEAN)
    _commit(zoo)
    done = _run(command, zoo, PRE_COMMIT_HOME=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stdout + done.stderr


STRANGERS = ("--exclude=*.onnx", "--plugin=evil.onnx", "-qo.onnx", "--baseline=x.onnx")
"""Names that would hide a broken model, run a plugin, or replace a file."""


def _write_files_of_a_stranger(folder: Path) -> None:
    """Write a broken model, a plugin, a folder and a file called like commands, and files called like options."""
    (folder / "bad.onnx").write_bytes(binary(UNDEFINED))
    (folder / "evil.onnx").write_text(f"import os\nopen({str(folder / 'ran')!r}, 'w').close()\nos._exit(0)\n")
    (folder / "fix").mkdir()
    (folder / "fix" / "good.onnx").write_bytes(binary(CLEAN))
    (folder / "check").write_text("a script")
    for name in STRANGERS:
        (folder / name).write_bytes(binary(CLEAN))


@pytest.mark.consumers
def test_pre_commit_passes_no_name_as_an_option(hook_repository: Path, tmp_path: Path):
    zoo = tmp_path / "zoo"
    zoo.mkdir()
    _write_files_of_a_stranger(zoo)
    revision = _run(["git", "rev-parse", "HEAD"], hook_repository).stdout.strip()
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color", "never"]
    codes = {}
    for own in (None, ["-f", "concise", "--"], ["-f", "concise"]):
        hook = {"id": "onnx-lint"} if own is None else {"id": "onnx-lint", "args": own}
        repository = {"repo": str(hook_repository), "rev": revision, "hooks": [hook]}
        (zoo / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [repository]}))
        _commit(zoo)
        done = _run(command, zoo, PRE_COMMIT_HOME=str(tmp_path / "cache"))
        codes[str(own)] = (done.returncode, re.findall("- exit code: .", done.stdout))
        is_run = own is None or own[-1] == "--"
        assert all(name in done.stdout for name in ("bad.onnx: ", "evil.onnx")) == is_run, done.stdout
        assert ("Error: 'check' is a command" in done.stdout or "begins like an option" in done.stdout) != is_run
        assert not (zoo / "ran").exists()
    assert [*codes.values()] == [(1, ["- exit code: 1"])] * 2 + [(1, ["- exit code: 2"])]


# --- the action's scripts, run as GitHub's runner would


@pytest.fixture(scope="module")
def installed(hook_repository: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment after the first step of the action."""
    temporary = tmp_path_factory.mktemp("runner")
    environment = {
        "RUNNER_TEMP": str(temporary),
        "GITHUB_ACTION_PATH": str(hook_repository),
        "GITHUB_OUTPUT": str(temporary / "install-output"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    step = _step("install")
    checkout = _trapped(temporary / "checkout")
    command = ["bash", "-eo", "pipefail", "-c", step["run"]]
    done = _run(command, checkout, **environment, PYTHONPATH=str(checkout))
    assert done.returncode == 0, done.stdout + done.stderr
    assert _sprung(temporary / "checkout") == []
    return {**environment, "BIN": _outputs(temporary / "install-output")["bin"]}


def _trapped(folder: Path) -> Path:
    """Return a folder with a trap for each module that Python or onnx-lint may import."""
    folder.mkdir(exist_ok=True)
    others = ("pip", "setuptools", "hatchling", "onnx_lint", "google", "numpy", "click", "rich", "sitecustomize")
    for name in (*sys.stdlib_module_names, *others):
        (folder / f"{name}.py").write_text(f"open({str(folder / f'{name}.ran')!r}, 'w').close()\n")
    return folder


def _sprung(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.ran"))


def _step(name: str) -> dict[str, Any]:
    steps: list[dict[str, Any]] = _yaml("action.yml")["runs"]["steps"]
    return next(step for step in steps if step.get("id") == name)


def _outputs(path: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


def _lint(installed: dict[str, str], folder: Path, **inputs: str) -> tuple[int, str, dict[str, str], str]:
    """Run the second step: exit code, standard output, outputs and step summary."""
    output, summary = folder.parent / "output", folder.parent / "summary"
    output.write_text("")
    summary.write_text("")
    defaults = {"PATHS": ".", "ARGS": "", "FAIL_ON": "error", "STEP_SUMMARY": "true", "SARIF": "true"}
    files = {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
    step = _step("lint")
    done = _run(["bash", "-eo", "pipefail", "-c", step["run"]], folder, **{**installed, **files, **defaults, **inputs})
    return done.returncode, done.stdout, _outputs(output), summary.read_text()


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    folder = tmp_path / "zoo"
    (folder / "a folder").mkdir(parents=True)
    (folder / "a folder" / "good.onnx").write_bytes(binary(CLEAN))
    (folder / "bad.onnx").write_bytes(binary(UNDEFINED))
    return folder


def test_the_action_imports_nothing_from_the_checked_repository(zoo: Path):
    """The second step with this interpreter; the fixture `installed` shows it for the first step."""
    _trapped(zoo)
    control = _run([sys.executable, "-c", "import json"], zoo)
    assert _sprung(zoo) != [], control.stderr
    for path in zoo.glob("*.ran"):
        path.unlink()
    here = {"BIN": str(Path(sys.executable).parent), "RUNNER_TEMP": str(zoo.parent), "PYTHONPATH": str(zoo)}
    (zoo.parent / "onnx-lint").mkdir()
    code, _, outputs, _ = _lint(here, zoo, PATHS="bad.onnx")
    assert (code, outputs["errors"]) == (exit_codes.FINDINGS, "1")
    assert _sprung(zoo) == []


def test_the_action_passes_no_name_as_an_option(zoo: Path):
    """Its second step: names as paths, a folder of them, and those that a push has changed, one of them deleted."""
    here = {"BIN": str(Path(sys.executable).parent), "RUNNER_TEMP": str(zoo.parent)}
    (zoo.parent / "onnx-lint").mkdir()
    (zoo / "--exclude=bad.onnx").write_bytes(binary(CLEAN))
    _commit(zoo)
    (zoo / "--exclude=bad.onnx").unlink()
    _write_files_of_a_stranger(zoo)
    (zoo / "bad.onnx").write_bytes(binary(UNDEFINED) + b"\xa2\x06\x00")
    _commit(zoo)
    names = "\n".join((*STRANGERS, "fix", "bad.onnx"))
    for inputs in ({"PATHS": "."}, {"PATHS": names}, {"PATHS": ".", "CHANGED_ONLY": "true", "BASE": "HEAD^1"}):
        code, output, outputs, _ = _lint(here, zoo, **inputs)
        assert code == exit_codes.FINDINGS, output
        assert int(outputs["errors"]) >= 1
        found = json.loads((zoo.parent / "onnx-lint" / "report.json").read_text())["files"]
        paths = {os.path.normpath(file["path"]) for file in found}
        assert {*STRANGERS, "bad.onnx", "fix/good.onnx"} <= paths
        assert not (zoo / "ran").exists()


@pytest.mark.consumers
def test_the_action_fails_on_an_error_and_hands_on_the_reports(installed: dict[str, str], zoo: Path):
    code, output, outputs, summary = _lint(installed, zoo)
    assert code == exit_codes.FINDINGS
    assert next(line for line in output.splitlines() if line.startswith("::")).startswith("::error ")
    sarif = Path(outputs["sarif-file"])
    assert outputs == {"exit-code": "1", "errors": "1", "sarif-file": str(sarif), "upload": "true"}
    results = json.loads(sarif.read_text())["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["undefined-name"]
    assert "undefined-name" in summary


@pytest.mark.consumers
def test_the_action_takes_several_paths_and_arguments(installed: dict[str, str], zoo: Path):
    code, _, outputs, summary = _lint(
        installed, zoo, PATHS="a folder\n\nbad.onnx\n", ARGS="--ignore undefined-name\n--pedantic", STEP_SUMMARY="false"
    )
    assert (code, outputs["exit-code"], outputs["errors"], summary) == (0, "0", "0", "")


@pytest.mark.consumers
@pytest.mark.parametrize(
    ("inputs", "code"),
    [
        ({"PATHS": "missing"}, exit_codes.NOT_CHECKED),
        ({"PATHS": ""}, exit_codes.NOT_CHECKED),
        ({"PATHS": "--version"}, exit_codes.NOT_CHECKED),
        ({"PATHS": "$(touch owned)"}, exit_codes.NOT_CHECKED),
        ({"ARGS": "; touch owned"}, exit_codes.NOT_CHECKED),
        ({"FAIL_ON": "`touch owned`"}, exit_codes.NOT_CHECKED),
    ],
    ids=["missing", "none", "an option", "a command as path", "a command as argument", "a command as severity"],
)
def test_hostile_or_wrong_inputs_do_nothing_but_fail(
    installed: dict[str, str], zoo: Path, inputs: dict[str, str], code: int
):
    assert _lint(installed, zoo, **inputs)[0] == code
    assert not (zoo / "owned").exists()
