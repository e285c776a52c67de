# SPDX-License-Identifier: Apache-2.0
"""Runs the program in a separate process, and measures its memory and its processor time."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST_SECONDS = 600
"""The limit for one file, of the processor. The program is ended at it."""

MAIN = """
import resource, runpy, sys
seconds, limit = int(sys.argv.pop(1)), int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    runpy.run_module("onnx_lint", run_name="__main__")
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    with open("/proc/self/status") as status:
        peak = next(line.split()[1] for line in status if line.startswith("VmHWM"))
    print(peak, used.ru_utime + used.ru_stime)
"""
"""Runs the program, and prints the peak of its resident memory in KiB and its seconds of the processor. What the system
counts for a process that has ended is the peak of its parent as well, where that had more."""


@dataclass(frozen=True)
class Run:
    """A run of the program over one file."""

    code: int
    peak_bytes: int
    seconds: float
    errors: str
    """The content of standard error."""
    report: dict[str, Any]


def run(path: Path, *arguments: str, limit: int = resource.RLIM_INFINITY, form: str = "json") -> Run:
    """Lint the file, with no more than `limit` bytes of address space. Only a report in JSON is returned."""
    command = [sys.executable, "-c", MAIN, str(MOST_SECONDS), str(limit), str(path), "-f", form, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    *report, figures = done.stdout.splitlines()
    peak, seconds = figures.split()
    parsed = json.loads("\n".join(report) or "{}") if form == "json" else {}
    return Run(done.returncode, int(peak) * 1024, float(seconds), done.stderr, parsed)
