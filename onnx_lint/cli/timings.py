# SPDX-License-Identifier: Apache-2.0
"""Prints on standard error the time that each part of a run took."""

from __future__ import annotations

import sys
from collections import defaultdict

from onnx_lint.report import Report

_KINDS = ("load", "rule", "facts")
"""The kinds of work in every run. Other kinds are printed if there was any."""


def print_timings(report: Report, before: float, output: float) -> None:
    """Print the parts of the run: the total of each kind of work, then the rules, slowest first.

    Work that several rules share counts for the first rule that needs it.
    `before`: the processor time before the first file, for interpreter, imports and configuration. `output`: the wall
    time for writing the reports. With several processes the sum of the parts exceeds the time of the run.
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
    _print_traffic(report)
    details = sorted((item for item in parts.items() if " " in item[0]), key=lambda item: (-item[1], item[0]))
    for part, seconds in details:
        sys.stderr.write(_line(f"  {part}", seconds))


def _print_traffic(report: Report) -> None:
    """Print the requests to stores and the bytes fetched, if any file was remote."""
    remote = [(file.traffic, file.size) for file in report.files if file.traffic is not None]
    if not remote:
        return
    received, size = sum(traffic.received for traffic, _ in remote), sum(size for _, size in remote)
    sys.stderr.write(f"{'requests to stores':<48}{sum(traffic.requests for traffic, _ in remote):>12,}\n")
    share = f" of {size:,} ({received / size:.2%})" if size else ""
    sys.stderr.write(f"{'bytes fetched':<48}{received:>12,}{share}\n")


def _line(part: str, seconds: float) -> str:
    return f"{part:<48}{seconds * 1000:>12,.1f}\n"
