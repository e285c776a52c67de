# SPDX-License-Identifier: Apache-2.0
"""The recipes that check only the models that a pull request changes, each run in a scratch repository."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.models.clean_model import CLEAN, binary
from support.project.checkout import ROOT
from support.project.recipes import yaml_of_page

UNDEFINED = CLEAN.replace('input: "x" output', 'input: "z" output')
PAGE = (ROOT / "docs" / "continuous_integration.md").read_text(encoding="utf-8").partition("## Only what changed")[2]
AUTHOR = ("-c", "user.name=a test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false")

pytestmark = pytest.mark.slow

Git = Callable[..., str]


def _of_github() -> str:
    (job,) = yaml.safe_load(_block("yaml", "runs-on"))["jobs"].values()
    return "\n".join(step["run"] for step in job["steps"] if "run" in step)


def _of_gitlab() -> str:
    return "\n".join(yaml.safe_load(_block("yaml", "image:"))["changed-models"]["script"])


def _of_jenkins() -> str:
    (script,) = re.findall(r"sh '''(.*?)'''", _block("groovy", "pipeline"), re.DOTALL)
    return str(script).replace("\\\\", "\\")  # as Groovy reads it


def _of_action() -> str:
    steps: list[dict[str, Any]] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    (script,) = (step["run"] for step in steps if step.get("id") == "lint")
    return str(script)


def _block(language: str, word: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return next(block for block in found if word in block)


RECIPES: Mapping[str, Callable[[], str]] = {
    "GitHub": _of_github,
    "GitLab": _of_gitlab,
    "Jenkins": _of_jenkins,
    "the action": _of_action,
}


@pytest.fixture
def git(tmp_path: Path) -> Git:
    def run(*arguments: str, folder: str = "server") -> str:
        command = ["git", *AUTHOR, *arguments]
        done = subprocess.run(command, cwd=tmp_path / folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


@pytest.fixture
def server(tmp_path: Path, git: Git) -> Path:
    """A repository with three models on main, and the commands of a CI machine beside it, Git LFS among them."""
    folder = tmp_path / "server"
    (folder / "zoo").mkdir(parents=True)
    for name in ("a", "b", "c"):
        (folder / "zoo" / f"{name}.onnx").write_bytes(binary(CLEAN))
    (folder / "README").write_text("first")
    git("init", "--quiet", "--initial-branch", "main")
    git("add", "--all")
    git("commit", "--quiet", "-m", "models")
    (tmp_path / "bin").mkdir()
    program = f'#!/bin/sh\nexec "{sys.executable}" -m onnx_lint "$@"\n'
    commands = {
        "bin/git-lfs": '#!/bin/sh\n[ "$1" = version ] || printf "%s\\n" "$*" >> "$LFS_CALLS"\n',
        "bin/apt-get": "#!/bin/sh\n",
        "home/onnx-lint/bin/onnx-lint": program,
        "python/python": f'#!/bin/sh\nexec "{sys.executable}" "$@"\n',
        "python/onnx-lint": program,
    }
    for name, text in commands.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    return folder


def _no_model(folder: Path) -> None:
    (folder / "README").write_text("second")


def _one_deleted(folder: Path) -> None:
    (folder / "zoo" / "b.onnx").unlink()


def _two_changed(folder: Path) -> None:
    (folder / "zoo" / "c.onnx").write_bytes(binary(UNDEFINED))
    (folder / "zoo" / "new one.onnx").write_bytes(binary(CLEAN))


def _run(recipe: str, tmp_path: Path, git: Git, **variables: str) -> tuple[int, str, list[str]]:
    """Run a recipe on a pull request, in a shallow checkout where it makes one: exit code, output, calls of LFS."""
    git("clone", "--quiet", *(("--depth", "1") if recipe in ("GitLab", "the action") else ()),
        *(("--branch", "change") if recipe in ("GitLab", "Jenkins") else ("--branch", "merged")),
        f"file://{tmp_path / 'server'}", "../checkout")  # fmt: skip
    calls = tmp_path / "calls"
    checkout = tmp_path / "checkout"
    (tmp_path / "reports").mkdir()
    if recipe == "GitLab":
        program = checkout / ".onnx-lint" / "bin" / "onnx-lint"
        program.parent.mkdir(parents=True)
        program.write_bytes((tmp_path / "home/onnx-lint/bin/onnx-lint").read_bytes())
        program.chmod(0o755)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "ONNX_LINT_", "XDG_"))},
        "PATH": os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path / "home"),
        "LFS_CALLS": str(calls),
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": git("merge-base", "main", "change"),
        "CHANGE_TARGET": "main",
        "WORKSPACE_TMP": str(tmp_path),
        **{name: str(tmp_path / name.lower()) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")},
        "RUNNER_TEMP": str(tmp_path / "reports"),
        "BIN": str(tmp_path / "python"),
        "CHANGED_ONLY": "true",
        "EVENT": "pull_request",
        "SARIF": "true",
        "BASE": "HEAD^1",
        "PATHS": ".",
        "ARGS": "",
        "FAIL_ON": "error",
        "STEP_SUMMARY": "true",
        **variables,
    }
    (tmp_path / "reports" / "onnx-lint").mkdir()
    command = ["bash", "-eo", "pipefail", "-c", RECIPES[recipe]()]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    lines = calls.read_text().splitlines() if calls.exists() else []
    return done.returncode, done.stdout + done.stderr, lines


def _outputs(tmp_path: Path) -> dict[str, str]:
    """The outputs of the action's step."""
    lines = (tmp_path / "github_output").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize(
    ("change", "code", "changed"),
    [(_no_model, 0, []), (_one_deleted, 0, []), (_two_changed, 1, ["zoo/c.onnx", "zoo/new one.onnx"])],
)
@pytest.mark.usefixtures("server")
def test_a_pull_request_is_checked_as_far_as_it_changes_models(
    recipe: str, change: Callable[[Path], None], code: int, changed: list[str], tmp_path: Path, git: Git
) -> None:
    git("checkout", "--quiet", "-b", "change")
    change(tmp_path / "server")
    git("add", "--all")
    git("commit", "--quiet", "-m", "change")
    # Meanwhile a model on main gets a fault, which is none of this pull request.
    git("checkout", "--quiet", "main")
    (tmp_path / "server" / "zoo" / "a.onnx").write_bytes(binary(UNDEFINED))
    git("commit", "--quiet", "--all", "-m", "main goes on")
    git("checkout", "--quiet", "-b", "merged")
    git("merge", "--quiet", "--no-ff", "-m", "merge", "change")
    found, output, calls = _run(recipe, tmp_path, git)
    assert found == code, output
    assert ("Nothing to lint: no file is listed." in output) == (not changed)
    assert calls == ([f"pull --include {','.join(changed)},"] if changed else [])
    assert ("undefined-name" in output) == bool(changed)
    assert "a.onnx" not in output


@pytest.mark.usefixtures("server")
def test_the_first_push_of_a_branch_checks_all_models(tmp_path: Path, git: Git) -> None:
    git("checkout", "--quiet", "-b", "merged")
    git("checkout", "--quiet", "-b", "change")
    code, output, calls = _run("the action", tmp_path, git, EVENT="push", BASE="0" * 40)
    assert (code, calls) == (0, ["pull --include zoo/a.onnx,zoo/b.onnx,zoo/c.onnx,"]), output
    assert "3 models conform to ONNX 1.23" in output


NOT_UPLOADED = "Not uploaded to code scanning: this run did not check all models"


@pytest.mark.parametrize("event", ["push", "pull_request"])
@pytest.mark.parametrize("changed", [0, 1, 2])
@pytest.mark.parametrize("changed_only", ["true", "false"])
def test_no_push_uploads_a_part_as_the_analysis_of_all(
    event: str, changed: int, changed_only: str, server: Path, tmp_path: Path, git: Git
) -> None:
    for name in ("d", "e"):
        (server / "zoo" / f"{name}.onnx").write_bytes(binary(CLEAN))
    git("add", "--all")
    git("commit", "--quiet", "-m", "five models, of which one has a fault that nobody changes")
    (server / "zoo" / "a.onnx").write_bytes(binary(UNDEFINED))
    git("commit", "--quiet", "--all", "-m", "a fault that nobody mends")
    git("checkout", "--quiet", "-b", "change")
    git("checkout", "--quiet", "-b", "merged")
    for name in ("d", "e")[:changed]:
        (server / "zoo" / f"{name}.onnx").write_bytes(binary(UNDEFINED))
    (server / "README").write_text("second")
    git("commit", "--quiet", "--all", "-m", "change")
    base = "HEAD^1" if event == "pull_request" else git("rev-parse", "HEAD^1")
    code, output, _ = _run("the action", tmp_path, git, EVENT=event, CHANGED_ONLY=changed_only, BASE=base)
    found = _outputs(tmp_path)
    is_whole = changed_only == "false"
    if not changed and not is_whole:
        assert (code, found) == (0, {"exit-code": "0"}), output
        assert NOT_UPLOADED not in output
        return
    assert (code, found["exit-code"], found["errors"]) == (1, "1", str(changed + is_whole)), output
    report = json.loads(Path(found["sarif-file"]).read_text(encoding="utf-8"))
    assert len(report["runs"][0]["results"]) == changed + is_whole
    assert found.get("upload") == ("true" if event == "pull_request" or is_whole else None)
    assert (NOT_UPLOADED in output) == ("upload" not in found)


@pytest.mark.parametrize(("event", "upload"), [("push", None), ("pull_request", "true")])
@pytest.mark.usefixtures("server")
def test_a_push_whose_models_were_not_all_checked_is_not_uploaded(
    event: str, upload: str | None, tmp_path: Path, git: Git
) -> None:
    git("checkout", "--quiet", "-b", "change")
    git("checkout", "--quiet", "-b", "merged")
    code, output, _ = _run("the action", tmp_path, git, EVENT=event, CHANGED_ONLY="false", PATHS=".\nzoo/z.onnx")
    found = _outputs(tmp_path)
    assert (code, found["errors"], found.get("upload")) == (2, "0", upload), output
    assert (NOT_UPLOADED in output) == (upload is None)


@pytest.mark.parametrize("event", ["push", "pull_request"])
@pytest.mark.parametrize("variables", [{"PATHS": "zoo/z.onnx"}, {"PATHS": "empty"}, {"ARGS": "--limit memory=1"}])
@pytest.mark.usefixtures("server")
def test_nothing_is_uploaded_if_no_model_was_checked(
    event: str, variables: Mapping[str, str], server: Path, tmp_path: Path, git: Git
) -> None:
    (server / "empty").mkdir()
    (server / "empty" / "README").write_text("no model")
    git("add", "--all")
    git("commit", "--quiet", "-m", "a folder without models")
    git("checkout", "--quiet", "-b", "change")
    git("checkout", "--quiet", "-b", "merged")
    code, output, _ = _run("the action", tmp_path, git, EVENT=event, CHANGED_ONLY="false", **variables)
    assert (code, _outputs(tmp_path)) == (2, {"exit-code": "2"}), output
    assert "Not uploaded to code scanning: no model was checked." in output
    assert NOT_UPLOADED not in output


@pytest.mark.parametrize("event", ["push", "pull_request"])
@pytest.mark.parametrize(
    ("args", "is_part", "scope"),
    [
        ("--files-from ../listed", True, None),
        ("--files-from=../listed", True, None),
        ("--select cycle", False, "--select"),
        ("--exclude=a.onnx", False, "--exclude"),
        ("--pedantic", False, None),
    ],
)
@pytest.mark.usefixtures("server")
def test_a_push_does_not_upload_a_list_of_files_and_says_what_a_scope_closes(
    event: str, args: str, is_part: bool, scope: str | None, tmp_path: Path, git: Git
) -> None:
    git("checkout", "--quiet", "-b", "change")
    git("checkout", "--quiet", "-b", "merged")
    (tmp_path / "listed").write_text("zoo/a.onnx\n")
    paths = "" if is_part else "."
    code, output, _ = _run("the action", tmp_path, git, EVENT=event, CHANGED_ONLY="false", ARGS=args, PATHS=paths)
    assert code == 0, output
    assert _outputs(tmp_path).get("upload") == (None if is_part and event == "push" else "true")
    assert (NOT_UPLOADED in output) == (is_part and event == "push")
    said = re.findall("Code scanning closes the alerts that this upload lacks, as those that (.*) leaves out", output)
    assert said == ([scope] if scope is not None and event == "push" else [])


def test_the_upload_of_the_recipe_has_the_conditions_of_the_action() -> None:
    page = (ROOT / "docs" / "continuous_integration.md").read_text(encoding="utf-8")
    steps = [step for recipe in yaml_of_page(page) if isinstance(recipe, list) for step in recipe]
    (upload,) = (step for step in steps if "upload-sarif" in step.get("uses", ""))
    assert upload["if"] == (
        "always() && hashFiles('onnx-lint.sarif') != '' && (github.event_name == 'pull_request' || "
        'contains(fromJSON(\'["0", "1"]\'), steps.lint.outputs.exit-code))'
    )
    (lint,) = (step for step in steps if step.get("id") == "lint")
    assert 'echo "exit-code=$code" >> "$GITHUB_OUTPUT"' in lint["run"]


def test_the_upload_of_the_action_waits_for_its_output() -> None:
    steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    (upload,) = (step for step in steps if "upload-sarif" in step.get("uses", ""))
    assert upload["if"] == "always() && steps.lint.outputs.upload == 'true'"
    assert upload["with"] == {
        "sarif_file": "${{ steps.lint.outputs.sarif-file }}",
        "category": "${{ inputs.category }}",
    }
