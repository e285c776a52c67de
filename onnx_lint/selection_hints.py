# SPDX-License-Identifier: Apache-2.0
"""What a name that is no rule was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable

from onnx_lint.registry import registry
from onnx_lint.spec.clauses import clauses
from onnx_lint.wording import quote, quote_some, suggestion


def hint_for_rule(name: str, known: Iterable[str]) -> str:
    """The words to put behind `unknown rule NAME`; `known` are the names that may stand there. Empty when none is near.

    A clause gets the rules that decide it, a chapter or keyword where only rules may stand is told as what it is.
    """
    known = list(known)
    clause = clauses().get(name.upper())
    if clause is not None:
        return f"; it is a clause, which {_decided_by(clause.rules)}"
    if name in {entry.chapter for entry in registry().values()}:
        return "; it is a chapter, and here only a rule may stand"
    spelling = name.strip().lower().replace("_", "-").replace(" ", "-")
    same = next((other for other in known if other.lower() == spelling and other != name), None)
    # The names of keywords are in capitals, and may be given in any letters.
    return f"; did you mean {quote(same)}?" if same is not None else suggestion(name, known) or _keyword(name, known)


def _keyword(name: str, known: Iterable[str]) -> str:
    return suggestion(name.upper(), [other for other in known if other.isupper()])


def _decided_by(rules: tuple[str, ...]) -> str:
    if not rules:
        return "no rule decides"
    decides = "decides" if len(rules) == 1 else "decide"
    return f"{quote_some(rules, 5)} {decides}"
