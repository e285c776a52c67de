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


@functools.cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of the tree of one module, in the order of `ast.walk`."""
    return tuple(ast.walk(tree_of(path)))


def last_name(node: ast.AST) -> str:
    """Return `c` for the expressions `c` and `a.b.c`, and nothing for any other; `ast.unparse` is slow."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
