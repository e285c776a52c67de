# SPDX-License-Identifier: Apache-2.0
"""The completions of option values: one function for each kind of value, from the incomplete word to the offers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from click.shell_completion import CompletionItem

from onnx_lint.configuration.keys import KEYS
from onnx_lint.engine.registry import RegistryError, registry
from onnx_lint.engine.settings import SEVERITY_NAMES
from onnx_lint.engine.settings import selectors as known_selectors
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.spec.clauses import clauses

Item = CompletionItem[str]


def selectors(incomplete: str) -> list[Item]:
    """Offer rule ids, chapters, severities and keywords. Case is ignored."""
    return [
        CompletionItem(known, help=summary)
        for known, summary in _selectors()
        if known.lower().startswith(incomplete.lower())
    ]


def rules_and_clauses(incomplete: str) -> list[Item]:
    """Offer rule ids; clauses and messages only if the first character matches. Case is ignored."""
    return [CompletionItem(name, help=summary) for name, summary in _explained() if _begins(name, incomplete)]


def keys(incomplete: str) -> list[Item]:
    """Offer the keys of the configuration."""
    return [CompletionItem(key.name, help=key.summary) for key in KEYS.values() if key.name.startswith(incomplete)]


def files(incomplete: str) -> list[Item]:
    """Offer files, which the shell lists."""
    return [CompletionItem(incomplete, type="file")]


def _begins(name: str, incomplete: str) -> bool:
    return bool(incomplete or name.islower()) and name.lower().startswith(incomplete.lower())


def _explained() -> Iterator[tuple[str, str]]:
    yield from _rules()
    for clause in clauses().values():
        yield clause.id, clause.summary
    for kind in KINDS.values():
        yield kind.message, f"a file that holds a {kind.noun.replace('-', ' ')}"


def _selectors() -> Iterator[tuple[str, str]]:
    rules = dict(_rules())
    yield from rules.items()
    if rules:
        others = sorted(known_selectors() - rules.keys())
        yield from ((name, _kind_of_selector(name)) for name in others)


def _kind_of_selector(name: str) -> str:
    if not name.islower():
        return "a keyword"
    return "a severity" if name in SEVERITY_NAMES else "a chapter"


def _rules() -> Iterable[tuple[str, str]]:
    try:
        return [(entry.id, entry.rule.summary) for entry in registry().values()]
    except RegistryError:
        return []  # a message would appear in the middle of the user's command line
