# SPDX-License-Identifier: Apache-2.0
"""Programs that read the reports: Microsoft's SARIF validator and viewer, and readers of SARIF and JUnit from PyPI.

They are installed into a folder of the test run, so these tests need the registries and are not part of the others.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from html import unescape
from pathlib import Path

import pytest
from support.project.checkout import ROOT

pytestmark = pytest.mark.consumers

MODEL = """
ir_version: 10
opset_import { domain: "" version: 21 }
opset_import { domain: "com.example" version: 1 }
graph {
  name: "a graph"
  node { name: "one" op_type: "Relu" input: "x" output: "y" }
  node { name: "two" op_type: "Abs" input: "x" output: "y" }
  node { name: "three" op_type: "Odd" domain: "com.example" input: "x" output: "1/z" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
}
"""
ACCEPTED = {
    "SARIF2002",  # messages without an id: the texts are made of names
    "SARIF2003",  # no version control: the report has the same bytes everywhere
    "SARIF2005",  # no address of the tool: the project has none until it is published
    "SARIF2006",  # the address of the schema cannot be reached here
    "SARIF2009",  # ids are words with dashes
    "SARIF2010",  # no snippets of a binary file
    "SARIF2011",
    "SARIF2012",  # a rule of one word has only its id as a name, and NotAModel would not be one
    "SARIF2013",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory with reports of two models."""
    place = tmp_path_factory.mktemp("reports")
    (place / "my models").mkdir()
    (place / "my models" / "bad.textproto").write_text(MODEL)
    (place / "empty.onnx").touch()
    outputs = ("sarif=out.sarif", "junit=out.xml")
    arguments = ["--pedantic", ".", *(part for output in outputs for part in ("-o", output))]
    done = subprocess.run(
        [sys.executable, "-m", "onnx_lint", *arguments],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    return place


def _run(folder: Path, *command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm, which installs the validator, is missing")
@pytest.mark.skipif(sys.platform != "linux", reason="the validator is installed for Linux")
def test_the_sarif_validator_finds_no_fault(folder: Path) -> None:
    npm = shutil.which("npm")
    assert npm is not None
    installed = _run(folder, npm, "install", "--no-audit", "--no-fund", "--prefix", "npm", "@microsoft/sarif-multitool")
    assert installed.returncode == 0, installed.stderr
    tool = folder / "npm/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool"
    tool.chmod(0o755)
    options = ["--rule-kind", "Sarif;Gh", "--level", "Error;Warning;Note", "--log", "ForceOverwrite", "-o", "r.sarif"]
    done = _run(folder, tool, "validate", "out.sarif", *options, DOTNET_SYSTEM_GLOBALIZATION_INVARIANT="1")
    # It ends with 0 whatever it finds.
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = json.loads((folder / "r.sarif").read_text(encoding="utf-8-sig"))["runs"]
    found = {result["ruleId"] for result in run["results"]}
    assert found - ACCEPTED == set()
    assert [r for r in run["results"] if r.get("level") == "error"] == []


VIEWER = """<!DOCTYPE html><html><head><meta charset="utf-8"></head><body><div id="root"></div>
<script src="viewer/node_modules/react/umd/react.production.min.js"></script>
<script src="viewer/node_modules/react-dom/umd/react-dom.production.min.js"></script>
<script src="viewer/node_modules/@microsoft/sarif-web-component/dist/index.js"></script>
<script src="log.js"></script>
<script>
  ReactDOM.render(React.createElement(window.Viewer, {logs: [LOG]}), document.getElementById("root"))
</script></body></html>
"""


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm, which installs the viewer, is missing")
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium, which shows the viewer, is missing")
def test_the_sarif_viewer_shows_what_is_wrong_where_and_what_to_do(folder: Path) -> None:
    npm, chromium = shutil.which("npm"), shutil.which("chromium")
    assert npm is not None
    assert chromium is not None
    packages = ("@microsoft/sarif-web-component", "react@16", "react-dom@16")
    options = ("--no-audit", "--no-fund", "--ignore-scripts", "--prefix", "viewer")
    installed = _run(folder, npm, "install", *options, *packages)
    assert installed.returncode == 0, installed.stderr
    (folder / "viewer.html").write_text(VIEWER)
    log = json.loads((folder / "out.sarif").read_text())
    # The page opens the group with most results, and shows those of the others as one line.
    log["runs"][0]["results"] = [found for found in log["runs"][0]["results"] if found["level"] == "error"]
    log["runs"][0]["results"].sort(key=lambda found: str(found["ruleId"]))
    (folder / "log.js").write_text(f"const LOG = {json.dumps(log)}")
    done = _run(
        folder, chromium, "--headless", "--no-sandbox", "--virtual-time-budget=9000", "--dump-dom", "viewer.html"
    )
    body = re.sub(r"(?s)<(script|style)\b.*?</\1>", "", done.stdout)
    said = unescape(re.sub(r"<[^>]*>", "", body))
    for text in (
        "duplicate-definition: DuplicateDefinition",
        "my%20models/bad.textproto",
        "/graph/node/1/output/0",
        "which output 0 of node 'one' (Relu) defines already",
        "Allowed: ",
        "See also graph.node[0].output[0].",
        "not-a-model: NotAModel",
    ):
        assert text in said, said


def test_readers_from_pypi(folder: Path) -> None:
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    installed = _run(folder, python, "-m", "pip", "install", "--quiet", "sarif-tools", "junitparser")
    assert installed.returncode == 0, installed.stderr
    program = (
        "import sarif.loader; r = sarif.loader.load_sarif_file('out.sarif'); "
        "print(sorted({(x['Severity'], x['Location'], x['Code']) for x in r.get_records()}))"
    )
    read = _run(folder, python, "-c", program)
    assert read.returncode == 0, read.stderr
    for expected in ("('error', 'empty.onnx', 'not-a-model')", "('error', 'my%20models/bad.textproto', 'duplicate-"):
        assert expected in read.stdout
    program = "import junitparser as j; x = j.JUnitXml.fromfile('out.xml'); print(len(list(x)), x.failures, x.errors)"
    read = _run(folder, python, "-c", program)
    assert (read.stdout, read.stderr) == ("3 2 0\n", "")
