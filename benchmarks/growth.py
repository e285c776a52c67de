# SPDX-License-Identifier: Apache-2.0
"""Measures how time and memory of onnx-lint grow with the number of nodes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import models
from cases import onnx_lint, written
from measurement import Laboratory, Series

COUNTS: Final = (1_000, 10_000, 100_000, 1_000_000)
_LIMIT: Final = "memory=8GiB"
"""More than the models need: the default bounds what a file of a stranger may take."""


def _write(count: int, path: Path) -> None:
    models.save(models.mixture(count), path)


def measure(laboratory: Laboratory, folder: Path, rounds: int) -> dict[int, Series]:
    """The runs of onnx-lint on models of each count of nodes."""
    grown = {}
    for count in COUNTS:
        path = written(partial(_write, count), folder / f"{count}.onnx")
        [grown[count]] = laboratory.compare([onnx_lint(path, "--limit", _LIMIT)], rounds, warm_up=path)
        path.unlink()
    return grown


def table(grown: dict[int, Series]) -> str:
    """The growth as Markdown."""
    lines = ["| nodes | time | peak | time for each node |", "|--:|--:|--:|--:|"]
    for count, series in grown.items():
        if series.failure is not None:
            lines.append(f"| {count:,} | {series.failure} | - | - |")
            continue
        each = series.processor_seconds / count * 1e6
        lines.append(f"| {count:,} | {series.processor_seconds:.2f} s | {series.peak:.0f} MB | {each:.1f} µs |")
    *_, before, last = grown.values()
    if before.failure is None and last.failure is None:
        ratio = last.processor_seconds / before.processor_seconds
        lines.append(f"\nTime for 1,000,000 nodes divided by time for 100,000: **{ratio:.1f}**.")
    return "\n".join(lines)
