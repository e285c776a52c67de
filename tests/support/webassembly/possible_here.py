# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest that leaves out the files of tests for which something is missing in WebAssembly."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

_STARTS_PROCESSES = frozenset({"subprocess", "multiprocessing"})
_IMPORT = re.compile(r"^\s*(?:import|from) (\w+)", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Return True for a file of tests that imports what is not there, or starts processes."""
    if not collection_path.is_file() or collection_path.suffix != ".py":
        return None
    names = set(_IMPORT.findall(collection_path.read_text(encoding="utf-8")))
    is_possible = _STARTS_PROCESSES.isdisjoint(names) and all(map(importlib.util.find_spec, names))
    return None if is_possible else True
