# SPDX-License-Identifier: Apache-2.0
"""Compiles the clauses after an edit: `python -m tools.compile_clauses`.

That writes `onnx_lint/spec/clauses.jsonl`, which onnx-lint reads, from `clauses.toml`, which people edit.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from onnx_lint.common.record import field_names
from onnx_lint.spec.clauses import ACCEPTED, CONSUMERS, EDITIONS, KEYWORDS, OWN_CHAPTERS, PRESENCES, REFUSED, Clause

SPEC: Final = Path(__file__).parent.parent / "onnx_lint" / "spec"

ABSENT: Final = "absent"
"""Replaces the keyword of an edition that no longer has a clause of the edition before."""

STATIC: Final = ("yes", "partly", "no")
"""The values of `static`: whether one file can show that a clause is violated."""

_NEEDED: Final = {
    "summary": str,
    "chapter": str,
    "anchor": str,
    "since": int,
    "keyword": dict,
    "static": str,
    "rules": list,
}
_OPTIONAL: Final = {
    "until": int,
    "reason": str,
    "presence": str,
    "counted": list,
    "note": str,
    "refines": str,
    "refused_by": dict,
    "accepted_by": list,
}


def _clause(name: str, entry: Mapping[str, Any]) -> Clause:
    problem = _problem(entry) or _problem_of_values(entry)
    if problem is not None:
        raise ValueError(f"clause {name!r}{problem}")
    values: dict[str, Any] = {key: tuple(each) if isinstance(each, list) else each for key, each in entry.items()}
    declared_by = entry["chapter"] if entry["chapter"] in OWN_CHAPTERS else None
    keyword = MappingProxyType(_in_every_edition(entry["keyword"]))
    return Clause(**{**_DEFAULTS, **values, "id": name, "keyword": keyword, "declared_by": declared_by})


_DEFAULTS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("until", "reason", "note", "refines")),
    "presence": "listed",
    "counted": (),
}


def _problem(entry: Mapping[str, Any]) -> str | None:
    """Return a key that is unknown, of a wrong type or missing, in words; None if there is none."""
    fields = _NEEDED | _OPTIONAL
    for key, value in entry.items():
        if key not in fields:
            return f" has an unknown key {key!r}"
        if not isinstance(value, fields[key]):
            return f": {key} is not of type {fields[key].__name__}"
    return next((f" has no {key}" for key in _NEEDED if key not in entry), None)


def _problem_of_values(entry: Mapping[str, Any]) -> str | None:
    """Return a value that is not allowed, in words; None if there is none."""
    for edition, word in entry["keyword"].items():
        if edition not in EDITIONS:
            return f" names the unknown edition {edition!r}"
        if word not in KEYWORDS and word != ABSENT:
            return f" has the unknown keyword {word!r} in edition {edition}"
    presence, counted = entry.get("presence", "listed"), entry.get("counted", ())
    for key, value, allowed in (("static", entry["static"], STATIC), ("presence", presence, PRESENCES)):
        if value not in allowed:
            return f": {key} is {value!r}, not one of {', '.join(allowed)}"
    if len(counted) not in ((0, 2) if presence == "pedantic" else (0,)):
        return ": counted holds words for one and for several, where presence is 'pedantic'"
    refused = entry.get("refused_by", {})
    if not all(name in CONSUMERS and re.fullmatch(REFUSED, str(known)) for name, known in refused.items()):
        return f": refused_by holds a release for each of {', '.join(CONSUMERS)}"
    if not all(re.fullmatch(ACCEPTED, row) for row in entry.get("accepted_by", ())):
        return ": accepted_by holds rows such as 'onnxruntime=1.32 if constant'"
    return None


def _in_every_edition(keyword: Mapping[str, str]) -> dict[str, str]:
    """Return the keyword of each edition that has the clause. A keyword holds until a later edition changes it."""
    found: dict[str, str] = {}
    word = ABSENT
    for edition in EDITIONS:
        word = keyword.get(edition, word)
        if word != ABSENT:
            found[edition] = word
    return found


def parse(text: str) -> dict[str, Clause]:
    """Return the clauses in `text`, a TOML document with a table for each.

    Raises ValueError for malformed TOML, a missing or unknown key, or an unknown edition, keyword or static value.
    """
    return {name: _clause(name, entry) for name, entry in tomllib.loads(text).items()}


def compile_clauses(source: str) -> str:
    """The compiled form of the clauses in `source`. Raises ValueError as parse."""
    keywords: list[dict[str, str]] = []
    rows: list[list[Any]] = []
    for clause in parse(source).values():
        keyword = dict(clause.keyword)
        if keyword not in keywords:
            keywords.append(keyword)
        values = {name: getattr(clause, name) for name in field_names(Clause)}
        if clause.declared_by is None:
            del values["declared_by"]  # the last field, which has a default
        rows.append([*{**values, "keyword": keywords.index(keyword), "refused_by": dict(clause.refused_by)}.values()])
    lines = (json.dumps(value, separators=(",", ":"), ensure_ascii=False) for value in (keywords, *rows))
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    """Write the compiled clauses into the checkout."""
    source = SPEC / "clauses.toml"
    try:
        text = compile_clauses(source.read_text(encoding="utf-8"))
    except ValueError as error:
        sys.exit(f"{source.name}: {error}")
    source.with_suffix(".jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
