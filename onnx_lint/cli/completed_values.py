# SPDX-License-Identifier: Apache-2.0
"""What shells are offered behind options that want names: for each kind a function, from what is there to the words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from click.shell_completion import CompletionItem

from onnx_lint.configuration.keys import KEYS, LEVELS
from onnx_lint.engine.registry import RegistryError, registry
from onnx_lint.engine.settings import selectors as known_selectors
from onnx_lint.input.limits import NAMES
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.reporters import REPORTERS
from onnx_lint.spec.clauses import clauses

Item = CompletionItem[str]


def selectors(incomplete: str) -> list[Item]:
    """Rule ids, chapters and keywords, for the last name of a comma list."""
    before, comma, name = incomplete.rpartition(",")
    taken = before.split(",")
    return [
        CompletionItem(f"{before}{comma}{known}", help=told)
        for known, told in _selectors()
        if known.lower().startswith(name.lower()) and known not in taken
    ]


def rules_and_clauses(incomplete: str) -> list[Item]:
    """Rule ids; clauses and messages as soon as it begins like one, in either case."""
    return [CompletionItem(name, help=told) for name, told in _explained() if _begins(name, incomplete)]


def keys(incomplete: str) -> list[Item]:
    """The keys of the configuration."""
    return [CompletionItem(key.name, help=key.summary) for key in KEYS.values() if key.name.startswith(incomplete)]


def severities(incomplete: str) -> list[Item]:
    """`RULE=LEVEL`: first the rule; the level as soon as the rule is known."""
    return _pairs(incomplete, dict(_rules()), LEVELS)


def limits(incomplete: str) -> list[Item]:
    """`NAME=VALUE`: the name."""
    return _pairs(incomplete, dict.fromkeys(NAMES, ""), ())


def file_ignores(incomplete: str) -> list[Item]:
    """`GLOB:NAMES`: files, which the shell knows, and behind the colon what may be selected."""
    pattern, colon, names = incomplete.rpartition(":")
    if not colon:
        return files(incomplete)
    offered = selectors(names)
    return [CompletionItem(f"{pattern}:{item.value}", help=item.help) for item in offered]


def outputs(incomplete: str) -> list[Item]:
    """`[FORMAT=]PATH`: formats, and files, which the shell knows."""
    name, separator, path = incomplete.partition("=")
    if separator:
        return [CompletionItem(path, type="file")]
    return [CompletionItem(incomplete, type="file"), *_pairs(name, dict.fromkeys(REPORTERS, ""), ())]


def configurations(incomplete: str) -> list[Item]:
    """`FILE|KEY=VALUE`: keys and their values, and files, which the shell knows."""
    summaries = {key.name: key.summary for key in KEYS.values()}
    name, separator, _ = incomplete.partition("=")
    if separator:
        kind = KEYS[name].kind if name in KEYS else None
        return _pairs(incomplete, summaries, getattr(kind, "allowed", ()))
    return [CompletionItem(incomplete, type="file"), *_pairs(incomplete, summaries, ())]


def _pairs(incomplete: str, names: Mapping[str, str], values: Iterable[str]) -> list[Item]:
    """`NAME=VALUE`, for the last pair of a comma list: all names that fit, or the values for the only one."""
    before, comma, last = incomplete.rpartition(",")
    name, separator, value = last.partition("=")
    found = [name] if separator else [known for known in names if known.startswith(name)]
    if values and len(found) == 1 and found[0] in names:
        offered = [f"{found[0]}={allowed}" for allowed in values if allowed.startswith(value)]
        return [CompletionItem(f"{before}{comma}{pair}") for pair in offered]
    if separator:
        return []
    return [CompletionItem(f"{before}{comma}{known}=", help=names[known] or None) for known in found]


def files(incomplete: str) -> list[Item]:
    """Files, which the shell knows."""
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
        yield from ((name, "a chapter" if name.islower() else "a keyword") for name in others)


def _rules() -> Iterable[tuple[str, str]]:
    try:
        return [(entry.id, entry.rule.summary) for entry in registry().values()]
    except RegistryError:
        return []  # in the middle of a command line there is no place for a message
