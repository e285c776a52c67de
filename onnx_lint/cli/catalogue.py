# SPDX-License-Identifier: Apache-2.0
"""The commands that document the rules: `explain` and `rules`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

import click

from onnx_lint.cli.options import form_option, options
from onnx_lint.cli.run_plugins import use_plugins
from onnx_lint.cli.streams import print_lines, standard_output, terminal_width, use_color
from onnx_lint.engine.registry import registry
from onnx_lint.engine.settings import SEVERITY_NAMES
from onnx_lint.reporters import terms
from onnx_lint.reporters.documentation import (
    clause_markdown,
    rule_markdown,
    rule_record,
)
from onnx_lint.spec.clauses import KEYWORDS, Severity, clauses
from onnx_lint.wording import nearest, quote

_MAX_WIDTH: Final = 100


# --- explain


@click.command("explain", short_help="Explain a rule, a clause, an operator, or a keyword.")
@click.argument("name", metavar="NAME")
@options("edition", "plugins")
def explain_command(name: str, edition: str, plugins: tuple[str, ...]) -> None:
    """Explain NAME: a rule, a clause, an operator, a chapter, or a word of a report.

    The page is Markdown, rendered on a terminal.
    """
    use_plugins(plugins)
    page = _page_of(name, edition)
    if not page:
        known = {each.lower(): each for each in (*clauses(), *registry(), *terms.chapters(), *terms.WORDS)}
        near = nearest(name.lower(), known)
        hint = f"; did you mean {quote(known[near])}?" if near is not None else ""
        raise click.UsageError(f"no rule, clause or operator {name!r}{hint}")
    _print_page(page)


def _page_of(name: str, edition: str) -> str:
    """Return the page about a name; empty if nothing has that name."""
    written = re.fullmatch(r"\w+\[(.+)\]:?", name)  # as reports have it: error[cycle]
    name = written[1] if written is not None else name
    spellings = {known.lower(): known for known in (*clauses(), *registry())}
    wanted = spellings.get(name.lower(), name)
    if wanted in registry():
        return rule_markdown(registry()[wanted], edition)
    if wanted in clauses():
        return clause_markdown(clauses()[wanted])
    if name in terms.chapters():
        return terms.chapter_page(name, edition)
    if name in KEYWORDS:
        return terms.keyword_page(name)
    if name in SEVERITY_NAMES:
        return terms.severity_page(Severity.of(name))
    if name in terms.WORDS:
        return f"# {name}\n\n{terms.WORDS[name]}\n"
    return "\n".join(terms.operator_page(*operator) for operator in terms.operators_called(name))


def _print_page(page: str) -> None:
    with standard_output() as stream:
        if not stream.isatty():
            stream.write(page)
            return
        from rich.console import Console
        from rich.markdown import Markdown
        from rich.theme import Theme

        # The terminal keeps its own background, and lines stay as long as people like to read them.
        theme = Theme({"markdown.code": "cyan", "markdown.code_block": "default"})
        console = Console(file=stream, no_color=not use_color(stream), theme=theme)
        console.print(Markdown(page, code_theme="ansi_dark"), width=min(console.width, _MAX_WIDTH))


# --- rules


@click.command("rules", short_help="List the rules.")
@options("edition")
@form_option
@options("plugins")
def rules_command(edition: str, format_name: str, plugins: tuple[str, ...]) -> None:
    """List the rules, including those of plugins.

    Rules that are off by default run if they or their chapter are selected, some also with --pedantic.
    """
    use_plugins(plugins)
    records = [rule_record(entry, edition) for entry in registry().values()]
    if format_name == "json":
        with standard_output() as stream:
            json.dump({"version": 1, "edition": edition, "rules": records}, stream, indent=2)
            stream.write("\n")
        return
    rows = [
        (
            record["id"],
            record["severity"] or "-",
            "on" if record["default"] else "off",
            record["chapter"],
            record["summary"],
        )
        for record in records
    ]
    print_lines(_table(("RULE", "SEVERITY", "DEFAULT", "CHAPTER", "WHAT IS WRONG"), rows))


# --- printing


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield lines with aligned columns; the last one in a line of its own if a terminal has no room for it."""
    table, room = (header, *rows), terminal_width()
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    is_narrow = room is not None and sum(widths) + 2 * len(widths) > room
    for row in table:
        *cells, last = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        if is_narrow:
            yield "  ".join(cells).rstrip()
            cells = ["  "]
        yield "  ".join([*cells, last]).rstrip()
