# SPDX-License-Identifier: Apache-2.0
"""With `--consumer onnxruntime`, what ONNX Runtime calls an invalid graph onnx-lint refuses as well.

The models are those of the differential test with `onnx.checker`. Only refusals of the graph count: what has no kernel,
no registered operator or no type in the runtime says nothing about the model.
"""

from __future__ import annotations

import json
import re
import select
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.models.mutated_models import cases

from onnx_lint import lint

pytestmark = pytest.mark.consumers

INVALID_GRAPH = "INVALID_GRAPH"

EXPLAINED = {
    r"No opset import for domain '": "the runtime asks the model for imports where those of the function count",
    r"is marked single but has an empty string in the graph": "what a call leaves out of a function is left out there",
    r"_inlfunc_F_n.*, BatchNormalization": "a mutant in which a function's input is used several times",
}
"""What the runtime refuses and onnx-lint does not, and why."""


_ANSWERS = """
import json, sys
import onnxruntime
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
options.log_severity_level = 4
options.intra_op_num_threads = options.inter_op_num_threads = 1
for line in sys.stdin:
    said = ""
    try:
        onnxruntime.InferenceSession(line.rstrip(), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        said = str(error)
    print(json.dumps(said), flush=True)
"""


class _Runtime:
    """ONNX Runtime in a process of its own, which some mutants end."""

    def __init__(self) -> None:
        self._process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _ANSWERS]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def refusal(self, path: Path) -> str:
        """Why the runtime refuses a model; empty where it takes it, or has crashed or hung."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{path}\n")
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], 60)
        line = self._process.stdout.readline() if ready else ""
        # What the runtime prints itself, as a warning about experimental operators, is no answer.
        while line and not line.startswith('"'):
            line = self._process.stdout.readline()
        if line:
            return str(json.loads(line))
        self.stop()
        self._process = self._started()
        return ""

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def runtime() -> Iterator[_Runtime]:
    made = _Runtime()
    try:
        yield made
    finally:
        made.stop()


def test_what_onnxruntime_calls_an_invalid_graph_is_refused():
    pytest.importorskip("onnxruntime", reason="pip install onnxruntime")
    used: Counter[str] = Counter()
    missed: list[str] = []
    refused = 0
    with tempfile.TemporaryDirectory() as folder, runtime() as of_onnx:
        path = Path(folder) / "model.onnx"
        for name, model in cases():
            path.write_bytes(model.SerializePartialToString())
            message = of_onnx.refusal(path)
            if INVALID_GRAPH not in message:
                continue
            refused += 1
            if not lint(path, consumers=["onnxruntime"]).conforms:
                continue
            reason = next((pattern for pattern in EXPLAINED if re.search(pattern, message)), None)
            if reason is None:
                missed.append(f"{name}: {message.splitlines()[0][:300]}")
            else:
                used[reason] += 1
    assert refused > 100
    assert not missed, "\n".join(missed)
    assert set(EXPLAINED) - set(used) == set(), "explained and no longer needed"
