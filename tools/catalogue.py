# SPDX-License-Identifier: Apache-2.0
"""Writes what is made of the rules: `python -m tools.catalogue`.

That is the catalogue `rules/README.md`, the index, the documentation that reports need, and in
`onnx_lint/model/names.json` the names that rules import late.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from onnx_lint.engine.registry import (
    INDEX,
    PAGES,
    Registered,
    RegistryError,
    entry_of,
    index_entry,
    registered,
    rules_in,
)
from onnx_lint.engine.selection import reporting_by_default
from onnx_lint.spec.clauses import clauses
from onnx_lint.spec.standard import DEFAULT_STANDARD

_CHECKOUT = Path(__file__).parent.parent

_HEAD = """\
# The rules

`python -m tools.catalogue` writes this page from the rules. `onnx-lint explain RULE` prints a rule's documentation.
The keyword is that of each clause in edition {edition}, or `-` if there is none; `onnx-lint explain CLAUSE` shows those
of other editions. Rules of *pedantic* and *optional* clauses run only if they are selected; findings of some pedantic
ones are one number per file.
"""

_CHAPTER = """
## {chapter}

| Rule | What it finds | Clauses | Keyword | Since |
| --- | --- | --- | --- | --- |
"""


def catalogue() -> str:
    """The catalogue of onnx-lint's own rules in Markdown, by chapter in the order of the specification."""
    text = _HEAD.format(edition=DEFAULT_STANDARD.edition)
    own = _own_rules()
    for chapter in dict.fromkeys(clause.chapter for clause in clauses().values()):
        rows = [_row(entry) for entry in own if entry.chapter == chapter]
        if rows:
            text += _CHAPTER.format(chapter=chapter.replace("-", " ").capitalize()) + "".join(rows)
    return text


@cache
def _own_rules() -> list[Registered]:
    """The rules in the files of the chapters. The index may be out of date."""
    found = []
    for path in sorted((_CHECKOUT / "rules").glob("*/[!_]*.py")):
        module = import_module(f"onnx_lint.rules.{path.parent.name}.{path.stem}")
        chapter = path.parent.name.replace("_", "-")
        found += [entry_of(rule, chapter, module.__name__, None) for rule in rules_in(module)]
    return list(registered(found).entries.values())


def _row(entry: Registered) -> str:
    rule = entry.rule
    module = entry.module.rpartition(".rules.")[2].replace(".", "/")
    cells = (f"[{rule.id}]({module}.py)", rule.summary, ", ".join(rule.clauses), _keywords(rule.clauses), rule.since)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _keywords(names: Iterable[str]) -> str:
    """The keyword of each clause; one where all have the same."""
    known = [clauses()[name] for name in names]
    words = [clause.keyword.get(DEFAULT_STANDARD.edition, "-") for clause in known]
    shown = [
        word if clause.presence == "listed" else f"{word} ({clause.presence})"
        for clause, word in zip(known, words, strict=True)
    ]
    return shown[0] if len(set(shown)) == 1 else ", ".join(shown)


def index() -> str:
    """The index of onnx-lint's own rules: JSON with a line for each of them."""
    return _by_rule(
        lambda entry: {
            "chapter": entry.chapter,
            **index_entry(entry.rule),
            "by_default": reporting_by_default(entry),
        }
    )


def pages() -> str:
    """The documentation of onnx-lint's own rules, in the same form."""
    return _by_rule(lambda entry: entry.rule.documentation)


def _by_rule(of: Callable[[Registered], Any]) -> str:
    own = _own_rules()
    lines = [f"{json.dumps(entry.id)}: {json.dumps(of(entry))}" for entry in own]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def names(package: Path) -> str:
    """The module of each name that `onnx_lint.model` imports for types, and at its first use: JSON."""
    tree = ast.parse((package / "model" / "__init__.py").read_bytes())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    homes: dict[str, str] = {}
    for node in block.body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            given = [each.name for each in node.names]
            homes |= dict.fromkeys(given if given != ["*"] else _defined(package.parent, node.module), node.module)
    return json.dumps(homes, indent=0) + "\n"


def _defined(folder: Path, module: str) -> list[str]:
    """The names of the public functions and constants that a module defines."""
    tree = ast.parse(folder.joinpath(*module.split(".")).with_suffix(".py").read_bytes())
    found = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    found += [
        str(node.target.id)
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    return sorted(name for name in found if not name.startswith("_"))


def main() -> None:
    """Write the catalogue and the index into the checkout."""
    package = _CHECKOUT / "onnx_lint"
    (package / "model" / "names.json").write_text(names(package), encoding="utf-8")
    try:
        texts = {"README.md": catalogue(), INDEX: index(), PAGES: pages()}
    except RegistryError as error:
        sys.exit(f"{error}. For a new clause, run python -m tools.compile_clauses first.")
    for name, text in texts.items():
        (_CHECKOUT / "rules" / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
