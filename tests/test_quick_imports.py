# SPDX-License-Identifier: Apache-2.0
"""The shorter way to modules finds what Python's own finds, and leaves alone what is not as usual."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

_LISTING = """
import importlib, json, sys
if sys.argv[1] == "quick":
    from onnx_lint import quick_imports
    quick_imports.install()
names = ["onnx_lint.record", "onnx_lint.spec", "onnx_lint.spec.standard", "onnx_lint.rules", "onnx_lint.rules.type"]
found = {}
for name in names:
    module = importlib.import_module(name)
    spec = module.__spec__
    found[name] = {
        "file": module.__file__, "cached": module.__cached__, "package": module.__package__, "doc": module.__doc__,
        "path": list(getattr(module, "__path__", ())), "code": spec.loader.get_code(name).co_filename,
        "source": spec.loader.get_source(name), "origin": spec.origin, "names": sorted(vars(module)),
    }
print(json.dumps([found, [type(sys.modules[name].__spec__.loader).__name__ for name in names]]))
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A checkout of the package that is compiled where it stands."""
    for name in ("onnx_lint", "rules"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    _found(tmp_path, "ordinary")
    return tmp_path


def _found(folder: Path, way: str, *flags: str, **environment: str) -> tuple[dict[str, object], list[str]]:
    """What the modules are, and the kinds of their loaders."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [sys.executable, *flags, "-c", _LISTING, way]
    # The package is imported from the folder, in which -c looks first.
    done = subprocess.run(
        command, cwd=folder, env={**inherited, **environment}, capture_output=True, text=True, check=True
    )
    modules, loaders = json.loads(done.stdout)
    return modules, loaders


OWN = ["SourceFileLoader"] * 5


def test_both_ways_find_the_same(copy: Path):
    modules, loaders = _found(copy, "ordinary")
    assert loaders == OWN
    assert _found(copy, "quick") == (modules, ["_Loader", "_Loader", "_Loader", "SourceFileLoader", "_Loader"])


def test_a_source_that_has_changed_is_compiled_anew(copy: Path):
    source = copy / "onnx_lint" / "spec" / "standard.py"
    before = _found(copy, "quick")[0]["onnx_lint.spec.standard"]
    source.write_text(source.read_text() + "\nANOTHER = 1\n")
    after = _found(copy, "quick")[0]["onnx_lint.spec.standard"]
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert set(after["names"]) - set(before["names"]) == {"ANOTHER"}


@pytest.mark.parametrize(
    ("flags", "environment"), [(["-O"], {}), ([], {"PYTHONPYCACHEPREFIX": "elsewhere"}), (["-B"], {})], ids=str
)
def test_nothing_compiled_where_it_is_expected(copy: Path, flags: list[str], environment: dict[str, str]):
    for folder in copy.rglob("__pycache__"):
        shutil.rmtree(folder)
    modules, loaders = _found(copy, "quick", *flags, **environment)
    assert loaders == OWN
    assert _found(copy, "ordinary", *flags, **environment)[0] == modules


def test_what_was_moved_after_it_was_compiled_tells_where_it_is_now(copy: Path):
    moved = copy.with_name("moved")
    copy.rename(moved)
    modules, loaders = _found(moved, "quick")
    assert loaders == OWN
    assert [module["code"] for module in modules.values() if isinstance(module, dict)] == [
        str(moved / path)
        for path in (
            "onnx_lint/record.py",
            "onnx_lint/spec/__init__.py",
            "onnx_lint/spec/standard.py",
            "rules/__init__.py",
            "rules/type/__init__.py",
        )
    ]
