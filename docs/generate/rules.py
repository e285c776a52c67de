# SPDX-License-Identifier: Apache-2.0
"""A page for each rule, and the list of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from generate.clauses import clause_table
from generate.examples import examples
from generate.markdown import lowered, page
from onnx_lint.engine.registry import Registered, registry
from onnx_lint.reporters.documentation import (
    PRESENCE,
    headed,
    options_markdown,
    security_markdown,
    worst_severity,
)
from onnx_lint.spec.clauses import clauses
from onnx_lint.spec.standard import DEFAULT_STANDARD

CATALOGUE: Final = Path(__file__).parents[2] / "rules" / "README.md"


def own_rules() -> list[Registered]:
    """The rules that come with onnx-lint, in the order of their ids."""
    return [entry for entry in registry().values() if entry.plugin is None]


def rule_pages() -> Iterator[tuple[str, str]]:
    """Name and text of each page in the folder `rules`."""
    yield "rules/index.md", _index()
    for entry in own_rules():
        yield f"rules/{entry.rule.id}.md", _rule_page(entry)


def _severity(entry: Registered) -> str:
    level = worst_severity(entry, DEFAULT_STANDARD.edition)
    return level.label if level is not None else "-"


def _rule_page(entry: Registered) -> str:
    rule = entry.rule
    cited = [clauses()[name] for name in rule.clauses]
    parts = [
        f"# {rule.id}",
        f"*{_severity(entry)} in edition {DEFAULT_STANDARD.edition}; chapter {entry.chapter}; since {rule.since}*",
        _linked(lowered(headed(rule.documentation)), rule.id),
        "## Clauses",
        clause_table(cited, link="../clauses.md"),
    ]
    if any(clause.presence != "listed" for clause in cited):
        parts.append(PRESENCE)
    if rule.security:
        parts += ["## Security", security_markdown(entry)]
    if rule.options:
        parts += ["## Options", options_markdown(rule)]
    return page(*parts, *examples(rule))


def _linked(text: str, own: str) -> str:
    """Other rules that the documentation names, as links."""

    def link(match: re.Match[str]) -> str:
        name = match[1]
        return f"[`{name}`]({name}.md)" if name != own and name in registry() else match[0]

    return re.sub("`([a-z0-9-]+)`", link, text)


def _index() -> str:
    """The catalogue `rules/README.md`, with links to the pages."""
    names = {str(_file(entry)): entry.rule.id for entry in own_rules()}
    catalogue = CATALOGUE.read_text(encoding="utf-8")
    linked = re.sub(r"\]\((\w+/\w+\.py)\)", lambda match: f"]({names[match[1]]}.md)", catalogue)
    return page(linked, "```{toctree}\n:hidden:\n\n" + "\n".join(sorted(names.values())) + "\n```")


def _file(entry: Registered) -> str:
    return entry.module.rpartition(".rules.")[2].replace(".", "/") + ".py"
