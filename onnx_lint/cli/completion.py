# SPDX-License-Identifier: Apache-2.0
"""Completion in shells: the command that prints the scripts, and the completers of option values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from onnx_lint.cli import completed_values
from onnx_lint.cli.streams import standard_output

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


Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]


def _by(name: str) -> Completer:
    """Return a completer that imports `completed_values` and calls its function `name` when a shell asks."""

    def complete(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        found: list[CompletionItem[str]] = getattr(completed_values, name)(incomplete)
        return found

    return complete


complete_selectors = _by("selectors")
complete_rules_and_clauses = _by("rules_and_clauses")
complete_keys = _by("keys")
complete_files = _by("files")
