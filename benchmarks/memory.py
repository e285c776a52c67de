# SPDX-License-Identifier: Apache-2.0
"""Measures the processor time and memory that large models take, beside onnx.checker: `python benchmarks/memory.py`.

Each model of `large_models.py` is large in one respect, so that its peak, less that of an empty model, through the
number of things that it has is what one of them takes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import large_models
from cases import full_check, onnx_lint
from measurement import Laboratory, Series
from table import versions

HEAD: Final = "| model | file | onnx-lint | peak | for each | full_check | peak |\n|---|--:|--:|--:|--:|--:|--:|"


@dataclass(frozen=True, slots=True)
class Size:
    """A line of the table."""

    count: int
    kind: str
    """The element that the model has many of: a key of `large_models.MODELS`."""
    for_each: str
    """The noun for what the memory is divided by; `byte` for the bytes of the file."""


SIZES: Final = (
    Size(450_000, "nodes with value_info", "node"),
    Size(200_000, "nodes with an initializer", "node and initializer"),
    Size(20_000, "Constants of their own", "node and tensor"),
    Size(5_000, "functions of two nodes", "function"),
    Size(4_401, "subgraphs", "subgraph"),
    Size(2_000_000, "tree nodes", "tree node"),
    Size(10_000_000, "tree nodes", "tree node"),
    Size(5_000_000, "strings of a LabelEncoder", "string"),
    Size(245_000, "nodes in text", "byte of text"),
)


def write(kind: str, count: int, path: Path) -> None:
    """Write a model in a separate process, which releases its memory when it ends."""
    process = multiprocessing.get_context("spawn").Process(target=large_models.write, args=(kind, count, path))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(f"{kind}: the model could not be written")


def _amount(size: float) -> str:
    return f"{size / 1000:.1f} kB" if size >= 10_000 else f"{size:.0f} B"


def _row(size: Size, path: Path, series: Sequence[Series], empty: float, notes: list[str]) -> str:
    title = f"{size.count:,} {size.kind}"
    file_bytes = path.stat().st_size
    cells = [title, f"{file_bytes / 1e6:.1f} MB"]
    for number, item in enumerate(series):
        if item.failure is not None:
            notes.append(f"{title}, {item.command.name}: {item.failure}")
        cells += [f"{item.processor_seconds:.1f} s", f"{item.peak:.0f} MB"] if item.failure is None else ["-", "-"]
        if number == 0:
            things = file_bytes if size.for_each.startswith("byte") else size.count
            each = (item.peak - empty) * 1e6 / things
            cells.append(f"{_amount(each)} for a {size.for_each}" if item.failure is None else "-")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="the lines whose titles have this text")
    only = parser.parse_args().only
    notes: list[str] = []
    with Laboratory() as laboratory, tempfile.TemporaryDirectory() as folder:
        warm_up = Path(folder) / "empty.onnx"
        write("nodes in a chain", 1, warm_up)
        [empty] = laboratory.compare([onnx_lint(warm_up)], 1, warm_up)
        print(f"{versions(1)}\n\n{HEAD}", flush=True)
        for size in SIZES:
            if only in f"{size.count:,} {size.kind}":
                suffix = ".textproto" if size.kind.endswith("text") else ".onnx"
                path = Path(folder) / f"model{suffix}"
                write(size.kind, size.count, path)
                series = laboratory.compare([onnx_lint(path), full_check(path)], 1, warm_up)
                print(_row(size, path, series, empty.peak, notes), flush=True)
    print("\n" + "\n".join(f"- {note}" for note in notes))


if __name__ == "__main__":
    main()
