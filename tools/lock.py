# SPDX-License-Identifier: Apache-2.0
"""Writes `tools/locked/*.txt`: the newest packages that fit, each with its version and hashes.

    pip install uv
    python -m tools.lock

The action, the container and `tools/release.sh` install nothing else, so that what they run changes only with a commit.
Each file serves all platforms and all supported Pythons. The packages of `build` build onnx-lint, those of `run` are
needed to run it, and those of `release` make a release.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "tools" / "locked"
HEADER = "# Written by `python -m tools.lock`. Only wheels: building a package would fetch others without hashes.\n"


def wanted() -> dict[str, list[str]]:
    """Return the requirements of each file, by its name."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    build: list[str] = settings["build-system"]["requires"]
    return {
        "run": settings["project"]["dependencies"],
        "build": build,
        "release": [*build, "build>=1.2", "cyclonedx-bom>=7"],
    }


def main() -> int:
    """Write the files. Returns the exit code."""
    options = ["--universal", "--python-version", "3.11", "--generate-hashes", "--only-binary", ":all:"]
    for name, requirements in wanted().items():
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, f"{name}.in")
            source.write_text("\n".join(requirements) + "\n", encoding="utf-8")
            command = [
                sys.executable,
                "-m",
                "uv",
                "pip",
                "compile",
                *options,
                "--no-header",
                "--no-annotate",
                str(source),
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            return 1
        (FOLDER / f"{name}.txt").write_text(HEADER + done.stdout, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
