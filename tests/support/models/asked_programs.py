# SPDX-License-Identifier: Apache-2.0
"""Asks programs about files, in a process of its own: some models end the process, and some checks do not end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

CHECKER: Final = "import onnx.checker\nask = onnx.checker.check_model"
FULL_CHECK: Final = "import onnx.checker\nask = lambda path: onnx.checker.check_model(path, full_check=True)"
ONNXRUNTIME: Final = """
import onnxruntime
onnxruntime.set_default_logger_severity(4)
ask = lambda path: onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
"""
"""Programs: code that defines `ask`, which raises an exception for a model that is refused."""

SECONDS: Final = 30
"""The seconds of the processor after which a program that does not end is stopped."""

_LOOP: Final = f"""
import json, os, signal, sys
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # the programs print warnings
PROGRAM
for line in [*sys.stdin]:
    signal.setitimer(signal.ITIMER_PROF, {SECONDS})
    path, reason = line.rstrip("\\n"), None
    try:
        ask(path)
    except Exception as error:
        reason = str(error)
    print(json.dumps([path, reason]), file=answers, flush=True)
"""


_VERSION: Final = "import onnxruntime; print(onnxruntime.__version__)"


def runtimes() -> dict[str, str]:
    """Return the interpreters with ONNX Runtime by its version: this one, and those of ONNXRUNTIME_PYTHONS.

    The variable lists them, separated by colons.
    """
    pythons = [sys.executable, *filter(None, os.environ.get("ONNXRUNTIME_PYTHONS", "").split(os.pathsep))]
    found = {subprocess.check_output([each, "-c", _VERSION], text=True).strip(): each for each in pythons}
    return {version: found[version] for version in sorted(found)}


def outcomes(files: Iterable[Path], program: str, python: str = sys.executable) -> dict[Path, str | None]:
    """Return why a program refuses each file; None if it accepts it. `python`: the interpreter that has it."""
    left, found = [*files], dict[Path, str | None]()
    while left:
        run = subprocess.run(
            [python, "-c", _LOOP.replace("PROGRAM", program)],
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
