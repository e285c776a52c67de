# SPDX-License-Identifier: Apache-2.0
"""Seeded mutation testing of what infers types and shapes: `python -m tools.mutants --count 200 --seed 1`.

Each mutant changes one comparison, `and` or `or`, small number or arithmetic operator in a copy of the checkout and
runs its tests. A mutant that no test fails for has SURVIVED: a verdict may depend on a line that no test checks.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from onnx_lint.common.record import Record

ROOT = Path(__file__).resolve().parent.parent
MUTATED = ("onnx_lint/inference/shapes", "onnx_lint/inference/flow", "onnx_lint/model")
COPIED = ("docs", "fixtures", "onnx_lint", "rules", "tests", "tools", "pyproject.toml", "README.md")
TESTS = ("tests/inference", "tests/model", "tests/rules/test_fixtures.py")
LARGEST = 10
"""The largest number that counts as small: larger ones are mostly bounds of caches."""

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}


class Mutant(Record):
    """One change of one file."""

    path: str
    line: int
    what: str
    """A description of the change, such as `or to and`."""
    text: str
    """The file with the change."""


def mutants_of(path: str, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    tree = ast.parse(source)
    skipped = set(_without_effect(tree))
    for node in ast.walk(tree):
        if node in skipped:
            continue
        for what in _changes(node):
            yield Mutant(path, getattr(node, "lineno", 0), what, ast.unparse(tree))


def _changes(node: ast.AST) -> Iterator[str]:
    """Change a node in place and yield a description of the change; undo it when the generator is resumed."""
    if isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            node.ops[index] = _COMPARISONS[type(operator)]()
            yield f"{_name(operator)} to {_name(node.ops[index])}"
            node.ops[index] = operator
    elif isinstance(node, ast.BoolOp):
        before = node.op
        node.op = ast.Or() if isinstance(before, ast.And) else ast.And()
        yield f"{_name(before)} to {_name(node.op)}"
        node.op = before
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        arithmetic = node.op
        node.op = _ARITHMETIC[type(arithmetic)]()
        yield f"{_name(arithmetic)} to {_name(node.op)}"
        node.op = arithmetic
    elif isinstance(node, ast.Constant) and type(node.value) is int and node.value <= LARGEST:
        number = node.value
        node.value = number + 1
        yield f"{number} to {number + 1}"
        node.value = number


def _name(operator: ast.AST) -> str:
    return type(operator).__name__.lower()


def _without_effect(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes that do not run: annotations and imports for type checkers."""
    for node in ast.walk(tree):
        annotations = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        unused: list[ast.AST] = [each for each in annotations if isinstance(each, ast.AST)]
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            unused.append(node)
        for each in unused:
            yield from ast.walk(each)


def _has_failed(folder: Path, tests: Sequence[str], seconds: float | None) -> bool:
    """Run tests in a copy of the checkout and return whether one fails; a run without an end counts as a failure."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        found = subprocess.run(command, cwd=folder, env=_environment(folder), capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return True
    if seconds is None and found.returncode:
        print(found.stdout.decode(errors="replace")[-2_000:], file=sys.stderr)
    return found.returncode != 0


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the mutants and print those that survive; return 1 if there is one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--count", type=int, default=200, help="how many mutants to try (default 200)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the choice (default 1)")
    parser.add_argument("--only", default="", help="take mutants of paths that contain this text")
    parser.add_argument("--skip", type=int, default=0, help="leave out so many, which an earlier run has tried")
    parser.add_argument("--seconds", type=float, default=600, help="end a run of the tests after so long (default 600)")
    parser.add_argument("tests", nargs="*", default=TESTS, help="the tests to run")
    options = parser.parse_args(arguments)
    files = [path for folder in MUTATED for path in sorted((ROOT / folder).rglob("*.py"))]
    names = [str(path.relative_to(ROOT)) for path in files]
    found = [mutant for name in names if options.only in name for mutant in mutants_of(name, (ROOT / name).read_text())]
    chosen = random.Random(options.seed).sample(found, min(options.count, len(found)))[options.skip :]
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="onnx-lint-mutants-") as folder:
        copy = Path(folder)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, copy / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, copy / name)
        if _has_failed(copy, options.tests, None):
            print("the tests fail without any mutant", file=sys.stderr)
            return 2
        for number, mutant in enumerate(chosen, options.skip + 1):
            target = copy / mutant.path
            before = target.read_text()
            target.write_text(mutant.text)
            survives = not _has_failed(copy, options.tests, options.seconds)
            target.write_text(before)
            survivors += survives
            verdict = "SURVIVED" if survives else "killed"
            print(f"{number:4} {verdict:8} {mutant.path}:{mutant.line}: {mutant.what}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} mutants killed, of {len(found):,} possible")
    return 1 if survivors else 0


if __name__ == "__main__":
    raise SystemExit(main())
