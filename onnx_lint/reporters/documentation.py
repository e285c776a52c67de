# SPDX-License-Identifier: Apache-2.0
"""The pages of `explain` about rules and clauses, as Markdown and as plain data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from onnx_lint.common.option_types import in_words
from onnx_lint.engine.registry import Registered, registry
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.rule import Rule
from onnx_lint.spec.clauses import EDITIONS, OWN_KEYWORDS, PLACES, Clause, Severity, clauses, severity
from onnx_lint.spec.target import CONTRIBUTED
from onnx_lint.wording import listed

PRESENCE: Final = (
    "Nearly every real model violates *pedantic* clauses. Unless `--pedantic` or a selection asks for them, or they "
    "are errors, they are not reported, or only as a number in the last line of a file. *Optional* clauses are advice "
    "of onnx-lint, checked if their rule or chapter is selected by name; *named* ones only if their rule is."
)

_CASES: Final = {**PLACES, CONTRIBUTED: "in nodes of ONNX Runtime's domains"}
"""The cases that are no words of a clause."""


def worst_severity(entry: Registered, edition: str) -> Severity | None:
    """Return the highest severity of the clauses of a rule in `edition`; None if the edition has none of them."""
    levels = [severity(name, edition) for name in entry.clauses]
    return max((level for level in levels if level is not None), default=None)


def is_default(entry: Registered, edition: str) -> bool:
    """Return whether the rule runs without a selection: if the edition has a clause of it that is not off."""
    table = ((clauses()[name], severity(name, edition)) for name in entry.clauses)
    return any(
        level is not None
        and clause.presence not in {"optional", "named"}
        and (level is Severity.ERROR or clause.presence != "pedantic" or clause.counted)
        for clause, level in table
    )


def rules_of(clause: Clause) -> tuple[str, ...]:
    """Return the ids of the registered rules that check `clause`, including those of plugins."""
    return tuple(entry.id for entry in registry().values() if clause.id in entry.clauses)


def reason_of(clause: Clause) -> str:
    """Return why no rule checks `clause`, in one or more sentences."""
    return clause.reason or "No rule yet."


def kinds_of(entry: Registered) -> tuple[str, ...]:
    """Return the messages that the rule can check."""
    return tuple(kind.message for kind in KINDS.values() if entry.needs in kind.holds)


# --- plain data


def rule_record(entry: Registered, edition: str) -> dict[str, Any]:
    """Return the page of a rule as plain data, for JSON."""
    level = worst_severity(entry, edition)
    return {
        "id": entry.id,
        "summary": entry.summary,
        "chapter": entry.chapter,
        "severity": level.label if level is not None else None,
        "default": is_default(entry, edition),
        "clauses": list(entry.clauses),
        "options": entry.rule.options,
        "security": list(entry.rule.security),
        "since": entry.rule.since,
        "kinds": list(kinds_of(entry)),
        "plugin": entry.plugin,
        "documentation": entry.rule.documentation,
    }


# --- Markdown


def rule_markdown(entry: Registered, edition: str) -> str:
    """Return the page of a rule: its documentation, its clauses and its options."""
    level = worst_severity(entry, edition)
    origin = f"plugin {entry.plugin}" if entry.plugin else "onnx-lint"
    facts = f"{level.label if level else 'not'} in edition {edition}; chapter {entry.chapter}"
    parts = [
        f"# {entry.id}",
        f"*{facts}; since {origin} {entry.rule.since}*",
        headed(entry.rule.documentation),
        "### Files",
        f"Checks {_named(kinds_of(entry))}.",
        "### Clauses",
        clauses_markdown(entry),
    ]
    if any(clauses()[name].presence != "listed" for name in entry.clauses):
        parts.append(PRESENCE)
    if entry.rule.security:
        parts += ["### Security", security_markdown(entry)]
    if entry.rule.options:
        parts += ["### Options", options_markdown(entry.rule)]
    return "\n\n".join(parts) + "\n"


def headed(documentation: str) -> str:
    """Return the documentation of a rule with a heading above its first section too."""
    return f"### What it reports\n\n{documentation}"


def _named(kinds: Sequence[str]) -> str:
    """Return messages in words."""
    if len(kinds) == len(KINDS):
        return "files of every kind"
    return ", ".join(kinds)


def options_markdown(rule: Rule) -> str:
    """Return the options of `rule` with types and defaults, and where to set them."""
    options = "\n".join(
        f"- `{name}`, {in_words(rule.option_types[name])}; default `{_default(default)}`"
        for name, default in rule.options.items()
    )
    return f"{options}\n\nSet in the table `[rules.{rule.id}]` of the configuration."


def _default(value: Any) -> str:
    """Return a default as the configuration would write it."""
    return json.dumps(sorted(value) if isinstance(value, (set, frozenset)) else value)


def security_markdown(entry: Registered) -> str:
    """Return a sentence with the vulnerabilities that a rule guards against."""
    return f"A file that breaks this rule can exploit {', '.join(entry.security)}."


def clauses_markdown(entry: Registered) -> str:
    """Return the list of the clauses that a rule checks, with the keywords that RFC 2119 does not define explained."""
    table = [clauses()[name] for name in entry.clauses]
    lines = [
        f"- **{clause.id}** ({_joined(clause.anchor, keywords_in_words(clause))}): {clause.summary}" for clause in table
    ]
    words = {word for clause in table for word in clause.keyword.values()}
    meanings = [f"- *{word}*: {meaning}." for word, meaning in OWN_KEYWORDS.items() if word in words]
    return "\n".join([*lines, *(["", "Keywords:", "", *meanings] if meanings else [])])


def clause_markdown(clause: Clause) -> str:
    """Return the page of a clause: its requirement, its severity, and the rules that check it."""
    found = rules_of(clause)
    until = f" to {clause.until}" if clause.until is not None else " on"
    parts = [
        f"# {clause.id}",
        f"*{_joined(clause.anchor, f'chapter {clause.chapter}', f'from IR version {clause.since}{until}')}*",
        clause.summary,
        "### Severity",
        "\n".join(_strengths(clause)),
        "### Rules",
        "\n".join(f"- `{name}`: {registry()[name].summary}" for name in found) or f"None. {reason_of(clause)}",
    ]
    if clause.presence != "listed":
        parts.append(PRESENCE)
    if clause.refused_by:
        parts += ["### Refused by", "\n".join(_refusal(*row) for row in clause.refused_by.items())]
    if clause.accepted_by:
        parts += ["### Accepted by", "\n".join(_acceptance(row) for row in clause.accepted_by)]
    if clause.note:
        parts += ["### Note", clause.note]
    return "\n\n".join(parts) + "\n"


def _joined(*parts: str) -> str:
    """Return the parts that are not empty: a clause of a plugin may have no address."""
    return "; ".join(filter(None, parts))


_TRIED: Final[Mapping[str, tuple[str, ...]]] = {
    "onnx.checker": ("1.23",),
    "onnx.full_check": ("1.23",),
    "onnxruntime": ("1.17", "1.18", "1.20", "1.23", "1.32"),
    "openvino": ("2023.3", "2024.6", "2025.4", "2026.4"),
}
"""The releases with which tests compare the rows about a consumer, the oldest first."""


def _refusal(consumer: str, row: str) -> str:
    first, _, cases = row.partition(" if ")
    tried = _TRIED[consumer]
    return f"- {consumer}, tried with {listed(tried[tried.index(first) :])}{_in_words(cases)}"


def _acceptance(row: str) -> str:
    program, _, cases = row.partition(" if ")
    return f"- {program}{_in_words(cases)}"


def _in_words(cases: str) -> str:
    """Return the end of a line about a program: the cases or places, such as `main or branch`; empty for all."""
    return f": {', '.join(_CASES.get(case, f'if {case}') for case in cases.split(' or '))}" if cases else ""


def _strengths(clause: Clause) -> Iterator[str]:
    for edition in EDITIONS:
        level = severity(clause, edition)
        words = f"{clause.keyword[edition]} ({level.label})" if level is not None else "does not have it"
        yield f"- edition {edition}: {words}"
    for word, meaning in OWN_KEYWORDS.items():
        if word in clause.keyword.values():
            yield f"- *{word}*: {meaning}"


def keywords_in_words(clause: Clause) -> str:
    """Return the keyword and the presence, if not listed: `MUST; pedantic`.

    If editions differ, their names follow: `MUST in 1.9, 1.16; SHOULD in 1.21, 1.23`.
    """
    return f"{_keywords(clause.keyword)}{'' if clause.presence == 'listed' else f'; {clause.presence}'}"


def _keywords(keyword: Mapping[str, str]) -> str:
    if len(set(keyword.values())) == 1 and len(keyword) == len(EDITIONS):
        return next(iter(keyword.values()))
    editions: dict[str, list[str]] = {}
    for edition in EDITIONS:
        if edition in keyword:
            editions.setdefault(keyword[edition], []).append(edition)
    return "; ".join(f"{word} in {', '.join(names)}" for word, names in editions.items())
