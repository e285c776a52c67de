# SPDX-License-Identifier: Apache-2.0
"""The table of the clauses: what the specification says, how strongly in each edition, and what decides it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from generate.markdown import page, plain, table
from onnx_lint.reporters.documentation import reason_of, rules_of
from onnx_lint.spec.clauses import EDITIONS, Clause, clauses

_HEAD = """\
The normative clauses of the ONNX specification, in this project's own words. The columns {editions} are the editions,
each named after the ONNX release that published it, with its keyword: MUST, *must* in lower case,
*implied* by a definition, and *gate* (what older IR versions lack) give errors, SHOULD and *practice* (what consumers
refuse, whatever the text says) give warnings, MAY and *advice* notes. A dash stands where the edition has no such
clause. What is *pedantic* is off, or one number a file, unless it is asked for or an error.
`onnx-lint explain CLAUSE` says more about a clause.
"""


def clause_page() -> str:
    """The page with all clauses, by chapter."""
    parts = ["# Clauses of the specification", _HEAD.format(editions=", ".join(EDITIONS))]
    known = clauses().values()
    for chapter in dict.fromkeys(clause.chapter for clause in known):
        parts.append(f"## {chapter.replace('-', ' ').capitalize()}")
        parts.append(table(("Clause", "What it says", *EDITIONS, "Decided by"), _rows(chapter)))
    return page(*parts)


def _rows(chapter: str) -> Iterator[tuple[str, ...]]:
    for clause in clauses().values():
        if clause.chapter == chapter:
            name = f"[{clause.id}]{{#{anchor(clause)}}}"
            yield (name, _said(clause), *_words(clause), _deciders(clause))


def _said(clause: Clause) -> str:
    return f"{plain(clause.summary)} *{clause.anchor}{_versions(clause)}*"


def _versions(clause: Clause) -> str:
    if clause.until is not None:
        return f"; IR versions {clause.since} to {clause.until}"
    return f"; from IR version {clause.since}" if clause.since > 1 else ""


def _deciders(clause: Clause) -> str:
    links = [f"[{name}](rules/{name}.md)" for name in rules_of(clause)]
    return ", ".join(links) or f"none: {plain(reason_of(clause))}"


def _words(clause: Clause) -> Iterator[str]:
    for edition in EDITIONS:
        word = clause.keyword.get(edition, "-")
        yield word if clause.presence == "listed" or word == "-" else f"{word} ({clause.presence})"


def anchor(clause: Clause) -> str:
    """The name that links use for the clause."""
    return f"clause-{clause.id.lower()}"


def clause_table(cited: Iterable[Clause], *, link: str) -> str:
    """The clauses of a rule; `link` leads to the page with all clauses."""
    rows = [(f"[{clause.id}]({link}#{anchor(clause)})", _said(clause), *_words(clause)) for clause in cited]
    return table(("Clause", "What it says", *EDITIONS), rows)
