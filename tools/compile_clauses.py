# SPDX-License-Identifier: Apache-2.0
"""Compiles the clauses after an edit: `python -m tools.compile_clauses`.

That writes `onnx_lint/spec/clauses.jsonl`, which is read sooner than `clauses.toml`.
"""

from __future__ import annotations

import binascii
import json
import sys
from pathlib import Path
from typing import Any

from onnx_lint.common.record import field_names
from onnx_lint.spec.clauses import COMPILED, SOURCE, Clause, parse


def compile_clauses(source: bytes) -> str:
    """The compiled form of the clauses in `source`. Raises ValueError as parse."""
    found = parse(source.decode("utf-8")).values()
    keywords: list[dict[str, str]] = []
    rows: list[list[Any]] = []
    for clause in found:
        keyword = dict(clause.keyword)
        if keyword not in keywords:
            keywords.append(keyword)
        values = {name: getattr(clause, name) for name in field_names(Clause)}
        if clause.declared_by is None:
            del values["declared_by"]  # the last field, which has a default
        rows.append([*{**values, "keyword": keywords.index(keyword), "refused_by": dict(clause.refused_by)}.values()])
    head = {"crc32": binascii.crc32(source), "keywords": keywords}
    lines = (json.dumps(value, separators=(",", ":"), ensure_ascii=False) for value in (head, *rows))
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    """Write the compiled clauses into the checkout."""
    folder = Path(__file__).parent.parent / "onnx_lint" / "spec"
    try:
        text = compile_clauses((folder / SOURCE).read_bytes())
    except ValueError as error:
        sys.exit(f"{SOURCE}: {error}")
    (folder / COMPILED).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
