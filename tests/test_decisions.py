# SPDX-License-Identifier: Apache-2.0
"""No function decides too much.

Short expressions hide decisions, so those in conditional expressions, comprehensions and `and` and `or` count as well.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping

from support.project.checkout import ROOT
from support.project.each_case import each_case
from support.project.syntax_trees import files, tree_of

MOST = 20
"""The most decisions of a function."""

RECORDED: dict[str, int] = {}
"""Functions from before this test, each with the decisions that it may not exceed. The list only becomes shorter."""

HOT_LOOP = re.compile(r"\s*# Hot loop: split, (\w+) takes \d+(?:\.\d+)? % more instructions\.")
"""The line above a function that may decide more, with a row of benchmarks/instructions.py and how much it grows."""

STATEMENTS = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert, ast.match_case)
"""What is one decision."""

Function = ast.FunctionDef | ast.AsyncFunctionDef

BLOCKS = ast.stmt | ast.excepthandler | ast.match_case
"""What may have functions in it that have a name. An expression has none."""


def _decisions(function: Function) -> int:
    """Return one more than the number of decisions in a function and the functions inside it."""
    count = 1
    for node in ast.walk(function):
        if isinstance(node, STATEMENTS):
            count += 1
        elif isinstance(node, ast.comprehension):
            count += 1 + len(node.ifs)
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
    return count


def _functions(node: ast.AST, within: str = "") -> Iterator[tuple[str, Function]]:
    """Yield the functions in a node, each with its name: `Class.method`."""
    for child in ast.iter_child_nodes(node):
        name = f"{within}{child.name}" if isinstance(child, Function | ast.ClassDef) else ""
        if isinstance(child, Function):
            yield name, child
        if isinstance(child, BLOCKS):
            yield from _functions(child, f"{name}." if name else within)


def _rows() -> Collection[str]:
    return json.loads((ROOT / "benchmarks" / "instructions.json").read_text(encoding="utf-8"))["instructions"].keys()


def _is_hot(text: str, function: Function, rows: Collection[str]) -> bool:
    """Return whether the line above a function says how much a row grows if the function is split."""
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    found = HOT_LOOP.fullmatch(text.splitlines()[first - 2]) if first > 1 else None
    return found is not None and found[1] in rows


def _problems(sources: Mapping[str, tuple[ast.AST, str]], recorded: Mapping[str, int]) -> Iterator[str]:
    """Yield what is wrong with the functions of the files with these trees and texts."""
    rows, seen = _rows(), set()
    for path, (tree, text) in sources.items():
        for name, function in _functions(tree):
            count, key = _decisions(function), f"{path}:{name}"
            allowed = recorded.get(key, MOST)
            if count > MOST:
                seen.add(key)
            if count > allowed and not _is_hot(text, function, rows):
                yield (
                    f"{path}:{function.lineno}: {name} has {count} decisions, more than {allowed}. Split it. "
                    "If that is slower, write above it: # Hot loop: split, ROW takes N % more instructions."
                )
    yield from (f"{key} has at most {MOST} decisions: remove it from RECORDED" for key in sorted({*recorded} - seen))


def test_no_function_has_more_than_20_decisions():
    texts = {path: path.read_text(encoding="utf-8") for path in files()}
    sources = {path.relative_to(ROOT).as_posix(): (tree_of(path), text) for path, text in texts.items()}
    assert len(sources) > 500
    assert list(_problems(sources, RECORDED)) == []


@each_case(
    ("body", "expected"),
    [
        ("pass", 1),
        ("if a: pass\n elif b: pass\n else: pass", 3),
        ("for x in a:\n  while b: pass\n else: pass", 3),
        ("try: pass\n except A: pass\n except B: pass\n finally: pass", 3),
        ("match a:\n  case 1: pass\n  case _: pass", 3),
        ("assert a", 2),
        ("return a if b else c", 2),
        ("return a and b and c or d", 4),
        ("return [x for y in a for x in y if x if y]", 5),
        ("return lambda: a or b", 2),
        ("def g():\n  if a: pass", 2),
        ("return not a == b", 1),
    ],
)
def test_the_decisions_of_a_function(body: str, expected: int):
    [(_, function)] = [each for each in _functions(ast.parse(f"def f():\n {body}")) if each[0] == "f"]
    assert _decisions(function) == expected


def _text(decisions: int, above: str = "") -> str:
    return f"class C:\n    {above}\n    @d\n    def f(self):\n" + "        if a: pass\n" * (decisions - 1)


def _problems_of(text: str, **recorded: int) -> list[str]:
    return list(_problems({"a.py": (ast.parse(text), text)}, {f"a.py:C.{name}": n for name, n in recorded.items()}))


def test_a_function_with_too_many_decisions_is_named():
    assert _problems_of(_text(20)) == []
    [problem] = _problems_of(_text(21))
    assert problem.startswith("a.py:4: C.f has 21 decisions, more than 20. Split it.")


def test_a_recorded_function_may_not_grow_and_leaves_the_list_when_it_is_small():
    assert _problems_of(_text(25), f=25) == []
    [problem] = _problems_of(_text(26), f=25)
    assert "C.f has 26 decisions, more than 25" in problem
    assert _problems_of(_text(20), f=25) == ["a.py:C.f has at most 20 decisions: remove it from RECORDED"]
    assert _problems_of("", f=25) == ["a.py:C.f has at most 20 decisions: remove it from RECORDED"]


def test_a_hot_loop_with_its_figure_may_have_more_decisions():
    assert _problems_of(_text(21, "# Hot loop: split, bare takes 2.5 % more instructions.")) == []
    assert len(_problems_of(_text(21, "# Hot loop: split, nowhere takes 2.5 % more instructions."))) == 1
    assert len(_problems_of(_text(21, "# Hot loop: this is faster."))) == 1
