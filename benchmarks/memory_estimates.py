# SPDX-License-Identifier: Apache-2.0
"""Compares the memory estimate with the peak, for honest and hostile models.

`PYTHONPATH=tests python benchmarks/memory_estimates.py` prints the tables.

The ratio is the estimate through the peak, less the peak of a model with one node.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Final

from memory import write as write_honest
from support.hostile.schema_lists import list_fields, one_list
from support.processes.peak_memory import run

from onnx_lint.input.source import BytesSource
from onnx_lint.loader.binary.strip_payloads import read_skeleton
from onnx_lint.loader.limits.memory_estimate import needed_memory

HONEST: Final = (
    ("nodes in a chain", 1_000_000),
    ("nodes with value_info", 450_000),
    ("nodes with an initializer", 200_000),
    ("nodes with an attribute of their own", 300_000),
    ("Conv with five attributes", 300_000),
    ("Constants of their own", 40_000),
    ("functions of two nodes", 30_000),
    ("subgraphs", 10_000),
    ("tree nodes", 10_000_000),
    ("strings of a LabelEncoder", 5_000_000),
)
HOSTILE_ELEMENTS: Final = 60_000
HOSTILE_LISTS: Final = 30
"""The lists of the schema in the table: those with the largest estimates."""


def estimate(path: Path) -> int:
    """Return the least memory limit that lets the file through."""
    skeleton = read_skeleton(BytesSource(path.read_bytes()), sys.maxsize, sys.maxsize)
    return needed_memory(skeleton, "ModelProto", 1, is_regular=True) or 0


def _row(title: str, path: Path, base: int) -> str:
    done = run(path, form="jsonl")
    needed, growth = estimate(path), max(done.peak_bytes - base, 1)
    verdict = {0: "conforms", 1: "findings", 2: "not checked"}.get(done.code, f"exit code {done.code}")
    size = path.stat().st_size
    figures = f"{size / 1e6:.2f} MB | {needed / 1e6:.0f} MB | {done.peak_bytes / 1e6:.0f} MB | {needed / growth:.1f}"
    return f"| {title} | {figures} | {verdict} |"


def main() -> None:
    """Print both tables."""
    head = "| file | estimate | peak | ratio | verdict |\n|---|--:|--:|--:|--:|---|"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        write_honest("nodes in a chain", 1, path)
        base = run(path, form="jsonl").peak_bytes
        print(f"A model with one node has a peak of {base / 1e6:.0f} MB.\n\n| honest model {head}", flush=True)
        for kind, count in HONEST:
            write_honest(kind, count, path)
            print(_row(f"{count:,} {kind}", path, base), flush=True)
        print(f"\n| {HOSTILE_ELEMENTS:,} elements of {head}")
        lists = {}
        for name, field in list_fields().items():
            path.write_bytes(one_list(field, HOSTILE_ELEMENTS, own=True))
            lists[name] = estimate(path)
        for name in sorted(lists, key=lists.__getitem__, reverse=True)[:HOSTILE_LISTS]:
            path.write_bytes(one_list(list_fields()[name], HOSTILE_ELEMENTS, own=True))
            print(_row(f"`{name}`", path, base), flush=True)


if __name__ == "__main__":
    main()
