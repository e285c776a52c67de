# SPDX-License-Identifier: Apache-2.0
"""The lines of keys and tables in a TOML file, which the parser of the standard library does not report."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final

from onnx_lint.configuration.values import Path

TOKEN: Final = r"""(?xs)
    "{3} (?: [^"\\] | \\. | "(?!"") )* (?:"{3})?  |  '{3} (?: [^'] | '(?!'') )* (?:'{3})?  # of several lines
    | " (?: [^"\\\n] | \\. )* "?  |  ' [^'\n]* '?  # of one line
    | \# [^\n]*
    | [^"'\#.=,\[\]{}\n]+
    | .
"""
"""A token of TOML, as needed to recognize the dots in keys. A string need not be closed."""


def lines_of(text: str, root: Path = ()) -> dict[Path, int]:
    """Return the first line of each key and table below `root` of a valid TOML document.

    Entries of inline tables are left out; elements of arrays of tables have their index in the path.
    """
    found: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    for line, is_header, words in _statements(text):
        if is_header:
            table = _path(words.strip("[]"))
            if words.startswith("[["):
                counts[table] = counts.get(table, -1) + 1
                table = (*table, str(counts[table]))
            path = table
        else:
            path = (*table, *_path(words))
        if path[: len(root)] == root:
            for end in range(len(root) + 1, len(path) + 1):
                found.setdefault(path[len(root) : end], line)
    return found


def _statements(text: str) -> Iterator[tuple[int, bool, str]]:
    """Yield each statement: its line, whether it is the header of a table, and the header or the key."""
    line, depth, start = 1, 0, 1
    words = ""
    has_value = False
    for token in (match[0] for match in re.finditer(TOKEN, text)):
        if token == "\n" and depth == 0:
            if words.strip():
                yield start, words.strip().startswith("["), words.strip()
            words, has_value = "", False
        elif token.startswith("#"):
            continue
        elif has_value:
            depth += (token in "[{") - (token in "]}")
        elif token == "=":
            has_value = True
        else:
            if not words.strip():
                start = line
            words += token
        line += token.count("\n")
    if words.strip():
        yield start, words.strip().startswith("["), words.strip()


def _path(key: str) -> Path:
    """Return the parts of a key, which may be quoted and dotted."""
    found: list[str] = []
    entry: Any = tomllib.loads(f"{key}=0")
    while isinstance(entry, dict):
        [(name, entry)] = entry.items()
        found.append(name)
    return tuple(found)
