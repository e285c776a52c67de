# SPDX-License-Identifier: Apache-2.0
"""Lays out the folder of the page: its files, Pyodide, the wheels, licences, examples, and what it was built from."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Final

from onnx_lint import schema
from onnx_lint.spec.products import PRODUCTS
from onnx_lint.spec.standard import EDITIONS
from onnx_lint.spec.target import CHECKERS, ONNX
from onnx_lint.version import __version__
from tools.page.downloads import PYODIDE, ROOT, BuildError, pyodide_archive, unpack_pyodide, wheels

HERE: Final = Path(__file__).parent
SITE: Final = HERE / "site"
EXAMPLES: Final = HERE / "examples"
REPORT: Final = ROOT / "onnx_lint" / "reporters" / "page"
"""The style and the script of the HTML report, which the page shows in a frame."""

INDEX: Final = "index.html"
BUILT: Final = "built.json"
"""The file that says what a page was built from. The page reads it first."""

_POLICY: Final = (
    "default-src 'self'; script-src 'self' '{script}'; style-src 'self' '{style}'; "
    "frame-src blob:; worker-src 'self'; base-uri 'self'; form-action 'none'"
)
"""The Content-Security-Policy. A frame with a report has to keep it as well, so it allows the report's own parts."""


def build(folder: Path, downloads: Path, numpy: Path | None) -> int:
    """Build the page in `folder`, and return its size in bytes. A page that is there is replaced, and nothing else."""
    if folder.exists() and not folder.is_dir():
        raise BuildError(f"{folder} is a file: choose a folder")
    if folder.exists() and any(folder.iterdir()) and not ((folder / INDEX).exists() and parts_of(folder)):
        raise BuildError(f"{folder} has files, but no {INDEX} and {BUILT} of an earlier page: choose another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        page, parts = Path(temporary, "page"), Path(temporary, "parts")
        _lay_out(parts, downloads, numpy)
        page.mkdir()
        version = version_of(parts)
        index = (parts / INDEX).read_text(encoding="utf-8").replace("{policy}", policy()).replace("{version}", version)
        (page / INDEX).write_text(index, encoding="utf-8")
        (parts / INDEX).unlink()
        parts.replace(page / version)
        shutil.rmtree(folder, ignore_errors=True)
        page.replace(folder)
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def parts_of(folder: Path) -> Path | None:
    """Return the folder, in that of a page, which has everything but the first document; None if there is none."""
    return next((path.parent for path in folder.glob(f"*/{BUILT}")), None)


def version_of(parts: Path) -> str:
    """Return a hash of all files. A folder is named so, that no browser mixes kept files of different versions."""
    found = hashlib.sha256()
    for path in sorted(path for path in parts.rglob("*") if path.is_file()):
        found.update(
            f"{path.relative_to(parts).as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()
        )
    return found.hexdigest()[:16]


def _lay_out(page: Path, downloads: Path, numpy: Path | None) -> None:
    shutil.copytree(SITE, page, ignore=shutil.ignore_patterns("__pycache__"))
    pyodide = page / "pyodide"
    unpack_pyodide(pyodide_archive(downloads), pyodide)
    lock = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))
    packages = page / "python"
    packages.mkdir()
    for wheel in (*wheels(downloads), _own_wheel(downloads)):
        shutil.copyfile(wheel, packages / wheel.name)
    names = sorted(path.name for path in packages.iterdir())
    if numpy is not None:
        shutil.copyfile(numpy_wheel(numpy, lock), pyodide / _numpy_of(lock)["file_name"])
    write_licences(page / "licences", packages)
    built = {
        "onnx_lint": __version__,
        "commit": _commit(),
        "pyodide": PYODIDE,
        "python": lock["info"]["python"],
        "wheels": names,
        "has_numpy": numpy is not None,
        "editions": list(EDITIONS),
        "targets": _targets(),
        "examples": write_examples(page / "examples"),
    }
    (page / BUILT).write_text(json.dumps(built, indent=1) + "\n", encoding="utf-8")


def policy() -> str:
    """Return the Content-Security-Policy of the page."""
    return _POLICY.format(script=_source(REPORT / "page.js"), style=_source(REPORT / "page.css"))


def _source(path: Path) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(path.read_bytes()).digest()).decode()}"


# --- numpy


def _numpy_of(lock: dict[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = lock["packages"]["numpy"]
    return entry


def numpy_wheel(folder: Path, lock: dict[str, Any]) -> Path:
    """Return the wheel of numpy in a folder of the host. It has to be the one that this version of Pyodide names."""
    entry = _numpy_of(lock)
    path = folder / str(entry["file_name"])
    if not path.is_file():
        raise BuildError(f"{folder} has no {path.name}; the full distribution of Pyodide {PYODIDE} has it")
    if hashlib.sha256(path.read_bytes()).hexdigest() != entry["sha256"]:
        raise BuildError(f"{path} is not the wheel that pyodide-lock.json names: its SHA-256 differs")
    return path


# --- onnx-lint


def _own_wheel(downloads: Path) -> Path:
    """Build the wheel of onnx-lint from this checkout."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": _git("log", "-1", "--format=%ct") or "315532800"}
    with tempfile.TemporaryDirectory(dir=downloads) as fresh:
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", fresh, str(ROOT)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode:
            raise BuildError(f"cannot build the wheel of onnx-lint (pip install -e '.[test]'):\n{done.stderr.strip()}")
        (wheel,) = Path(fresh).glob("*.whl")
        return wheel.replace(downloads / wheel.name)


def _commit() -> str:
    """Return the commit of the checkout; with a plus sign if files differ from it, and empty without Git."""
    commit = _git("rev-parse", "HEAD")
    return commit + ("+" if commit and _git("status", "--porcelain") else "")


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _targets() -> list[str]:
    """Return the targets that the page suggests: the checkers, and each known release, the newest first."""
    releases: list[str] = []
    for name in PRODUCTS:
        data = json.loads((ROOT / "onnx_lint" / "spec" / "products" / f"{name}.json").read_text(encoding="utf-8"))
        releases += [f"{name}={release['version']}" for release in reversed(data["releases"])]
    return [ONNX, *CHECKERS, *releases]


# --- licences and examples


def write_licences(folder: Path, packages: Path) -> None:
    """Write the licence files of the wheels, a folder for each, and the notice about Pyodide."""
    folder.mkdir()
    shutil.copyfile(HERE / "licences.txt", folder / "README.txt")
    for wheel in packages.iterdir():
        with zipfile.ZipFile(wheel) as content:
            names = [name for name in content.namelist() if _is_licence(name)]
            if not names:
                raise BuildError(f"{wheel.name} has no licence file")
            own = folder / wheel.name.partition("-")[0]
            own.mkdir()
            for name in names:
                (own / Path(name).name).write_bytes(content.read(name))


def _is_licence(name: str) -> bool:
    return ".dist-info/" in name and Path(name).name.upper().startswith(("LICEN", "AUTHORS", "COPYING", "NOTICE"))


def write_examples(folder: Path) -> list[dict[str, Any]]:
    """Write the models of the examples, made from their texts, and their data. Returns what the page lists."""
    from google.protobuf import text_format

    folder.mkdir()
    examples: list[dict[str, Any]] = json.loads((EXAMPLES / "examples.json").read_text(encoding="utf-8"))
    for example in examples:
        files = example["files"]
        for name in files:
            source = EXAMPLES / name
            if source.exists():
                shutil.copyfile(source, folder / name)
                continue
            text = source.with_suffix(".textproto").read_text(encoding="utf-8")
            model = text_format.Parse(text, schema.message("ModelProto")())
            (folder / name).write_bytes(model.SerializePartialToString())
    return examples
