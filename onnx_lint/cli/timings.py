# SPDX-License-Identifier: Apache-2.0
"""Tells on standard error where the time of a run went."""

from __future__ import annotations

import sys
from collections import defaultdict

from onnx_lint.report import Report

_KINDS = ("load", "index", "rule", "facts")
"""What every run does; other kinds of work are told where there was any."""


def tell_timings(report: Report, before: float, output: float) -> None:
    """Print the parts of the run: first each kind of work as a whole, then each index and rule, the slowest first.

    `before`: the processor time up to the first file, which interpreter, imports and configuration took. `output`: the
    wall time for writing the reports. With several processes the parts add up to more than the run took.
    """
    parts: defaultdict[str, float] = defaultdict(float)
    for file in report.files:
        for part, seconds in file.timings:
            parts[part] += seconds
    kinds = {"start-up": before, **dict.fromkeys(_KINDS, 0.0)}
    for part, seconds in parts.items():
        kind = part.partition(" ")[0]
        kinds[kind] = kinds.get(kind, 0.0) + seconds
    kinds["output"] = output
    files = f"{len(report.files):,} file{'s' * (len(report.files) != 1)}"
    sys.stderr.write(f"timings of {files}, in milliseconds\n")
    for part, seconds in kinds.items():
        sys.stderr.write(_line(part, seconds))
    details = sorted((item for item in parts.items() if " " in item[0]), key=lambda item: (-item[1], item[0]))
    for part, seconds in details:
        sys.stderr.write(_line(f"  {part}", seconds))


def _line(part: str, seconds: float) -> str:
    return f"{part:<48}{seconds * 1000:>12,.1f}\n"
