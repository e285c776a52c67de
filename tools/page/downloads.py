# SPDX-License-Identifier: Apache-2.0
"""Downloads what the page consists of, and compares each file with the hash that is written here or in `tools/locked`.

Pyodide comes from the npm registry. The wheels are those of `tools/locked/run.txt`, all in pure Python. numpy is left
out: its wheel for WebAssembly is in neither registry.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent.parent
LOCKED: Final = ROOT / "tools" / "locked" / "run.txt"

PYODIDE: Final = "314.0.7"
"""The version of the npm package `pyodide`."""
PYTHON: Final = "3.14"
"""The Python in it."""
INTEGRITY: Final = "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
"""The SHA-512 of its archive, as the registry writes it."""

PYODIDE_FILES: Final = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
"""The files of the archive that a browser loads."""

_WITHOUT: Final = "numpy"


class BuildError(Exception):
    """The page cannot be built. The text says why, and what to do."""


def pyodide_archive(folder: Path) -> Path:
    """Return the archive of Pyodide in the folder, after downloading it if it is not there."""
    archive = folder / f"pyodide-{PYODIDE}.tgz"
    if not archive.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise BuildError(f"npm, which downloads Pyodide, is not installed; or put {archive.name} into --downloads")
        with tempfile.TemporaryDirectory(dir=folder) as fresh:
            _run([npm, "pack", "--silent", "--pack-destination", fresh, f"pyodide@{PYODIDE}"], "download Pyodide")
            (Path(fresh) / archive.name).replace(archive)
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != INTEGRITY:
        raise BuildError(f"{archive} is not the archive of Pyodide {PYODIDE}: its SHA-512 is {found}")
    return archive


def unpack_pyodide(archive: Path, folder: Path) -> None:
    """Write the files that a browser loads into the folder."""
    folder.mkdir()
    with tarfile.open(archive) as members:
        for name in PYODIDE_FILES:
            content = members.extractfile(f"package/{name}")
            assert content is not None
            (folder / name).write_bytes(content.read())


def requirements() -> str:
    """Return the entries of `tools/locked/run.txt` with their hashes, without numpy."""
    entries = re.split(r"\n(?=\S)", LOCKED.read_text(encoding="utf-8"))
    return "\n".join(entry for entry in entries if not entry.startswith(("#", f"{_WITHOUT}=="))) + "\n"


def wheels(folder: Path) -> list[Path]:
    """Return the wheels in the folder, after downloading those that are not there. pip compares their hashes."""
    with tempfile.TemporaryDirectory(dir=folder) as fresh:
        listed = Path(fresh, "requirements.txt")
        listed.write_text(requirements(), encoding="utf-8")
        target = Path(fresh, "wheels")
        options = ["--only-binary", ":all:", "--platform", "any", "--implementation", "py", "--python-version", PYTHON]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", *options]
        # What an earlier build has left is enough, and then no network is needed.
        offline = [*command, "--no-index", "--find-links", str(folder), "-r", str(listed), "-d", str(target)]
        if subprocess.run(offline, capture_output=True, check=False).returncode:
            _run([*command, "-r", str(listed), "-d", str(target)], "download the wheels")
        found = []
        for path in sorted(target.glob("*.whl")):
            found.append(path.replace(folder / path.name))
        return found


def _run(command: Sequence[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"cannot {what}:\n{(done.stderr or done.stdout).strip()}")
