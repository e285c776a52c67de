# SPDX-License-Identifier: Apache-2.0
"""Models, and a plugin that harms the process that lints them, or its parent, by the name of their producer."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PLUGIN: Final = '''
import os, signal, time
from onnx_lint.model import ROOT
from onnx_lint.rule import Finding, own_clause, rule

CLAUSE = own_clause("T-1", "A model is harmless.")

def is_first(name):
    try:
        open(name, "x").close()
    except FileExistsError:
        return False
    return True

@rule(clause=CLAUSE, since="1.0")
def harmful(model):
    """The model does something to the process."""
    harm = model.proto.producer_name
    if harm == "exit":
        os._exit(7)
    if harm == "kill once" and is_first("killed"):
        os.kill(os.getpid(), signal.SIGKILL)
    if harm == "worker" or harm == "worker once" and is_first("killed worker"):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)
    if harm == "work":
        os.makedirs("working", exist_ok=True)
        while True:
            pass
    if harm.startswith("delete "):
        os.unlink(harm.removeprefix("delete "))
    while harm == "sleep" or harm == "hold" and os.path.exists("hold"):
        os.makedirs("held", exist_ok=True)  # a file object could lose a signal that comes at once
        time.sleep(0.05)  # a signal that comes just before a sleep begins is seen only when that sleep ends
    yield Finding(ROOT, "WORDS")
'''


def write_model(path: Path, harm: str = "tests") -> None:
    """Write a small model."""
    text = f'ir_version: 10 producer_name: "{harm}" opset_import {{ version: 21 }} graph {{ name: "g" }}'
    path.write_text(text, encoding="utf-8")
