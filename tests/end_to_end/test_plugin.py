# SPDX-License-Identifier: Apache-2.0
"""A plugin is a distribution with an entry point; its rules run like onnx-lint's own, and a crash stops nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from support.project.checkout import ROOT, TESTS

pytestmark = pytest.mark.slow

PLUGIN = TESTS / "plugin"

MODEL = """
ir_version: 10
producer_name: "example"
opset_import { domain: "" version: 21 }
graph {
  name: "graph"
  node { op_type: "Relu" input: "z" output: "y" }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
}
"""

CRASHING = '''
from onnx_lint.rule import rule

@rule(clause="MOD-10", since="1.0")
def crashing(model):
    """A rule that crashes."""
    yield 1 // 0
'''

UNDEFINED = (
    "undefined-name",
    "error",
    "graph.node[0].input[0]",
    "unnamed node 0 (Relu) of the main graph uses 'z', which nothing defines",
)
PLACEHOLDER = ("placeholder-producer", "warning", "producer_name", "the producer is called 'example'")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--skip-dependency-check"]
    done = subprocess.run(
        [*command, "--outdir", folder, PLUGIN], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture
def site(tmp_path: Path, wheel: Path) -> Path:
    """A folder in which the plugin is installed; a wheel of pure Python is installed by unpacking it."""
    folder = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.textproto"
    path.write_text(MODEL)
    return path


def _run(site: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(site)])}
    command = [sys.executable, "-m", "onnx_lint", *arguments]
    return subprocess.run(
        command, cwd=site.parent, env=environment, capture_output=True, text=True, check=False, timeout=600
    )


def _findings(output: str) -> list[tuple[str, str, str, str]]:
    (file,) = json.loads(output)["files"]
    findings: list[dict[str, Any]] = file["diagnostics"]
    return [(found["rule"], found["severity"], found["place"], found["message"]) for found in findings]


def test_the_rule_is_registered_and_its_finding_reported(site: Path, model: Path):
    assert "placeholder-producer" in _run(site, "rules").stdout
    explained = _run(site, "explain", "placeholder-producer")
    assert (explained.returncode, "template" in explained.stdout) == (0, True)
    done = _run(site, "check", model, "--format", "json")
    assert (done.returncode, done.stderr) == (1, "")
    assert _findings(done.stdout) == [PLACEHOLDER, UNDEFINED]


def test_it_can_be_selected_alone(site: Path, model: Path):
    done = _run(site, "check", model, "--format", "json", "--select", "placeholder-producer", "--fail-on", "error")
    assert done.returncode == 0
    assert _findings(done.stdout) == [PLACEHOLDER]


def test_a_crash_is_reported_and_the_other_rules_run(site: Path, model: Path):
    (site / "onnx_lint_example" / "rules" / "model" / "crashing.py").write_text(CRASHING)
    done = _run(site, "check", model, "--format", "json")
    assert done.returncode == 3
    assert _findings(done.stdout) == [PLACEHOLDER, UNDEFINED]
    assert "crashing" in done.stderr
    assert "ZeroDivisionError" in done.stderr
    (file,) = json.loads(done.stdout)["files"]
    (error,) = file["internal_errors"]
    assert error["rule"] == "crashing"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("import a_module_that_does_not_exist", "a_module_that_does_not_exist"),
        (CRASHING.replace("MOD-10", "MOD-999"), "MOD-999"),
        (CRASHING.replace("def crashing", "def cycle"), "'cycle'"),
    ],
    ids=["import-error", "unknown-clause", "same-id-as-another"],
)
def test_a_plugin_that_cannot_be_registered_is_named(site: Path, model: Path, content: str, said: str):
    (site / "onnx_lint_example" / "rules" / "model" / "broken.py").write_text(content)
    done = _run(site, "check", model)
    assert done.returncode in {2, 3}
    assert said in done.stderr
    assert "onnx_lint_example" in done.stderr or "onnx-lint-example" in done.stderr
    assert "Traceback" not in done.stderr
