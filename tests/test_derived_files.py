# SPDX-License-Identifier: Apache-2.0
"""`python -m tools` makes the derived files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.project.checkout import ROOT

from tools.__main__ import MAKERS

NOT_MAKERS = {
    "tools.__main__",
    "tools.compare_target",
    "tools.compile_targets",
    "tools.generate_operators",
    "tools.lock",
    "tools.single_nodes",
}
"""The programs that need a network, other packages or arguments."""

DERIVED = (
    "onnx_lint/schema/onnx.binpb",
    "onnx_lint/spec/clauses.jsonl",
    "onnx_lint/inference/shapes/rules/families.json",
    "onnx_lint/spec/operators/records/families.json",
    "onnx_lint/model/names.json",
    "rules/README.md",
    "rules/index.json",
    "rules/documentation.json",
    "docs/config.schema.json",
    "docs/public_api.txt",
    "docs/captures/forms",
)


def test_each_program_of_the_folder_is_run_or_left_out_for_a_reason():
    programs = {
        f"tools.{path.stem}" for path in (ROOT / "tools").glob("*.py") if '__name__ == "__main__"' in path.read_text()
    }
    assert programs == NOT_MAKERS | {module for module in MAKERS if module.startswith("tools.")}


def test_contributing_names_each_file():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("### What `python -m tools` makes")[2]
    table = page.partition("\n#")[0]
    assert [name for name in DERIVED if name not in table and not name.startswith("rules/")] == []
    assert set(re.findall(r"`((?:onnx_lint|docs|rules)/[\w/.]+\.(?:jsonl?|txt|binpb))`", table)) <= set(DERIVED)


def _files(folder: Path) -> dict[str, bytes]:
    """The content of each derived file below a folder."""
    paths = [path for name in DERIVED for path in ((folder / name), *(folder / name).glob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.slow
def test_all_derived_files_are_made_from_nothing(tmp_path: Path):
    for name in ("onnx_lint", "rules", "tools", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _files(tmp_path):
        (tmp_path / name).unlink()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "tools"], cwd=tmp_path, env=environment, check=True)
    made = _files(tmp_path)
    assert len(made) > len(DERIVED)
    assert made == _files(ROOT)


def test_the_first_failure_ends_the_run(tmp_path: Path):
    (tmp_path / "tools").mkdir()
    for name in ("__init__.py", "__main__.py"):
        shutil.copy(ROOT / "tools" / name, tmp_path / "tools")
    (tmp_path / "tools" / "compile_schema.py").write_text("raise SystemExit(3)")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "tools"], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (3, b"")
