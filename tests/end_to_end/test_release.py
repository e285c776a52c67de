# SPDX-License-Identifier: Apache-2.0
"""`tools/release.sh` makes equal bytes each time, and a wheel that runs on each Python of this machine."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml
from support.project.checkout import ROOT

pytestmark = pytest.mark.packaging

VERSIONS = ("3.11", "3.12", "3.13")


def _python(version: str) -> str | None:
    """The path of an interpreter, found as .ci/run finds it."""
    for candidate in (f"python{version}", *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))):
        command = [candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        try:
            said = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError:
            continue
        if said.stdout.strip() == version:
            return candidate
    return None


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the script writes for the commit that is checked out."""
    folder = tmp_path_factory.mktemp("release") / "out"
    environment = {**os.environ, "PYTHON": sys.executable}
    done = subprocess.run(
        [ROOT / "tools" / "release.sh", folder], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_a_release_has_checksums_and_a_bill_of_materials(release: Path):
    sums = dict(reversed(line.split()) for line in (release / "SHA256SUMS").read_text().splitlines())
    assert {Path(name).suffix for name in sums} == {".whl", ".gz", ".pyz", ".json"}
    assert {path.name for path in release.iterdir()} == {*sums, "SHA256SUMS"}
    for name, expected in sums.items():
        assert hashlib.sha256((release / name).read_bytes()).hexdigest() == expected
    text = (release / "sbom.cdx.json").read_text()
    components = {component["name"].lower() for component in json.loads(text)["components"]}
    assert {"onnx-lint", "protobuf", "click", "rich", "numpy", "markdown-it-py"} <= components
    assert "file:" not in text, "a path of this machine"


def test_a_folder_that_exists_is_left_alone(tmp_path: Path):
    done = subprocess.run([ROOT / "tools" / "release.sh", tmp_path], capture_output=True, text=True, check=False)
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert "exists" in done.stderr


@pytest.mark.parametrize("version", VERSIONS)
def test_the_wheel_runs_the_commands_of_the_readme(version: str, release: Path, tmp_path: Path):
    python = _python(version)
    if python is None:
        pytest.skip(f"there is no Python {version} on this machine")
    subprocess.run([python, "-m", "venv", tmp_path / "venv"], check=True)
    (wheel,) = release.glob("*.whl")
    subprocess.run([tmp_path / "venv" / "bin" / "pip", "install", "--quiet", wheel], check=True)
    folder = _folder_of_models(tmp_path / "models")
    for command in _commands_of_the_readme():
        done = _run(command, tmp_path / "venv" / "bin", folder)
        # The model needs a newer operator set than the target's.
        assert done.returncode in ((0, 1) if "--target" in command else (0,)), done
        assert "Traceback" not in done.stderr
    zipapp = subprocess.run(
        [tmp_path / "venv" / "bin" / "python", release / "onnx-lint.pyz", "--version"], capture_output=True, check=True
    )
    assert zipapp.stdout.startswith(b"onnx-lint ")


def _commands_of_the_readme() -> list[str]:
    """Each command of the blocks in which the README lists commands, without the explanation behind it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^(onnx-lint (?:\S+ )*\S+?)  +\S", text, re.MULTILINE)
    assert len(lines) == 9
    return lines


def _folder_of_models(folder: Path) -> Path:
    """A folder with every model that the commands name."""
    model = ROOT / "tests" / "models" / "iris_logistic_regression.onnx"
    (folder / "models").mkdir(parents=True)
    for name in ("model.onnx", "m.onnx", "models/a.onnx"):
        shutil.copyfile(model, folder / name)
    return folder


def _run(command: str, bin_folder: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)
    with (folder / "model.onnx").open("rb") as given:
        return subprocess.run(
            shlex.split(command), cwd=folder, env=environment, stdin=given, capture_output=True, text=True, check=False
        )


def test_the_container_gets_all_that_the_wheel_is_built_from(tmp_path: Path):
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in lines
    source = tmp_path / "source"
    source.mkdir()
    for name in (line[1:] for line in lines if line.startswith("!")):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / name, source / name)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir"]
    for built, folder in (("there", source), ("here", ROOT)):
        subprocess.run([*command, tmp_path / built, folder], check=True, capture_output=True)
    there, here = (zipfile.ZipFile(next((tmp_path / built).glob("*.whl"))).namelist() for built in ("there", "here"))
    assert sorted(there) == sorted(here)


def test_the_workflow_of_a_release_pins_each_action():
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    used = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
    assert [name for name in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name)] == []
    assert all(job["permissions"] for job in jobs.values())
    assert "tools/release.sh" in text
