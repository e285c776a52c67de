# SPDX-License-Identifier: Apache-2.0
"""Times onnx-lint and `onnx.checker.check_model` on a model of 1 GiB of inlined weights, and prints the ratio.

`python benchmarks/inlined_weights.py [--gib N] [--runs N]`. Needs the `onnx` package; the model is written to a temporary
folder and removed. Each command runs as a whole process, the two in turn; the figures are medians.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from onnx_lint import schema

TENSORS = 64
"""How many initializers share the weights: about as many as a small convolutional network has."""


def write_model(path: Path, size: int) -> None:
    """Write a chain of MatMul nodes whose weights are `size` bytes of float zeros in raw_data."""
    model = schema.message("ModelProto")()
    model.ir_version = 10
    opset = model.opset_import.add()
    opset.domain, opset.version = "", 21
    graph = model.graph
    graph.name = "weights"
    columns = size // TENSORS // 4 // 1024
    for field, name in ((graph.input, "x0"), (graph.output, f"x{TENSORS}")):
        value = field.add()
        value.name = name
        value.type.tensor_type.elem_type = 1
        value.type.tensor_type.shape.dim.add().dim_value = 1
        value.type.tensor_type.shape.dim.add()
    for index in range(TENSORS):
        node = graph.node.add()
        node.op_type = "MatMul"
        node.input.extend([f"x{index}", f"w{index}"])
        node.output.append(f"x{index + 1}")
        tensor = graph.initializer.add()
        tensor.name = f"w{index}"
        tensor.data_type = 1
        tensor.dims.extend([1024, columns] if index % 2 == 0 else [columns, 1024])
        tensor.raw_data = bytes(size // TENSORS)
    path.write_bytes(model.SerializeToString())


def measure(command: list[str]) -> tuple[float, float]:
    """Run a command; return its wall time in seconds and its peak memory in MB (10**6 bytes)."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    complaint = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(command)} failed: {complaint.decode(errors='replace')}")
    return time.perf_counter() - start, usage.ru_maxrss * 1024 / 1e6


def main() -> None:
    """Make the model, time both, print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gib", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weights.onnx"
        write_model(path, int(arguments.gib * (1 << 30)))
        commands = {
            "onnx-lint": [sys.executable, "-m", "onnx_lint", str(path)],
            "onnx.checker.check_model": [
                sys.executable,
                "-c",
                "import onnx, sys; onnx.checker.check_model(sys.argv[1])",
                str(path),
            ],
        }
        runs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(arguments.runs):
            for name, command in commands.items():
                runs[name].append(measure(command))
    times = {name: statistics.median(seconds for seconds, _ in run) for name, run in runs.items()}
    memory = {name: max(peak for _, peak in run) for name, run in runs.items()}
    print(f"| {arguments.gib:g} GiB of inlined weights | wall time, median of {arguments.runs} | peak memory |")
    print("|---|---|---|")
    for name in commands:
        print(f"| {name} | {times[name]:.3f} s | {memory[name]:.0f} MB |")
    print(f"\nratio of times: {times['onnx-lint'] / times['onnx.checker.check_model']:.3f}")


if __name__ == "__main__":
    main()
