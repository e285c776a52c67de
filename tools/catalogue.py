# SPDX-License-Identifier: Apache-2.0
"""Writes the catalogue of rules and their index, `rules/README.md` and `rules/index.json`.

python -m tools.catalogue
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from onnx_lint.engine.registry import INDEX, Registered, index_entry, registry
from onnx_lint.spec.clauses import clauses
from onnx_lint.spec.standard import DEFAULT_STANDARD

_HEAD = """\
# The rules

Written by `python -m tools.catalogue` from the rules themselves; a test holds it. `onnx-lint explain RULE` prints
what stands in a rule's file. The keyword is that of edition {edition}, clause by clause; other editions may word a
clause differently, see `onnx-lint clauses`; `-` means none. What is *pedantic* is off and what is *counted* is one
number a file, unless it is asked for.
"""

_CHAPTER = """
## {chapter}

| Rule | What it finds | Clauses | Keyword | Since |
| --- | --- | --- | --- | --- |
"""


def catalogue() -> str:
    """The catalogue of onnx-lint's own rules in Markdown, by chapter in the order of the specification."""
    text = _HEAD.format(edition=DEFAULT_STANDARD.edition)
    own = [entry for entry in registry().values() if entry.plugin is None]
    for chapter in dict.fromkeys(clause.chapter for clause in clauses().values()):
        rows = [_row(entry) for entry in own if entry.chapter == chapter]
        if rows:
            text += _CHAPTER.format(chapter=chapter.replace("-", " ").capitalize()) + "".join(rows)
    return text


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
    own = [entry for entry in registry().values() if entry.plugin is None]
    lines = [f"{json.dumps(entry.id)}: {json.dumps(_told(entry))}" for entry in own]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _told(entry: Registered) -> dict[str, Any]:
    return {"chapter": entry.chapter, **index_entry(entry.rule)}


def main() -> None:
    """Write the catalogue and the index into the checkout."""
    folder = Path(__file__).parent.parent / "rules"
    (folder / INDEX).unlink(missing_ok=True)  # its content may be from another version, or wrong
    (folder / "README.md").write_text(catalogue(), encoding="utf-8")
    (folder / INDEX).write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    main()
