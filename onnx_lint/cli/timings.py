# SPDX-License-Identifier: Apache-2.0
"""Prints on standard error the time that each part of a run took."""

from __future__ import annotations

import sys
from collections import defaultdict

from onnx_lint.report import FileReport

_KINDS = ("load", "rule", "facts")
"""The kinds of work in every run. Other kinds are printed if there was any."""


class Timings:
    """The time that each part of a run took, and the traffic with stores."""

    def __init__(self) -> None:
        self._parts: defaultdict[str, float] = defaultdict(float)
        self._files = 0
        self._requests = 0
        self._received = 0
        self._size = 0
        """The size of all remote files."""

    def add(self, file: FileReport) -> None:
        """Count a file."""
        self._files += 1
        for part, seconds in file.timings:
            self._parts[part] += seconds
        if file.traffic is not None:
            self._requests += file.traffic.requests
            self._received += file.traffic.received
            self._size += file.size

    def print(self, before: float, output: float) -> None:
        """Print the parts of the run: the total of each kind of work, then the rules, slowest first.

        Work that several rules share counts for the first rule that needs it.
        `before`: the processor time before the first file, for interpreter, imports and configuration. `output`: the
        wall time for writing the reports. With several processes the sum of the parts exceeds the time of the run.
        """
        kinds = {"start-up": before, **dict.fromkeys(_KINDS, 0.0)}
        for part, seconds in self._parts.items():
            kind = part.partition(" ")[0]
            kinds[kind] = kinds.get(kind, 0.0) + seconds
        kinds["output"] = output
        sys.stderr.write(f"timings of {self._files:,} file{'s' * (self._files != 1)}, in milliseconds\n")
        for part, seconds in kinds.items():
            sys.stderr.write(_line(part, seconds))
        if self._requests:
            sys.stderr.write(f"{'requests to stores':<48}{self._requests:>12,}\n")
            share = f" of {self._size:,} ({self._received / self._size:.2%})" if self._size else ""
            sys.stderr.write(f"{'bytes fetched':<48}{self._received:>12,}{share}\n")
        details = sorted((item for item in self._parts.items() if " " in item[0]), key=lambda item: (-item[1], item[0]))
        for part, seconds in details:
            sys.stderr.write(_line(f"  {part}", seconds))


def _line(part: str, seconds: float) -> str:
    return f"{part:<48}{seconds * 1000:>12,.1f}\n"
