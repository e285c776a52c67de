# SPDX-License-Identifier: Apache-2.0
"""The modules of the package and of the rules, parsed once for all tests that look at how they are written."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

from support.project.checkout import ROOT


@functools.cache
def files() -> tuple[Path, ...]:
    """The modules of the package, then those of the rules, each in the order of their paths."""
    return tuple(path for folder in ("onnx_lint", "rules") for path in sorted((ROOT / folder).rglob("*.py")))


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of one module."""
    return ast.parse(path.read_text(encoding="utf-8"))
