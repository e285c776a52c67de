# SPDX-License-Identifier: Apache-2.0
"""Runs the program in a separate process, and measures its memory and its processor time."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_SECONDS = 600
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
    command = [sys.executable, "-c", MAIN, str(MAX_SECONDS), str(limit), str(path), "-f", form, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    *report, figures = done.stdout.splitlines()
    peak, seconds = figures.split()
    parsed = json.loads("\n".join(report) or "{}") if form == "json" else {}
    return Run(done.returncode, int(peak) * 1024, float(seconds), done.stderr, parsed)


FORKS = """
import os, sys
import google.protobuf.text_format, numpy
from onnx_lint.cli.application import run

def status(key):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))

out, null = os.dup(1), os.open(os.devnull, os.O_WRONLY)
os.dup2(null, 1)
for path in [sys.argv[1], *sys.argv[1:]]:
    pid = os.fork()
    if not pid:
        with open("/proc/self/clear_refs", "w") as peak:
            peak.write("5")
        begin = status("VmRSS")
        code = run([path, "--limit", "memory=1TiB"])
        os.write(out, f"{code} {status('VmHWM') - begin}\\n".encode())
        os._exit(0)
    os.waitpid(pid, 0)
"""
"""Lints each file in a process of its own, which has all modules already; prints exit code and growth of memory."""


def growths(paths: Sequence[Path]) -> list[int]:
    """Return by how many bytes the resident memory of a process grows that lints a file, for each of the files.

    Raises ValueError for a file without a verdict.
    """
    done = subprocess.run([sys.executable, "-c", FORKS, *map(str, paths)], capture_output=True, text=True, check=True)
    runs = [tuple(map(int, line.split())) for line in done.stdout.splitlines()[1:]]
    if len(runs) != len(paths) or any(code not in {0, 1} for code, _ in runs):
        raise ValueError(done.stderr)
    return [size for _, size in runs]
