# SPDX-License-Identifier: Apache-2.0
"""Completion in shells: the command that writes the scripts, and what follows the options that want names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from onnx_lint.cli.streams import standard_output

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PROGRAM = "onnx-lint"
COMPLETE_VARIABLE = "_ONNX_LINT_COMPLETE"
"""By this variable the scripts ask the program for completions; click forms its name from the program's."""

_EPILOG = """
\b
To turn it on:
  bash   eval "$(onnx-lint completions bash)"         in ~/.bashrc
  zsh    eval "$(onnx-lint completions zsh)"          in ~/.zshrc, after compinit
  fish   onnx-lint completions fish > ~/.config/fish/completions/onnx-lint.fish
"""


@click.command("completions", short_help="Write a script that completes in a shell.", epilog=_EPILOG)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completions_command(ctx: click.Context, shell: str) -> None:
    """Write a script with which SHELL completes commands, options, names of rules, and files."""
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"click knows no completion for {shell!r}")
    program = ctx.find_root().command
    # The script itself, without the look at the bash that happens to be installed where it is written.
    script = completion(program, {}, PROGRAM, COMPLETE_VARIABLE)
    with standard_output() as stream:
        stream.write(script.source_template % script.source_vars())


def complete_selectors(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Rule ids, chapters and keywords, for the last name of a comma list."""
    from click.shell_completion import CompletionItem

    before, comma, name = incomplete.rpartition(",")
    taken = before.split(",")
    return [
        CompletionItem(f"{before}{comma}{known}", help=told)
        for known, told in _selectors()
        if known.lower().startswith(name.lower()) and known not in taken
    ]


def complete_rules_and_clauses(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Rule ids; clauses as soon as it begins like one, in either case."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(name, help=told) for name, told in _explained() if _begins(name, incomplete)]


def complete_keys(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The keys of the configuration."""
    from click.shell_completion import CompletionItem

    from onnx_lint.configuration.keys import KEYS

    return [CompletionItem(key.name, help=key.summary) for key in KEYS.values() if key.name.startswith(incomplete)]


def complete_files(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Files, which the shell knows."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def _begins(name: str, incomplete: str) -> bool:
    return bool(incomplete or name.islower()) and name.lower().startswith(incomplete.lower())


def _explained() -> Iterator[tuple[str, str]]:
    from onnx_lint.spec.clauses import clauses

    yield from _rules()
    for clause in clauses().values():
        yield clause.id, clause.summary


def _selectors() -> Iterator[tuple[str, str]]:
    from onnx_lint.engine import selectors

    rules = dict(_rules())
    yield from rules.items()
    if rules:
        others = sorted(selectors() - rules.keys())
        yield from ((name, "a chapter" if name.islower() else "a keyword") for name in others)


def _rules() -> Iterable[tuple[str, str]]:
    from onnx_lint.registry import RegistryError, registry

    try:
        return [(entry.id, entry.rule.summary) for entry in registry().values()]
    except RegistryError:
        return []  # in the middle of a command line there is no place for a message
