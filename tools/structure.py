# SPDX-License-Identifier: Apache-2.0
"""Print the structure of a checkout: lines, imports between packages, circles, and what rules import from.

`python -m tools.structure [CHECKOUT]`. A package is a folder or module directly in `onnx_lint`, or `rules`. Imports
inside functions and for type checkers count as well. `tests/test_layering.py` holds the order of the packages.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

_SHIPPED = ("onnx_lint", "rules")
_COUNTED = ("onnx_lint", "rules", "tests", "tools", "benchmarks")


def main(arguments: Sequence[str]) -> int:
    """Print the tables."""
    root = Path(arguments[0] if arguments else ".").resolve()
    _print_table("lines", _lines(root))
    imports = _imports(root)
    arrows = {
        (_package(module), _package(other))
        for module, others in imports.items()
        for other in others
        if _package(module) != _package(other)
    }
    _print_table("packages imported by", Counter(package for package, _ in arrows))
    print(f"{len(imports)} modules, {sum(map(len, imports.values()))} imports between them")
    print(f"{sum(_inner_imports(path) for name in _SHIPPED for path in _files(root / name))} imports inside functions")
    print(f"{len(arrows)} imports between packages")
    print(f"circles of packages: {_circle(_grouped(arrows)) or 'none'}")
    print(f"circles of modules: {_circle(imports) or 'none'}")
    doors = Counter(other for module, others in imports.items() for other in others if module.startswith("rules"))
    outside = {module: count for module, count in doors.items() if not module.startswith("rules")}
    print(f"rules import from {len(outside)} modules")
    return 0


def _files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def _lines(root: Path) -> dict[str, int]:
    """Count the lines of Python of each folder that is counted, and of each package of `onnx_lint`."""
    found: Counter[str] = Counter()
    for name in _COUNTED:
        for path in _files(root / name):
            count = len(path.read_text(encoding="utf-8").splitlines())
            found[name] += count
            if name == "onnx_lint":
                found[f"onnx_lint/{path.relative_to(root / name).parts[0]}"] += count
    return dict(sorted(found.items()))


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _package(module: str) -> str:
    parts = module.split(".")
    return parts[0] if parts[0] == "rules" else ".".join(parts[:2])


def _imports(root: Path) -> dict[str, set[str]]:
    """Return for each module of `onnx_lint` and `rules` the modules among these that it imports."""
    paths = {_module(path.relative_to(root)): path for name in _SHIPPED for path in _files(root / name)}
    found: dict[str, set[str]] = {}
    for module, path in paths.items():
        imported = _imported(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        modules = (name if name in paths else name.rpartition(".")[0] for name in imported)
        found[module] = {name for name in modules if name in paths and name not in (module, "onnx_lint")}
    return found


def _imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{each.name}" for each in node.names)


def _inner_imports(path: Path) -> int:
    """Count the import statements inside functions, which run late: most of them save time at the start."""
    functions = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, _FUNCTIONS))
    inside = {node for function in functions for node in ast.walk(function)}
    return sum(isinstance(node, ast.Import | ast.ImportFrom) for node in inside)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _grouped(arrows: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for package, other in arrows:
        found.setdefault(package, set()).add(other)
    return found


def _circle(needs: Mapping[str, set[str]]) -> str:
    """Return one circle of imports; empty if there is none."""
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        return " <- ".join(error.args[1])
    return ""


def _print_table(title: str, counts: Mapping[str, int]) -> None:
    print(f"{title}:")
    for name, count in sorted(counts.items()):
        print(f"  {name:<28}{count:>8,}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
