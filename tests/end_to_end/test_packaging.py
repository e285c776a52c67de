# SPDX-License-Identifier: Apache-2.0
"""The sdist and the wheel hold what they must, and the wheel runs from an empty folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipapp
import zipfile
from importlib.metadata import distribution
from pathlib import Path, PurePosixPath

import pytest
from support.project.checkout import ROOT

pytestmark = pytest.mark.packaging

DEPENDENCIES = ("click", "markdown-it-py", "numpy", "protobuf", "rich")

NO_FILES = frozenset({".git", ".venv", "dist", "build", "__pycache__"})


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def sdist(built: Path) -> Path:
    (path,) = built.glob("*.tar.gz")
    return path


def _in_checkout(*folders: str) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and NO_FILES.isdisjoint(path.parts) and not path.name.startswith(".")
    }


def _rules() -> list[str]:
    return sorted(path.stem.replace("_", "-") for path in (ROOT / "rules").rglob("*.py") if path.name != "__init__.py")


def test_the_wheel_has_one_top_level_name(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()
    assert {PurePosixPath(name).parts[0] for name in names if ".dist-info/" not in name} == {"onnx_lint"}


def test_the_wheel_holds_the_package_the_rules_and_their_data(wheel: Path):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    expected = _in_checkout("onnx_lint") | {f"onnx_lint/{name}" for name in _in_checkout("rules")}
    assert names == expected
    needed = {"py.typed", "schema/onnx.binpb", "spec/clauses.toml", "spec/operators/onnx.jsonl", "rules/graph/cycle.py"}
    assert {f"onnx_lint/{name}" for name in needed} <= names


def test_the_sdist_is_complete(sdist: Path):
    with tarfile.open(sdist) as archive:
        members = [member.name for member in archive.getmembers() if not member.isdir()]
    names = {str(PurePosixPath(*PurePosixPath(name).parts[1:])) for name in members}
    expected = _in_checkout("onnx_lint", "rules", "tests", "fixtures")
    expected |= {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml"}
    assert sorted(expected - names) == []


def test_the_metadata_names_what_is_needed(wheel: Path, tmp_path: Path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    (info,) = tmp_path.glob("*.dist-info")
    metadata = (info / "METADATA").read_text(encoding="utf-8")
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert sorted(re.match(r"[\w-]+", line.split()[1])[0] for line in required) == list(DEPENDENCIES)
    assert "Root-Is-Purelib: true" in (info / "WHEEL").read_text()
    assert "onnx-lint = onnx_lint.__main__:command" in (info / "entry_points.txt").read_text()
    assert (info / "licenses" / "LICENSE").exists()


def _install(wheel: Path, target: Path) -> None:
    """Into an empty folder: with pip where there is one, else as pip does it with pure Python, by unpacking."""
    has_pip = (
        subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0
    )
    if has_pip:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", target]
        subprocess.run([*command, wheel], check=True, timeout=600)
    else:
        zipfile.ZipFile(wheel).extractall(target)


def _dependencies() -> str:
    """The folders in which the run-time dependencies are installed."""
    return os.pathsep.join(
        dict.fromkeys(str(distribution(name).locate_file("")) for name in (*DEPENDENCIES, "pygments"))
    )


def _run(arguments: list[str | Path], path: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), _dependencies()])}
    # -S: no site-packages, so no editable installation of the checkout either.
    command = [sys.executable, "-S", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=600)


def _lines_with_rules(output: str) -> list[str]:
    words = {word.strip("`|,") for line in output.splitlines() for word in line.split()}
    return [rule for rule in _rules() if rule in words]


MODEL = (
    'ir_version: 10 opset_import { version: 21 } graph { name: "g" node { op_type: "Relu" input: "z" output: "y" } }'
)


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


def test_the_wheel_runs_from_an_empty_folder(wheel: Path, tmp_path: Path, empty: Path):
    site = tmp_path / "site"
    _install(wheel, site)
    where = _run(["-c", "import onnx_lint; print(list(onnx_lint.__path__))"], site, empty)
    assert where.stdout.strip() == str([str(site / "onnx_lint")])
    listed = _run(["-m", "onnx_lint", "rules"], site, empty)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert _lines_with_rules(listed.stdout) == _rules()
    (tmp_path / "model.textproto").write_text(MODEL)
    checked = _run(["-m", "onnx_lint", tmp_path / "model.textproto", "--format", "concise"], site, empty)
    assert checked.returncode == 1
    assert "undefined-name" in checked.stdout


def test_the_wheel_runs_from_a_zip_archive(wheel: Path, tmp_path: Path, empty: Path):
    content = tmp_path / "content"
    zipfile.ZipFile(wheel).extractall(content)
    for folder in content.glob("*.dist-info"):
        shutil.rmtree(folder)
    archive = tmp_path / "onnx-lint.pyz"
    zipapp.create_archive(content, archive, main="onnx_lint.__main__:command")
    listed = _run([archive, "rules"], empty, empty)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert _lines_with_rules(listed.stdout) == _rules()


def test_the_sdist_runs_as_it_stands(sdist: Path, tmp_path: Path, empty: Path):
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.glob("onnx_lint-*")
    listed = _run(["-m", "onnx_lint", "rules"], folder, empty)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert _lines_with_rules(listed.stdout) == _rules()
