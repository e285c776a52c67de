# SPDX-License-Identifier: Apache-2.0
"""Groups equal contradictions."""

from __future__ import annotations

import re

_PLACES = re.compile(r" of (the main graph|subgraph '[^']*'|function '[^']*')")
_NODES = re.compile(r" of unnamed node \d+ \(\w+\)")
_NAMES = re.compile(r"'[^']*'|\"[^\"]*\"|\b[a-z]+\d+(_[a-z]+)*\b")
_NUMBERS = re.compile(r"-?\d[\d.,]*(e[+-]?\d+)?")
_LISTS = re.compile(r"[\[({][^\[\](){}]*[\])}]")
_RUNTIME = re.compile(r" \[(onnxruntime|reference evaluator)\]$")

DETAILS = " || "
"""Separates a message from details, which only explanations read."""

_MAX_CHARACTERS = 240


def signature(line: str) -> str:
    """Return a line without names and numbers, or where a traceback ends."""
    if line.startswith("Traceback"):
        lines = line.strip().splitlines()
        places = [each.strip() for each in lines if each.strip().startswith("File ")]
        return f"{lines[-1][:120]} at {places[-1].split('/')[-1] if places else ''}"
    line = line.splitlines()[0].partition(DETAILS)[0]
    runtime = _RUNTIME.search(line)
    line = _NODES.sub("", _PLACES.sub("", _RUNTIME.sub("", line)))
    line = _NAMES.sub("'N'", line)
    for _ in range(4):
        line = _LISTS.sub("()", line)
    return _NUMBERS.sub("#", line)[:_MAX_CHARACTERS] + (runtime[0] if runtime else "")
