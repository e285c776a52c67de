# SPDX-License-Identifier: Apache-2.0
"""Without numpy, as on the page in a browser, the verdict is the same, or what needs numpy is not verified."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import onnx.helper
import pytest
from support.models.tensor_samples import unpacked
from support.project.fixture_files import FIXTURES, fixture_paths

WHY = "(it needs numpy, which is not installed)"
BLOCKED = "import sys; sys.modules['numpy'] = None; from onnx_lint.__main__ import main; main()"


def run(*arguments: object, blocks: bool = True) -> subprocess.CompletedProcess[str]:
    """Run onnx-lint in a process of its own; without numpy if it is blocked."""
    begin = ["-c", BLOCKED] if blocks else ["-m", "onnx_lint"]
    command = [sys.executable, *begin, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


def reports(paths: list[Path], *options: str, blocks: bool = True) -> dict[str, Any]:
    done = run(*paths, "--jobs", "1", "-f", "json", "--no-config", *options, blocks=blocks)
    assert done.stderr == ""
    assert done.returncode == 1
    return {file["path"]: file for file in json.loads(done.stdout)["files"]}


def findings(file: dict[str, Any]) -> set[tuple[str, str]]:
    return {(item["rule"], item["place"]) for item in file["diagnostics"]}


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A model of more than 4 MiB, with long lists that stay in the file."""
    count = 300_000
    values = [float(index % 7) for index in range(count)]
    weights = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [count], values)
    numbers = onnx.helper.make_tensor("n", onnx.TensorProto.INT64, [count], range(count))
    x, y = (onnx.helper.make_tensor_value_info(each, onnx.TensorProto.FLOAT, [count]) for each in "xy")
    nodes = [
        onnx.helper.make_node("Add", ["x", "w"], ["s"]),
        onnx.helper.make_node("Add", ["s", "gone"], ["y"]),
        onnx.helper.make_node("LabelEncoder", ["n"], ["l"], domain="ai.onnx.ml", keys_int64s=range(count)),
    ]
    graph = onnx.helper.make_graph(nodes, "g", [x], [y], [weights, numbers])
    imports = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("ai.onnx.ml", 4)]
    path = tmp_path / "large.onnx"
    path.write_bytes(unpacked(onnx.helper.make_model(graph, opset_imports=imports).SerializeToString()))
    return path


def sampled() -> list[Path]:
    """Return some fixtures, among them more of those that numpy is needed for."""
    texts = sorted(path for path in fixture_paths() if path.suffix == ".textproto")
    chosen = [path for path in texts if "sparse" in str(path) or "ensemble" in str(path)][::5]
    return [*dict.fromkeys((*chosen, *Random(1).sample(texts, 60)))]


def test_a_verdict_is_the_same_or_says_what_needs_numpy():
    assert_no_verdict_is_lost(sampled()[::4])


@pytest.mark.slow
def test_so_it_does_for_long_lists_and_more_fixtures(large: Path):
    gone = assert_no_verdict_is_lost([large, *sampled()])
    assert {rule for rule, _ in findings(gone[str(large)])} >= {"undefined-name"}


def assert_no_verdict_is_lost(paths: list[Path]) -> dict[str, Any]:
    """Compare the verdicts with those of numpy, and return those without it."""
    there, gone = reports(paths, blocks=False), reports(paths)
    unverified = 0
    for path, file in gone.items():
        assert file["internal_errors"] == [], path
        reasons = set(file["incomplete"]) - set(there[path]["incomplete"])
        assert all(reason.endswith(WHY) for reason in reasons), path
        if reasons:
            unverified += 1
            assert file["conforms"] in (None, there[path]["conforms"]), path
            assert findings(file) <= findings(there[path]), path
        else:
            assert file["diagnostics"] == there[path]["diagnostics"], path
            assert file["conforms"] == there[path]["conforms"], path
    assert len(paths) / 20 < unverified < len(paths) / 2
    return gone


SPARSE = """ir_version: 10 producer_name: "p" opset_import { version: 21 }
graph {
  name: "g"
  sparse_initializer {
    values { name: "s" dims: 1 data_type: 1 float_data: 1 }
    indices { dims: 1 data_type: 7 int64_data: 9 }
    dims: 4
  }
}
"""


@pytest.mark.slow
def test_every_report_says_it_and_the_target_is_not_proven(tmp_path: Path):
    model = tmp_path / "m.textproto"
    model.write_text(SPARSE, encoding="utf-8")
    target = ("--target", "onnxruntime=1.32.0", "--select", "sparse-index-out-of-range")
    done = run(model, *target)
    assert done.stdout.count(f"rule 'sparse-index-out-of-range' {WHY}") >= 1
    assert "conforms" not in done.stdout
    assert "loads" not in done.stdout
    for name in ("jsonl", "sarif", "markdown", "html", "junit"):
        assert "which is not installed" in run(model, *target, "-f", name).stdout, name


def test_the_cache_keeps_no_such_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(tmp_path / "cache"))
    model = tmp_path / "m.textproto"
    model.write_text(SPARSE, encoding="utf-8")
    options = (model, "--cache", "--no-config", "-f", "concise")
    assert "sparse-index-out-of-range" not in run(*options).stdout
    assert "sparse-index-out-of-range" in run(*options, blocks=False).stdout


def test_a_baseline_keeps_the_findings_that_it_knows(tmp_path: Path):
    model, baseline = tmp_path / "m.textproto", tmp_path / "baseline.json"
    model.write_text(SPARSE, encoding="utf-8")
    run(model, "--no-config", "--write-baseline", baseline, blocks=False)
    assert "sparse-index-out-of-range" in baseline.read_text(encoding="utf-8")
    done = run(model, "--no-config", "--baseline", baseline)
    assert WHY in done.stdout
    assert "no longer found" not in done.stdout


def test_shapes_says_that_some_are_unknown():
    done = run("shapes", FIXTURES / "impossible-attribute-value" / "invalid" / "a_child_that_is_no_node.textproto")
    assert done.stderr == "not verified: some shapes are unknown, since numpy is not installed\n"
    assert "known shape" in done.stdout
    assert done.returncode == 0
