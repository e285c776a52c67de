# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime in a process of its own, which loads models and runs them on ones."""

from __future__ import annotations

import json
import select
import subprocess
import sys
from pathlib import Path

NO_KERNEL = ("NOT_IMPLEMENTED", "is not a registered function", "Could not find an implementation")
"""Messages that depend on the build."""

_ANSWERS = """
import json, sys
import numpy as np
import onnxruntime
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
options.log_severity_level = 4
options.intra_op_num_threads = options.inter_op_num_threads = 1
kinds = {"float": "f4", "float16": "f2", "double": "f8", "bool": "?"}

def value(given):
    if given.type.startswith("map("):
        return {1: 1.0}
    kind = given.type[7:-1]
    shape = [size if isinstance(size, int) else 2 for size in given.shape]
    return np.full(shape, "1") if kind == "string" else np.ones(shape, kinds.get(kind, kind))

for line in sys.stdin:
    load = run = ""
    try:
        session = onnxruntime.InferenceSession(line.rstrip(), options, providers=["CPUExecutionProvider"])
        try:
            sys.argv[1:] or session.run(None, {each.name: value(each) for each in session.get_inputs()})
        except Exception as error:
            run = str(error)
    except Exception as error:
        load = str(error)
    print(json.dumps([load, run]), flush=True)
"""


class RuntimeProcess:
    """ONNX Runtime in a process of its own, which some models end."""

    def __init__(self, *, runs: bool = True) -> None:
        self._command = [sys.executable, "-c", _ANSWERS, *(() if runs else ("loads",))]
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> RuntimeProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def answer(self, path: Path) -> tuple[str, str] | None:
        """Why the runtime refuses to load a model, and why to run it, each empty where it does; None if it ended."""
        if self._process is None:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{path}\n")
        self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], 60)
        line = self._process.stdout.readline() if ready else ""
        # The runtime's own output, such as a warning about experimental operators, is not an answer.
        while line and not line.startswith('["'):
            line = self._process.stdout.readline()
        if line:
            load, run = json.loads(line)
            return load, run
        self.stop()
        return None

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
