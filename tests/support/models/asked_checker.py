# SPDX-License-Identifier: Apache-2.0
"""Asks `onnx.checker` about files, in a process of its own: some models end the process, and some checks do not end."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_ASK: Final = """
import json, os, signal, sys
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # the checker prints warnings
import onnx.checker
for line in [*sys.stdin]:
    signal.setitimer(signal.ITIMER_VIRTUAL, 30)  # seconds of the processor; the signal ends the process
    path, reason = line.rstrip("\\n"), None
    try:
        onnx.checker.check_model(path, full_check=FULL)
    except Exception as error:
        reason = str(error)
    print(json.dumps([path, reason]), file=answers, flush=True)
"""


def outcomes(files: Iterable[Path], full_check: bool) -> dict[Path, str | None]:
    """Return why `check_model` refuses each file; None if it accepts it."""
    left, found = [*files], dict[Path, str | None]()
    while left:
        run = subprocess.run(
            [sys.executable, "-c", _ASK.replace("FULL", str(full_check))],
            input="".join(f"{file}\n" for file in left),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        answers = [json.loads(line) for line in run.stdout.splitlines()]
        found |= {Path(path): reason for path, reason in answers}
        if run.returncode:
            found[left[len(answers)]] = f"the process ended with {run.returncode}"
        left = [file for file in left if file not in found]
    return found
