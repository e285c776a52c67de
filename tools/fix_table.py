# SPDX-License-Identifier: Apache-2.0
"""Prints what rules find in models, and how much of it `onnx-lint fix` mends: the table of docs/fixing.md.

    python -m tools.fix_table FOLDER...

The models of the `onnx` wheel are counted too. No file is changed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import onnx

from onnx_lint.engine.lint import lint_source, opened
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.rounds import mend
from onnx_lint.input.patched_source import unpatched
from onnx_lint.report import FileReport


class Table:
    """The findings of all models, by rule."""

    def __init__(self) -> None:
        self.models = 0
        self.with_finding: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.safely: Counter[str] = Counter()
        self.unsafely: Counter[str] = Counter()

    def add(self, path: str, settings: Settings) -> None:
        """Count the findings in a model, and those that fixes mend."""
        source = opened(path, settings)
        try:
            lint = partial(lint_source, path=path, settings=settings, keeps_edits=True)
            before = lint(unpatched(source))
            safe = mend(source, before, lint, unsafe=False).report
            unsafe = mend(source, before, lint, unsafe=True).report
        finally:
            source.close()
        self.models += 1
        found = _counts(before)
        self.with_finding.update(found.keys())
        self.found += found
        self.safely += found - _counts(safe)
        self.unsafely += _counts(safe) - _counts(unsafe)

    def lines(self) -> Iterator[str]:
        """Yield the table, the most frequent rules first."""
        yield "| Rule | Models | Findings | Safe fix | Unsafe fix | No fix |"
        yield "| --- | --: | --: | --: | --: | --: |"
        for rule, _ in sorted(self.with_finding.items(), key=lambda item: (-item[1], item[0])):
            mended = self.safely[rule] + self.unsafely[rule]
            numbers = self.with_finding[rule], self.found[rule], self.safely[rule], self.unsafely[rule]
            yield f"| `{rule}` | {' | '.join(f'{each:,}' for each in (*numbers, self.found[rule] - mended))} |"


def _counts(report: FileReport) -> Counter[str]:
    found: Counter[str] = Counter()
    for item in report.diagnostics:
        found[item.rule] += item.count
    return found


def _paths(folders: Iterable[Path]) -> Iterator[str]:
    for folder in folders:
        for path in sorted(folder.rglob("*.onnx")):
            if path.is_file():
                yield os.fspath(path)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="folders with further models")
    table, settings = Table(), Settings()
    for path in _paths([Path(onnx.__file__).parent, *parser.parse_args().folders]):
        table.add(path, settings)
    print(f"{table.models:,} models, {sum(table.found.values()):,} findings\n")
    print("\n".join(table.lines()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
