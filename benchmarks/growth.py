# SPDX-License-Identifier: Apache-2.0
"""Measures how time and memory of onnx-lint grow with the number of nodes, and draws it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import models
from cases import onnx_lint, written
from measurement import Laboratory, Series

COUNTS: Final = (1_000, 10_000, 100_000, 1_000_000)
_LIMIT: Final = f"nodes={10 * COUNTS[-1]}"
"""More than the models have. A default run takes on 500,000: a million take up three gigabytes of memory, a third of
them in Protocol Buffers, and a stranger's file must not."""
PLOT: Final = Path(__file__).with_name("growth.png")


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
        each = series.seconds / count * 1e6
        lines.append(f"| {count:,} | {series.seconds:.2f} s | {series.peak:.0f} MB | {each:.1f} µs |")
    *_, before, last = grown.values()
    if before.failure is None and last.failure is None:
        lines.append(f"\nTime for 1,000,000 nodes through time for 100,000: **{last.seconds / before.seconds:.1f}**.")
    return "\n".join(lines)


def draw(grown: dict[int, Series]) -> None:
    """Draw the growth, both axes logarithmic, beside a straight proportion."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    shown = {count: series for count, series in grown.items() if series.failure is None}
    counts = list(shown)
    seconds = [series.seconds for series in shown.values()]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    left.loglog(counts, seconds, "o-", label="onnx-lint")
    left.loglog(counts, [seconds[-1] * count / counts[-1] for count in counts], ":", label="in proportion to nodes")
    left.set(xlabel="nodes", ylabel="seconds, whole process")
    right.loglog(counts, [series.peak for series in shown.values()], "o-", label="onnx-lint")
    right.set(xlabel="nodes", ylabel="peak of resident memory, MB")
    for axes in (left, right):
        axes.grid(visible=True, which="major", alpha=0.3)
        axes.legend()
    figure.savefig(PLOT, dpi=110, metadata={"Software": None})
