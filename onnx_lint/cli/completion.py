# SPDX-License-Identifier: Apache-2.0
"""Completion in shells: the command that prints the scripts, and the names of rules that they offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from onnx_lint.cli.streams import standard_output
from onnx_lint.engine.registry import RegistryError, registry
from onnx_lint.spec.clauses import clauses

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PROGRAM = "onnx-lint"
COMPLETE_VARIABLE = "_ONNX_LINT_COMPLETE"
"""The variable by which the scripts ask the program for completions; click derives its name from the program's."""

_EPILOG = """
\b
To turn it on:
  bash   eval "$(onnx-lint completions bash)"         in ~/.bashrc
  zsh    eval "$(onnx-lint completions zsh)"          in ~/.zshrc, after compinit
  fish   onnx-lint completions fish > ~/.config/fish/completions/onnx-lint.fish
  PowerShell is not supported.
"""


@click.command("completions", short_help="Print a shell completion script.", epilog=_EPILOG)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completions_command(ctx: click.Context, shell: str) -> None:
    """Print a script that lets SHELL complete commands, options, rule names and files."""
    from click.shell_completion import get_completion_class

    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"click knows no completion for {shell!r}")
    program = ctx.find_root().command
    # Take only the script: click would check the version of the installed bash, which need not be the user's.
    script = completion(program, {}, PROGRAM, COMPLETE_VARIABLE)
    with standard_output() as stream:
        stream.write(script.source_template % script.source_vars())


def complete_names(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Offer the ids of rules, and those of clauses if the beginning is that of one."""
    from click.shell_completion import CompletionItem

    try:
        known = {entry.id: entry.rule.summary for entry in registry().values()}
    except RegistryError:
        return []  # a message would appear in the middle of the user's command line
    if incomplete:
        known |= {clause.id: clause.summary for clause in clauses().values()}
    found = (name for name in known if name.lower().startswith(incomplete.lower()))
    return [CompletionItem(name, help=known[name]) for name in found]
